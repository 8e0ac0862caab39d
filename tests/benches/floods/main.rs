//! Measures floods: for each channel between an untrusted writer and a slow reader, the bytes pushed, the host's peak
//! memory above idle, and whether the reader could continue. Fails if a row takes more than [`MEMORY_LIMIT`].
//!
//! It runs the real binary (`TOOLSMITH_BINARY`, or the one in the same target folder) against the servers of the tests.
//! `cargo bench -p end-to-end --bench floods -- WORD` runs the rows whose names contain the word.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a command-line program; any failure ends it")]

mod host;
mod rows;

use std::process::ExitCode;

/// Limit on the host's memory above idle, in bytes (64 MiB).
const MEMORY_LIMIT: u64 = 64 << 20;

/// The result of one flood.
pub(crate) struct Row {
    /// The channel, as printed.
    pub(crate) channel: &'static str,
    /// Bytes that were pushed.
    pub(crate) pushed: u64,
    /// The host's peak memory above idle, in bytes.
    pub(crate) peak: u64,
    /// Whether the reader could continue.
    pub(crate) continued: Result<(), String>,
}

fn main() -> ExitCode {
    // Cargo adds `--bench`.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let scene = host::Scene::new();
    println!("{:<62} {:>10} {:>10}  the reader", "channel", "pushed", "peak");
    let mut failed = 0;
    for row in rows::all() {
        if filter.as_ref().is_some_and(|filter| !row.0.contains(filter.as_str())) {
            continue;
        }
        let Row { channel, pushed, peak, continued } = rows::run(&scene, row);
        let is_over = peak > MEMORY_LIMIT;
        failed += u32::from(is_over || continued.is_err());
        let continued = continued.map_or_else(|why| format!("FAILED: {why}"), |()| "ok".to_owned());
        let over = if is_over { "  OVER THE BOUND" } else { "" };
        println!("{channel:<62} {:>6} MiB {:>6} MiB  {continued}{over}", pushed >> 20, peak >> 20);
    }
    println!("at most {} MiB above idle are allowed; {failed} rows failed", MEMORY_LIMIT >> 20);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

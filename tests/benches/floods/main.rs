//! What floods cost: for each channel between an untrusted side and a slow reader, the bytes that were pushed, the peak
//! of the host's own memory above idle, and whether the reader could go on. Fails where a row takes more than [`MOST`].
//!
//! It runs the real binary (`TOOLSMITH_BINARY`, or the one in the same target folder) against the servers of the tests.
//! `cargo bench -p end-to-end --bench floods -- WORD` runs the rows whose names hold the word.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a program for people; a failure is its end")]

mod host;
mod rows;

use std::process::ExitCode;

/// Most bytes of the host's memory above idle (64 MiB).
const MOST: u64 = 64 << 20;

/// What one flood did.
pub(crate) struct Row {
    /// Who floods whom with what.
    pub(crate) channel: &'static str,
    /// Bytes that were pushed.
    pub(crate) pushed: u64,
    /// The peak of the host's memory above idle, in bytes.
    pub(crate) peak: u64,
    /// Whether the reader could go on.
    pub(crate) went_on: Result<(), String>,
}

fn main() -> ExitCode {
    // cargo adds `--bench`.
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let scene = host::Scene::new();
    println!("{:<62} {:>10} {:>10}  the reader", "channel", "pushed", "peak");
    let mut failed = 0;
    for row in rows::all() {
        if wanted.as_ref().is_some_and(|wanted| !row.0.contains(wanted.as_str())) {
            continue;
        }
        let Row { channel, pushed, peak, went_on } = rows::run(&scene, row);
        let is_over = peak > MOST;
        failed += u32::from(is_over || went_on.is_err());
        let went_on = went_on.map_or_else(|why| format!("FAILED: {why}"), |()| "went on".to_owned());
        let over = if is_over { "  OVER THE BOUND" } else { "" };
        println!("{channel:<62} {:>6} MiB {:>6} MiB  {went_on}{over}", pushed >> 20, peak >> 20);
    }
    println!("at most {} MiB above idle are allowed; {failed} rows failed", MOST >> 20);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

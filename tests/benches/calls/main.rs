//! Measures calls per second, one after the other and 64 at once, with arguments of 1 KB and a server that answers at
//! once. It only prints.
//!
//! Each stage contains the previous one: the server alone, the client of `mcp`, a snippet in `toolsmith run`. All
//! stages are measured in each round, so that a slow moment of the machine affects all of them. It prints medians.
//! `cargo bench -p end-to-end --bench calls -- BINARY...` measures the snippet with each of these binaries (otherwise
//! with `TOOLSMITH_BINARY`, or the one in the same target folder), and compares them with the first one.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a command-line program; any failure ends it")]

mod snippet;
mod stages;

use std::path::{Path, PathBuf};
use std::time::Duration;

use snippet::Scene;

/// Rounds of measurements.
const ROUNDS: usize = 9;
/// Calls in one measurement.
const CALLS: usize = 10_000;
/// Calls at the same time.
const AT_ONCE: usize = 64;
/// Length of the only argument, in bytes.
const ARGUMENT: usize = 1_000;

/// Calls per second.
#[derive(Clone, Copy)]
struct Rates {
    in_turn: f64,
    at_once: f64,
}

impl Rates {
    fn of(in_turn: Duration, at_once: Duration) -> Self {
        let rate = |time: Duration| CALLS as f64 / time.as_secs_f64();
        Rates { in_turn: rate(in_turn), at_once: rate(at_once) }
    }
}

fn main() {
    // Cargo adds `--bench`.
    let mut binaries: Vec<PathBuf> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).map(PathBuf::from).collect();
    if binaries.is_empty() {
        binaries.push(std::env::var_os("TOOLSMITH_BINARY").map_or_else(beside, PathBuf::from));
    }
    let scene = Scene::new(&binaries);
    let mut rows: Vec<(String, Vec<Rates>)> = Vec::new();
    for _ in 0..ROUNDS {
        let snippets = binaries.iter().map(|binary| (binary.display().to_string(), scene.measure(binary)));
        let own = [
            ("the server alone".to_owned(), stages::server()),
            ("the client of `mcp`".to_owned(), stages::session()),
        ];
        for (at, (name, rates)) in own.into_iter().chain(snippets).enumerate() {
            if rows.len() == at {
                rows.push((name, Vec::new()));
            }
            rows[at].1.push(rates);
        }
    }
    let (own, snippets) = rows.split_at(2);
    let first = snippets.first().map(|(_, rates)| medians(rates)).unwrap();
    println!("{:>12} {:>14}  calls per second, median of {ROUNDS}", "in turn", format!("{AT_ONCE} at once"));
    for (name, rates) in own {
        let Rates { in_turn, at_once } = medians(rates);
        println!("{in_turn:>12.0} {at_once:>14.0}  {name}");
    }
    for (name, rates) in snippets {
        let Rates { in_turn, at_once } = medians(rates);
        let (more_in_turn, more_at_once) = (in_turn / first.in_turn, at_once / first.at_once);
        println!(
            "{in_turn:>12.0} {at_once:>14.0}  a snippet, {name} ({more_in_turn:.2}x, {more_at_once:.2}x)"
        );
    }
}

/// The binary in the same target folder.
fn beside() -> PathBuf {
    let itself = std::env::current_exe().unwrap();
    let binary = itself.parent().and_then(Path::parent).unwrap().join("toolsmith");
    assert!(binary.is_file(), "{} is missing: build it first, in the same profile", binary.display());
    binary
}

fn medians(rates: &[Rates]) -> Rates {
    let median = |of: fn(&Rates) -> f64| {
        let mut values: Vec<f64> = rates.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        // The one in the middle: the number of rounds is odd.
        values[values.len() / 2]
    };
    Rates { in_turn: median(|rates| rates.in_turn), at_once: median(|rates| rates.at_once) }
}

//! Measures how long one subject waits for a repeated snippet, alone and beside programs of another subject that take all
//! they can. It only prints.
//!
//! It runs the real binary (`TOOLSMITH_BINARY`, or the one in the same target folder) as `serve --http`.
//! `cargo bench -p end-to-end --bench sharing -- WORD` measures the loads whose names contain the word. The kernel may
//! schedule each session as one group; started in a control group of its own, the benchmark measures without that.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a command-line program; any failure ends it")]

mod served;

use std::thread::sleep;
use std::time::{Duration, Instant};

use served::{Served, Subject};

/// Measurements of each kind.
const TURNS: usize = 41;

/// The snippet that is measured, which calls no tool.
const REPEATED: &str = "(1..=10).sum::<i32>()";

/// Time in which a load is compiled, and has started all its threads.
const UNTIL_BUSY: Duration = Duration::from_secs(4);

/// Work of the other subject meanwhile.
struct Load {
    name: &'static str,
    code: &'static str,
    /// Its executions at once.
    executions: usize,
}

const SPIN: &str = "loop { std::hint::black_box(1); }";
const SPIN_IN_64: &str =
    "std::thread::scope(|scope| for _ in 0..60 { scope.spawn(|| loop { std::hint::black_box(1); }); })";
const REFUSED: &str = "std::thread::scope(|scope| for _ in 0..4 { scope.spawn(|| loop { let _ = std::net::UdpSocket::bind(\"127.0.0.1:0\"); }); })";

const LOADS: [Load; 5] = [
    Load { name: "1 execution, 1 thread", code: SPIN, executions: 1 },
    Load { name: "1 execution, 60 threads", code: SPIN_IN_64, executions: 1 },
    Load { name: "4 executions, 1 thread each", code: SPIN, executions: 4 },
    Load { name: "4 executions, 60 threads each", code: SPIN_IN_64, executions: 4 },
    Load { name: "1 execution, refused calls in 4 threads", code: REFUSED, executions: 1 },
];

/// The time of the repeated snippet.
struct Waited {
    median: Duration,
    /// Nine of ten are shorter.
    ninth: Duration,
}

fn main() {
    // Cargo adds `--bench`.
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    println!("{:<42} {:>10} {:>10} {:>7} {:>10}", "beside", "alone", "median", "ratio", "9 of 10");
    for load in LOADS.iter().filter(|load| filter.as_ref().is_none_or(|word| load.name.contains(word))) {
        let mut served = Served::start();
        let [measured, other] = ["bob", "ann"].map(|name| served.subject(name));
        let alone = measure(&measured);
        for _ in 0..load.executions {
            other.begin(load.code);
        }
        sleep(UNTIL_BUSY);
        let beside = measure(&measured);
        let ratio = beside.median.as_secs_f64() / alone.median.as_secs_f64();
        let [alone, median, ninth] =
            [alone.median, beside.median, beside.ninth].map(|time| time.as_secs_f64() * 1000.0);
        println!("{:<42} {alone:>7.1} ms {median:>7.1} ms {ratio:>7.1} {ninth:>7.1} ms", load.name);
    }
}

fn measure(subject: &Subject) -> Waited {
    // Compiles it.
    subject.run(REPEATED);
    let mut times: Vec<Duration> = (0..TURNS)
        .map(|_| {
            let begin = Instant::now();
            subject.run(REPEATED);
            begin.elapsed()
        })
        .collect();
    times.sort();
    Waited { median: times[TURNS / 2], ninth: times[TURNS * 9 / 10] }
}

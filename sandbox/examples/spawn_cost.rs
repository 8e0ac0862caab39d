//! `spawn_cost [RUNS] PROGRAM [ARGUMENT…]`: what confinement adds to starting and ending a static program.
//!
//! Plain and confined runs alternate, so that both see the same machine. Leaves the judgement to the reader.

use std::error::Error;
use std::process::Stdio;
use std::time::{Duration, Instant};

use sandbox::{Command, Policy, Sandbox};

fn main() -> Result<(), Box<dyn Error>> {
    sandbox::entry();
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let runs = arguments
        .first()
        .and_then(|text| text.parse().ok())
        .inspect(|_: &usize| drop(arguments.remove(0)))
        .unwrap_or(50);
    let (program, arguments) =
        arguments.split_first().ok_or("usage: spawn_cost [RUNS] PROGRAM [ARGUMENT…]")?;
    let sandbox = Sandbox::new(Policy::program());
    let (mut plain, mut confined) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        let start = Instant::now();
        std::process::Command::new(program).args(arguments).stdout(Stdio::null()).status()?;
        plain.push(start.elapsed());
        let start = Instant::now();
        let status = sandbox.spawn(Command::new(program).args(arguments))?.wait()?;
        confined.push(start.elapsed());
        if !status.success() {
            return Err(format!("the confined program ended with {status}").into());
        }
    }
    eprintln!("median of {runs}: plain {:?}, confined {:?}", median(plain), median(confined));
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

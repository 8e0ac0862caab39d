//! Measures the steps of a program's start one by one, in every tier: with a helper that is started on demand, and with
//! one that was started ahead. It only prints; it checks no limits.
//!
//! The helper reads the clock after each step, which only the feature `timings` of this crate compiles in. Both kinds of
//! start take turns, so that they run under the same conditions. It prints medians, which need not add up.
//! `cargo bench -p sandbox --features timings --bench steps`

#[path = "../tests/common/platform.rs"]
mod platform;

use std::error::Error;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{MemfdFlags, SealFlags};
use sandbox::{Command, Confinement, Layers, Policy, Sandbox, now};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 101;
/// The first starts load the files of helper and program; they do not count.
const WARM_UP: usize = 5;

/// The steps of one kind of start, in order, each with its times in nanoseconds.
type Steps = Vec<(String, Vec<u64>)>;

fn main() -> Outcome<()> {
    sandbox::entry();
    let folder = tempfile::tempdir()?;
    let program = program(folder.path())?;
    let available = sandbox::probe().layers;
    for layers in Layers::TIERS.into_iter().filter(|layers| available.include(*layers)) {
        let sandbox = Sandbox::new(Policy::program().confinement(Confinement::Exactly(layers)));
        let (mut demanded, mut ahead) = (Steps::new(), Steps::new());
        for round in 0..ROUNDS + WARM_UP {
            let times = start(&sandbox, &program)?;
            sandbox.start_helper_ahead()?;
            // The helper's own start must be over.
            std::thread::sleep(std::time::Duration::from_millis(20));
            let times_ahead = start(&sandbox, &program)?;
            if round >= WARM_UP {
                add(&mut demanded, times);
                add(&mut ahead, times_ahead);
            }
        }
        print(layers, &demanded, &ahead);
    }
    sandbox::end_waiting_helper();
    Ok(())
}

/// A static program that does nothing, in memory as programs of snippets are.
fn program(folder: &Path) -> Outcome<OwnedFd> {
    std::fs::write(folder.join("nothing.rs"), "fn main() {}")?;
    let mut rustc = std::process::Command::new("rustc");
    rustc.args(["--edition=2024", "--target", platform::TARGET, "nothing.rs"]).current_dir(folder);
    let status = rustc.status()?;
    if !status.success() {
        return Err(format!("rustc: {status}").into());
    }
    let image = rustix::fs::memfd_create("nothing", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    let mut file = File::from(image);
    file.write_all(&std::fs::read(folder.join("nothing"))?)?;
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL,
    )?;
    Ok(file.into())
}

/// Starts the program; returns how long each step took, from the call to the program's end.
fn start(sandbox: &Sandbox, program: &OwnedFd) -> Outcome<Vec<(String, u64)>> {
    let command = Command::new("/nothing").image(program.try_clone()?);
    let called = now();
    let mut child = sandbox.spawn(command)?;
    let started = now();
    let status = child.wait()?;
    let ended = now();
    if !status.success() {
        return Err(format!("{}: {status}", child.report().tier).into());
    }
    let (mut times, mut before) = (Vec::new(), called);
    // What a helper did ahead came before the call.
    for (step, at) in child.timings().iter().filter(|(_, at)| *at > called) {
        times.push((step.clone(), at - before));
        before = *at;
    }
    times.push((SPAWN.to_owned(), started - called));
    times.push(("run and end".to_owned(), ended - started));
    Ok(times)
}

/// The sum of the steps above it.
const SPAWN: &str = "all of the start";

fn add(steps: &mut Steps, times: Vec<(String, u64)>) {
    for (step, time) in times {
        match steps.iter_mut().find(|(known, _)| *known == step) {
            Some((_, known)) => known.push(time),
            None => steps.push((step, vec![time])),
        }
    }
}

fn print(layers: Layers, demanded: &Steps, ahead: &Steps) {
    eprintln!("{}, median of {ROUNDS} in µs:", layers.name());
    eprintln!("  {:<36} {:>10} {:>10}", "", "on demand", "ahead");
    for (step, times) in demanded {
        let ahead = ahead.iter().find(|(known, _)| known == step);
        let ahead = ahead.map_or_else(|| "–".to_owned(), |(_, times)| microseconds(times));
        eprintln!("  {step:<36} {:>10} {ahead:>10}", microseconds(times));
    }
}

/// The median.
fn microseconds(times: &[u64]) -> String {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).map_or_else(String::new, |time| format!("{:.0}", *time as f64 / 1e3))
}

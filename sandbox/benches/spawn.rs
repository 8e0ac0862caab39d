//! Measures the cost of confinement: a static program that does nothing, and rustc with a hello-world
//! program, unconfined and in every tier. It only prints; it checks no limits.
//!
//! Rounds are interleaved, so that all variants run under the same conditions. It prints medians and their
//! ratios to the unconfined run.

#[path = "../tests/common/platform.rs"]
mod platform;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use sandbox::{Access, Command, Confinement, Layers, Policy, Sandbox, Scratch};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS_OF_PROGRAM: usize = 100;
const ROUNDS_OF_COMPILER: usize = 15;

fn main() -> Outcome<()> {
    sandbox::entry();
    let folder = tempfile::tempdir()?;
    let sysroot = sysroot()?;
    let layers = available_layers();
    let compile = compile_arguments(&sysroot);
    std::fs::write(folder.path().join("main.rs"), "fn main() { println!(\"hello\"); }")?;
    std::fs::write(folder.path().join("nothing.rs"), "fn main() {}")?;
    let rustc = sysroot.join("bin/rustc");
    run_plain(&rustc, folder.path(), &[&compile[..], &["nothing.rs".to_owned()]].concat())?;
    let nothing = folder.path().join("nothing");
    compare(
        "a program that does nothing",
        ROUNDS_OF_PROGRAM,
        &layers,
        &nothing,
        &[],
        folder.path(),
        &Policy::program(),
    )?;
    let spacious: Vec<Layers> = layers.iter().copied().filter(|layers| layers.namespaces).collect();
    let scratch = if spacious.is_empty() { None } else { Some(shared_scratch()?) };
    for (title, policy) in [
        ("the same with its own scratch space", Some(Policy::program().scratch(SCRATCH_BYTES))),
        (
            "the same with shared scratch space",
            scratch.map(|scratch| Policy::program().shared_scratch(&scratch)),
        ),
    ] {
        let Some(policy) = policy else { continue };
        compare(title, ROUNDS_OF_PROGRAM, &spacious, &nothing, &[], folder.path(), &policy)?;
    }
    let arguments = [&compile[..], &["main.rs".to_owned()]].concat();
    let policy = compiler(&sysroot, folder.path());
    compare("rustc, hello world", ROUNDS_OF_COMPILER, &layers, &rustc, &arguments, folder.path(), &policy)
}

const SCRATCH_BYTES: u64 = 1 << 20;

/// Creates shared scratch space, several times to measure it.
fn shared_scratch() -> Outcome<Scratch> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS_OF_COMPILER {
        let start = Instant::now();
        drop(Scratch::new(SCRATCH_BYTES)?);
        times.push(start.elapsed());
    }
    eprintln!("creating shared scratch space: {:.2} ms", milliseconds(median(times)));
    Ok(Scratch::new(SCRATCH_BYTES)?)
}

/// No layers, and all tiers that this machine supports.
fn available_layers() -> Vec<Layers> {
    let available = sandbox::probe().layers;
    [Layers::OFF].into_iter().chain(Layers::TIERS).filter(|layers| available.include(*layers)).collect()
}

fn sysroot() -> Outcome<PathBuf> {
    let output = std::process::Command::new("rustc").args(["--print", "sysroot"]).output()?;
    Ok(PathBuf::from(String::from_utf8(output.stdout)?.trim()))
}

fn linker(sysroot: &Path) -> PathBuf {
    sysroot.join(platform::TOOLS).join("rust-lld")
}

fn compile_arguments(sysroot: &Path) -> Vec<String> {
    let target = format!("--target={}", platform::TARGET);
    let linker = format!("linker={}", linker(sysroot).display());
    vec!["--edition=2024".to_owned(), target, "-C".to_owned(), linker]
}

fn compiler(sysroot: &Path, folder: &Path) -> Policy {
    let libraries = sysroot.join("lib");
    Policy::compiler()
        .grant(sysroot.join("bin/rustc"), Access::ReadExecute)
        .grant(linker(sysroot), Access::ReadExecute)
        .grant(platform::LOADER, Access::ReadExecute)
        .grant(&libraries, Access::Read)
        .grant_if_exists(platform::LIBRARIES[0], Access::Read)
        .grant_if_exists(platform::LIBRARIES[1], Access::Read)
        .grant("/dev/null", Access::Write)
        .grant(folder, Access::Write)
        .variable("LD_LIBRARY_PATH", libraries.to_string_lossy())
        .variable("TMPDIR", folder.to_string_lossy())
        .working_folder(folder)
}

fn compare(
    title: &str,
    rounds: usize,
    layers: &[Layers],
    program: &Path,
    arguments: &[String],
    folder: &Path,
    policy: &Policy,
) -> Outcome<()> {
    let mut plain = Vec::new();
    let mut confined: Vec<Vec<Duration>> = vec![Vec::new(); layers.len()];
    for _ in 0..rounds {
        plain.push(run_plain(program, folder, arguments)?);
        for (layers, times) in layers.iter().zip(&mut confined) {
            let policy = policy.clone().confinement(Confinement::Exactly(*layers));
            times.push(run_confined(program, arguments, policy)?);
        }
    }
    let plain = median(plain);
    eprintln!("{title}, median of {rounds}:");
    eprintln!("  {:<20} {:>8.2} ms", "plain", milliseconds(plain));
    for (layers, times) in layers.iter().zip(confined) {
        let time = median(times);
        let ratio = time.as_secs_f64() / plain.as_secs_f64();
        eprintln!("  {:<20} {:>8.2} ms  {ratio:.2} times", layers.name(), milliseconds(time));
    }
    Ok(())
}

fn run_plain(program: &Path, folder: &Path, arguments: &[String]) -> Outcome<Duration> {
    let start = Instant::now();
    let mut command = std::process::Command::new(program);
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let output = command.output()?;
    if output.status.success() { Ok(start.elapsed()) } else { Err(format!("plain: {output:?}").into()) }
}

fn run_confined(program: &Path, arguments: &[String], policy: Policy) -> Outcome<Duration> {
    let start = Instant::now();
    let mut child = Sandbox::new(policy).spawn(Command::new(program).args(arguments))?;
    let status = child.wait()?;
    if status.success() {
        Ok(start.elapsed())
    } else {
        Err(format!("{}: {status}", child.report().tier).into())
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    // Of an even number, the mean of the two in the middle.
    let at = |index: usize| times.get(index).copied().unwrap_or_default();
    (at(times.len().saturating_sub(1) / 2) + at(times.len() / 2)) / 2
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

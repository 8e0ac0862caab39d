//! Measures whether a long-running `toolsmith serve` stays the same: thousands of executions through one process.
//!
//! Prints its descriptors, processes and memory ten times on the way. Fails if they grow, if two executions share a
//! session (their server counts its initialisations), or if a process is left after `serve` was killed during
//! executions. `cargo build && cargo bench --profile dev -p end-to-end --bench soak -- --executions 1000`; [`Options`]
//! lists the options.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

mod served;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use end_to_end::processes;
use rustix::process::{WaitOptions, set_child_subreaper, wait};
use serde_json::{Value, json};

use served::{Served, counted};

/// The result of a step, or a description of its failure.
pub(crate) type Checked<T> = Result<T, String>;

/// How often the table has a row.
const ROWS: u64 = 10;
/// The row that later ones are compared with: the allocator and the caches have then reached their size.
const BASELINE: usize = 1;
/// How much memory may vary, in bytes: the allocator's, not that of thousands of executions.
const MEMORY_SLACK: u64 = 8 << 20;
/// How many descriptors and processes may vary: those of a session that is being opened or closed.
const COUNT_SLACK: usize = 4;
/// Time limit for `serve` to become idle after executions, and for processes to end after it was killed.
const IDLE: Duration = Duration::from_secs(20);
/// How often processes are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// Number of consecutive equal looks at which `serve` counts as idle.
const SAME: usize = 5;

/// The command line.
struct Options {
    /// `--binary FILE`: the program to run (default: the one in the same target folder).
    binary: PathBuf,
    /// `--executions N` (default 10 000).
    executions: u64,
    /// `--at-once N`: how many run in parallel (default 4).
    at_once: usize,
    /// `--new-every N`: each of that many executions has a new text, which is compiled (default 20).
    new_every: u64,
    /// `--spares N`: the key `serve.spares.perServer` (default: not set).
    spares: Option<u64>,
}

/// What is measured of an idle `serve`.
struct Row {
    executions: u64,
    descriptors: usize,
    processes: usize,
    memory: u64,
}

fn main() -> ExitCode {
    match run() {
        Ok(problems) if problems.is_empty() => {
            println!("flat; no session served two executions; no process was left");
            ExitCode::SUCCESS
        }
        Ok(problems) => {
            problems.iter().for_each(|problem| println!("FAILED: {problem}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Checked<Vec<String>> {
    let options = Options::read()?;
    // Processes whose parent ends become children of this one, so none is overlooked.
    set_child_subreaper(Some(rustix::process::getpid())).map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut served = Served::start(&options.binary, folder.path(), &config(&options, folder.path()))?;
    let mut soak = Soak { options, seen: HashSet::new(), problems: Vec::new(), first: first_number()? };
    // Builds what is built once.
    soak.execute(&mut served, 0..1)?;
    let mut rows = Vec::new();
    println!("| executions | sessions | descriptors | processes | memory |");
    println!("| --- | --- | --- | --- | --- |");
    let step = soak.options.executions.div_ceil(ROWS).max(1);
    let mut done = 0;
    while done < soak.options.executions {
        let next = (done + step).min(soak.options.executions);
        soak.execute(&mut served, done + 1..next + 1)?;
        done = next;
        let row = idle(&served, done);
        println!(
            "| {done} | {} | {} | {} | {:.1} MiB |",
            soak.seen.len(),
            row.descriptors,
            row.processes,
            row.memory as f64 / f64::from(1 << 20)
        );
        rows.push(row);
    }
    soak.problems.extend(grown(&rows));
    let left = soak.kill(served)?;
    soak.problems.extend(left);
    Ok(soak.problems)
}

impl Options {
    fn read() -> Checked<Self> {
        let itself = std::env::current_exe().map_err(|error| error.to_string())?;
        let target = itself.parent().and_then(Path::parent).ok_or("this program has no folder")?;
        let mut options = Self {
            binary: target.join("toolsmith"),
            executions: 10_000,
            at_once: 4,
            new_every: 20,
            spares: None,
        };
        // Cargo adds `--bench`.
        let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            let number = || value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}"));
            match name.as_str() {
                "--binary" => options.binary = value.into(),
                "--executions" => options.executions = number()?.max(1),
                "--at-once" => options.at_once = usize::try_from(number()?.clamp(1, 16)).unwrap_or(1),
                "--new-every" => options.new_every = number()?.max(1),
                "--spares" => options.spares = Some(number()?),
                _ => return Err(format!("{name} is not an option")),
            }
        }
        let binary = options.binary.canonicalize();
        options.binary = binary.map_err(|error| format!("{}: {error}", options.binary.display()))?;
        Ok(options)
    }
}

/// A configuration with the counting server.
fn config(options: &Options, folder: &Path) -> Value {
    let state = folder.join("sessions");
    let mut config = json!({ "mcpServers": { "counted": {
        "command": env!("CARGO_BIN_EXE_fault-server"), "args": ["sessions", state], "trust": true,
    } } });
    if let Some(spares) = options.spares {
        config["serve"] = json!({ "spares": { "perServer": spares } });
    }
    config
}

/// A number that makes texts new to the cache of earlier runs.
fn first_number() -> Checked<u64> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    Ok(now.as_secs() << 20)
}

/// The executions so far.
struct Soak {
    options: Options,
    /// The sessions that have served an execution.
    seen: HashSet<u64>,
    problems: Vec<String>,
    first: u64,
}

impl Soak {
    /// Runs these executions, several at a time, and checks their answers.
    fn execute(&mut self, served: &mut Served, numbers: std::ops::Range<u64>) -> Checked<()> {
        let mut waiting = BTreeMap::new();
        let mut numbers = numbers.peekable();
        while numbers.peek().is_some() || !waiting.is_empty() {
            while waiting.len() < self.options.at_once {
                let Some(number) = numbers.next() else { break };
                waiting.insert(served.begin(&self.code(number))?, number);
            }
            let (id, answer) = served.answer()?;
            let number = waiting.remove(&id).ok_or_else(|| format!("an answer to no request: {answer}"))?;
            self.check(number, &answer);
        }
        Ok(())
    }

    /// Mostly the same text, which calls twice.
    fn code(&self, number: u64) -> String {
        let is_new = number.is_multiple_of(self.options.new_every);
        let text = if is_new { self.first + number } else { self.first };
        format!(
            "let _text: u64 = {text};\nlet first = counted::session().await?.text();\n\
             let second = counted::session().await?.text();\n(first, second)"
        )
    }

    /// Both calls must be the first and second of a session that no earlier execution had.
    fn check(&mut self, number: u64, answer: &Value) {
        match counted(answer) {
            Some([(first, 1), (second, 2)]) if first == second => {
                if !self.seen.insert(first) {
                    self.problems.push(format!("execution {number}: session {first} has served another one"));
                }
            }
            _ => self.problems.push(format!("execution {number}: unexpected answer {answer}")),
        }
    }

    /// Kills `serve` while programs and a compiler run; reports the processes that outlive it.
    fn kill(&mut self, mut served: Served) -> Checked<Option<String>> {
        let before = processes::tree(served.id()).len();
        for _ in 0..self.options.at_once {
            served.begin("counted::session().await?; loop { std::hint::spin_loop(); }")?;
        }
        let started = Instant::now();
        // Each execution has at least its server and its program.
        while processes::tree(served.id()).len() < before + self.options.at_once {
            if started.elapsed() > IDLE {
                return Err("no programs have started".to_owned());
            }
            std::thread::sleep(LOOK);
        }
        served.begin(&self.code(self.options.new_every * (self.options.executions + 1)))?;
        println!("killed with {} processes", processes::tree(served.id()).len());
        served.kill()?;
        let killed = Instant::now();
        loop {
            while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
            let own = std::process::id();
            let left: Vec<_> = processes::tree(own).into_iter().filter(|process| process.id != own).collect();
            if left.is_empty() {
                return Ok(None);
            }
            if killed.elapsed() > IDLE {
                return Ok(Some(format!("left after the kill: {left:?}")));
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// Measures `serve` once its processes and descriptors no longer change.
fn idle(served: &Served, executions: u64) -> Row {
    let look = || (processes::descriptors(served.id()), processes::tree(served.id()).len());
    let started = Instant::now();
    let (mut last, mut same) = (look(), 0);
    while same < SAME && started.elapsed() < IDLE {
        std::thread::sleep(LOOK);
        let now = look();
        same = if now == last { same + 1 } else { 0 };
        last = now;
    }
    let (descriptors, processes) = last;
    Row { executions, descriptors, processes, memory: processes::private(served.id()) }
}

/// What the last row has more of than the baseline.
fn grown(rows: &[Row]) -> Vec<String> {
    let (Some(base), Some(last)) = (rows.get(BASELINE).or(rows.first()), rows.last()) else {
        return Vec::new();
    };
    let mut problems = Vec::new();
    let since = format!("between execution {} and {}", base.executions, last.executions);
    for (name, before, after) in
        [("descriptors", base.descriptors, last.descriptors), ("processes", base.processes, last.processes)]
    {
        if after > before + COUNT_SLACK {
            problems.push(format!("{name} grew from {before} to {after} {since}"));
        }
    }
    if last.memory > base.memory + MEMORY_SLACK {
        problems.push(format!("memory grew by {} KiB {since}", (last.memory - base.memory) >> 10));
    }
    problems
}

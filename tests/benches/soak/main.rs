//! Measures whether a long-running `toolsmith serve` stays the same: thousands of executions through one process.
//!
//! Prints its descriptors, processes and memory ten times on the way. Fails if they grow, if two executions share a
//! session (their server counts its initialisations), if spare sessions or spare compilers are hardly used (`spares`), or
//! if a process is left after `serve` was killed while programs and a compiler ran (`ending`). `cargo build && cargo bench --profile dev -p end-to-end --bench soak -- --executions 1000`; [`Options`]
//! lists the options.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program")]

mod ending;
mod options;
mod served;
mod spares;

use std::collections::{BTreeMap, HashSet};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use end_to_end::processes;
use rustix::process::set_child_subreaper;
use serde_json::Value;

use options::Options;
use served::{Served, counted};
use spares::Spares;

/// The result of a step, or a description of its failure.
pub(crate) type Checked<T> = Result<T, String>;

/// The interval between rows of the table.
const ROWS: u64 = 10;
/// The row that later ones are compared with: the allocator and the caches have then reached their size.
const BASELINE: usize = 1;
/// The variation allowed for memory, in bytes: the allocator's, not that of thousands of executions.
const MEMORY_SLACK: u64 = 8 << 20;
/// The variation allowed for descriptors and processes: those of a session that is being opened or closed.
const COUNT_SLACK: usize = 4;
/// Time limit for `serve` to become idle after executions, for the processes of the last executions to start, and for all
/// processes to end after it was killed.
pub(crate) const IDLE: Duration = Duration::from_secs(60);
/// The interval at which processes are sampled.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Number of consecutive equal looks at which `serve` counts as idle.
const SAME: usize = 5;

/// The measurements of an idle `serve`.
struct Row {
    executions: u64,
    descriptors: usize,
    processes: usize,
    memory: u64,
}

fn main() -> ExitCode {
    match run() {
        Ok(problems) if problems.is_empty() => {
            println!(
                "flat; spares are used as configured; no session served two executions; no process was left"
            );
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
    let record = folder.path().join("sessions");
    let mut served = Served::start(&options.binary, folder.path(), &options.config(&record))?;
    let mut soak = Soak::new(options, Spares::new(record), first_number()?);
    // Builds what is built once.
    soak.execute(&mut served, 0..1)?;
    let mut rows = Vec::new();
    println!(
        "| executions | sessions | adopted alone | adopted together | by spare compilers | descriptors | processes \
         | memory |"
    );
    println!("{}|", "| --- ".repeat(8));
    let step = soak.options.executions.div_ceil(ROWS).max(1);
    let mut done = 0;
    while done < soak.options.executions {
        let next = (done + step).min(soak.options.executions);
        soak.execute(&mut served, done + 1..next + 1)?;
        done = next;
        let row = idle(&served, done)?;
        println!(
            "| {done} | {} | {} | {} | {} | {:.1} MiB |",
            soak.seen.len(),
            soak.spares.cells(&served),
            row.descriptors,
            row.processes,
            row.memory as f64 / f64::from(1 << 20)
        );
        rows.push(row);
    }
    soak.problems.extend(grown(&rows));
    soak.problems.extend(soak.spares.problems(&soak.options, &served));
    let left = ending::kill(served, soak.options.at_once, soak.first)?;
    soak.problems.extend(left);
    Ok(soak.problems)
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
    spares: Spares,
    problems: Vec<String>,
    first: u64,
}

/// An execution that has no answer yet.
struct Begun {
    number: u64,
    /// The number of sessions that were open before.
    opened: u64,
}

impl Soak {
    fn new(options: Options, spares: Spares, first: u64) -> Self {
        Soak { options, seen: HashSet::new(), spares, problems: Vec::new(), first }
    }

    /// Runs these executions and checks their answers: several at a time, but some alone.
    fn execute(&mut self, served: &mut Served, numbers: std::ops::Range<u64>) -> Checked<()> {
        let mut waiting = BTreeMap::new();
        for number in numbers {
            let is_alone = self.is_alone(number);
            // Those before it have ended when it begins, and those after it begin when it has ended.
            let at_once = if is_alone { 1 } else { self.options.at_once };
            while waiting.len() >= at_once {
                self.finish(served, &mut waiting)?;
            }
            if is_alone {
                idle(served, number)?;
            }
            let begun = Begun { number, opened: self.spares.opened() };
            waiting.insert(served.begin(&self.code(number))?, begun);
            if is_alone {
                self.finish(served, &mut waiting)?;
            }
        }
        while !waiting.is_empty() {
            self.finish(served, &mut waiting)?;
        }
        Ok(())
    }

    /// Waits for an answer and checks it.
    fn finish(&mut self, served: &mut Served, waiting: &mut BTreeMap<u64, Begun>) -> Checked<()> {
        let (id, answer) = served.answer()?;
        let begun = waiting.remove(&id).ok_or_else(|| format!("an answer to no request: {answer}"))?;
        self.check(&begun, &answer);
        Ok(())
    }

    /// Whether an execution runs alone, on an idle `serve`.
    fn is_alone(&self, number: u64) -> bool {
        number.is_multiple_of(self.options.alone_every)
    }

    fn is_new(&self, number: u64) -> bool {
        number.is_multiple_of(self.options.new_every)
    }

    /// Mostly the same text, which calls twice.
    fn code(&self, number: u64) -> String {
        let text = if self.is_new(number) { self.first + number } else { self.first };
        format!(
            "let _text: u64 = {text};\nlet first = counted::session().await?.text();\n\
             let second = counted::session().await?.text();\n(first, second)"
        )
    }

    /// Both calls must be the first and second of a session that no earlier execution had.
    fn check(&mut self, &Begun { number, opened }: &Begun, answer: &Value) {
        match counted(answer) {
            Some([(first, 1), (second, 2)]) if first == second => {
                // The first execution starts a `serve` without spares.
                if number > 0 {
                    self.spares.add(first, opened, self.is_alone(number), self.is_new(number));
                }
                if !self.seen.insert(first) {
                    self.problems.push(format!("execution {number}: session {first} has served another one"));
                }
            }
            _ => self.problems.push(format!("execution {number}: unexpected answer {answer}")),
        }
    }
}

/// Measures `serve` once its processes and descriptors no longer change.
fn idle(served: &Served, executions: u64) -> Checked<Row> {
    let look = || (processes::descriptors(served.id()), processes::tree(served.id()).len());
    let started = Instant::now();
    let (mut last, mut same) = (look(), 0);
    while same < SAME {
        if started.elapsed() > IDLE {
            let (descriptors, processes) = last;
            return Err(format!(
                "serve was not idle {} s after execution {executions}; it had {descriptors} descriptors and {processes} \
                 processes",
                IDLE.as_secs()
            ));
        }
        std::thread::sleep(LOOK);
        let now = look();
        same = if now == last { same + 1 } else { 0 };
        last = now;
    }
    let (descriptors, processes) = last;
    Ok(Row { executions, descriptors, processes, memory: processes::private(served.id()) })
}

/// Lists the measurements in which the last row exceeds the baseline.
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

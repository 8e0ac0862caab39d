//! The last step: kills `serve` while programs and a compiler run, and looks for processes that outlive it.

use std::path::Path;
use std::time::Instant;

use end_to_end::processes::{self, Process};
use rustix::process::{WaitOptions, wait};

use crate::served::Served;
use crate::{Checked, IDLE, LOOK};

/// A part of the command lines of programs.
const PROGRAM: &str = "/programs-";
/// A part of the command lines of compilers.
const COMPILER: &str = "--crate-name=program";
/// A part of the command lines of the supervisors of both.
const SUPERVISOR: &str = "sandbox-helper:";

/// Runs until it is ended.
const ENDLESS: &str = "counted::session().await?; loop { std::hint::spin_loop(); }";

/// Kills `serve` while `at_once` programs and a compiler run; reports the processes that outlive it. `number` makes the
/// text that is being compiled a new one.
pub(crate) fn kill(mut served: Served, at_once: usize, number: u64) -> Checked<Option<String>> {
    for _ in 0..at_once {
        served.begin(ENDLESS)?;
    }
    // The compiler computes the constant until it is ended, so that it runs whenever the programs have started.
    served.begin(&format!(
        "#[allow(long_running_const_eval)]\nconst FOREVER: u64 = {{ let mut n = 1; while n != 0 {{ \
         n = n * 3 % 1_000_003; }} n }};\n(FOREVER, {number}_u64)"
    ))?;
    let started = Instant::now();
    loop {
        let tree = processes::tree(served.id());
        let programs = tree.iter().filter(|process| is(process, PROGRAM)).count();
        let compilers = tree.iter().filter(|process| is(process, COMPILER) && has_text(process)).count();
        if programs >= at_once && compilers > 0 {
            println!("killed with {} processes: {programs} programs, {compilers} compilers", tree.len());
            break;
        }
        if started.elapsed() > IDLE {
            return Err(format!(
                "{programs} programs and {compilers} compilers have started in {} s; expected {at_once} and 1: {tree:?}",
                IDLE.as_secs()
            ));
        }
        std::thread::sleep(LOOK);
    }
    served.kill()?;
    Ok(left_behind())
}

/// Whether the process itself is one of this kind, not the supervisor with the same command in its arguments.
fn is(process: &Process, kind: &str) -> bool {
    process.line.contains(kind) && !process.line.contains(SUPERVISOR)
}

/// Whether a compiler has the text of a snippet. A spare compiler has a named pipe in its place until it is used.
fn has_text(process: &Process) -> bool {
    let main = process.line.split(' ').map(Path::new).find(|word| word.ends_with("main.rs"));
    main.is_some_and(|main| main.with_file_name("snippet.rs").is_file())
}

/// The processes that have not ended in time.
fn left_behind() -> Option<String> {
    let killed = Instant::now();
    loop {
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        let own = std::process::id();
        let left: Vec<_> = processes::tree(own).into_iter().filter(|process| process.id != own).collect();
        if left.is_empty() {
            return None;
        }
        if killed.elapsed() > IDLE {
            return Some(format!("left after the kill: {left:?}"));
        }
        std::thread::sleep(LOOK);
    }
}

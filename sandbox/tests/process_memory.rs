//! Prefaulting the memory of a confined process.

#![allow(clippy::unwrap_used, reason = "a test fails if its setup fails")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{again_as_an_ordinary_user, sandbox};
use sandbox::{Access, Child, Command, Policy};

/// More than is needed, even if files must be read from a disk.
const LIMIT: Duration = Duration::from_secs(60);

/// A child whose first process waits, and the id of this process.
fn waiting() -> (Child, u32) {
    let policy = ["/usr", "/lib", "/lib64", "/bin"]
        .into_iter()
        .fold(Policy::build(), |policy, path| policy.grant_if_exists(path, Access::ReadExecute));
    let mut child = sandbox(policy).spawn(Command::new("/bin/sleep").args(["600"])).unwrap();
    loop {
        let found = common::descendants(child.id()).into_iter().find(|process| process.name == "sleep");
        if let Some(process) = found.filter(|process| sleeps(process.id)) {
            return (child, process.id);
        }
        assert!(child.try_wait().unwrap().is_none(), "the process has ended");
    }
}

/// Whether a process waits, and so has loaded its libraries (proc_pid_stat(5)).
fn sleeps(id: u32) -> bool {
    fs::read_to_string(format!("/proc/{id}/stat")).unwrap().contains("(sleep) S ")
}

/// The sizes of the parts of files that a process has mapped for reading only, and how much of them has pages, in KiB
/// (proc_pid_smaps(5)). The files are in memory afterwards.
fn mapped_files(id: u32) -> (u64, u64) {
    let (mut size, mut resident, mut counts, mut files) = (0, 0, false, BTreeSet::new());
    for line in fs::read_to_string(format!("/proc/{id}/smaps")).unwrap().lines() {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        match fields[..] {
            ["Size:", kibibytes, _] if counts => size += kibibytes.parse::<u64>().unwrap(),
            ["Rss:", kibibytes, _] if counts => resident += kibibytes.parse::<u64>().unwrap(),
            [_, permissions, _, _, _, path] => {
                counts = permissions.starts_with("r-") && path.starts_with('/');
                if counts {
                    files.insert(path.to_owned());
                }
            }
            [_, _, _, _, _] => counts = false,
            _ => {}
        }
    }
    assert!(files.len() > 1 && files.iter().all(|file| fs::read(file).is_ok()), "{files:?}");
    (size, resident)
}

#[test]
fn files_of_a_waiting_process_are_mapped_ahead() {
    let (child, id) = waiting();
    let (size, before) = mapped_files(id);
    for process in child.memory().unwrap() {
        process.prefault(LIMIT, |_| true).unwrap();
    }
    let (_, after) = mapped_files(id);
    // The kernel leaves out a few pages, such as those that mark where to read ahead.
    assert!(before < after && after * 10 > size * 9, "{before}, {after} of {size} KiB");
}

#[test]
fn nothing_is_mapped_after_the_time_limit() {
    let (child, id) = waiting();
    let before = mapped_files(id);
    for process in child.memory().unwrap() {
        process.prefault(Duration::ZERO, |_| true).unwrap();
    }
    assert_eq!(mapped_files(id), before);
}

#[test]
fn unwanted_files_are_not_mapped() {
    let (child, id) = waiting();
    let before = mapped_files(id);
    for process in child.memory().unwrap() {
        process.prefault(LIMIT, Path::is_relative).unwrap();
    }
    assert_eq!(mapped_files(id), before);
}

#[test]
fn the_memory_of_an_ended_process_is_empty() {
    let (child, _) = waiting();
    let memory = child.memory().unwrap();
    assert!(!memory.is_empty());
    drop(child);
    for process in memory {
        process.prefault(LIMIT, |_| true).unwrap();
    }
}

#[test]
fn an_ordinary_user_can_do_so() {
    again_as_an_ordinary_user("an_ordinary_user_can_do_so", &[]);
}

//! A snapshot of a process's descendants, which detects reused process ids.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{WATCHDOG, wait_until};

/// The descendants of a process.
#[derive(Debug)]
pub struct Tree(Vec<Process>);

#[derive(Debug, Clone)]
struct Process {
    id: u32,
    parent: u32,
    /// Its start time in kernel ticks, which distinguishes it from a later process with the same id.
    start_time: String,
    command: String,
}

impl Process {
    /// A running process; `None` for a zombie.
    fn of(id: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name in parentheses may contain anything (proc_pid_stat(5)).
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        if matches!(*fields.first()?, "Z" | "X") {
            return None;
        }
        let (parent, start_time) = (fields.get(1)?.parse().ok()?, (*fields.get(19)?).to_owned());
        let command = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        Some(Process { id, parent, start_time, command })
    }

    fn lives(&self) -> bool {
        Process::of(self.id).is_some_and(|now| now.start_time == self.start_time)
    }
}

impl Tree {
    pub fn below(id: u32) -> Self {
        let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
        let all: Vec<Process> =
            fs::read_dir("/proc").unwrap().flatten().filter_map(number).filter_map(Process::of).collect();
        let (mut found, mut parents) = (Vec::new(), vec![id]);
        while let Some(parent) = parents.pop() {
            let children = all.iter().filter(|process| process.parent == parent);
            for child in children {
                parents.push(child.id);
                found.push(child.clone());
            }
        }
        Tree(found)
    }

    /// The number of processes with this in their command line.
    pub fn count(&self, part: &str) -> usize {
        self.with(part).count()
    }

    /// Kills the processes with this in their command line.
    pub fn kill(&self, part: &str) {
        for process in self.with(part) {
            let id = Pid::from_raw(process.id.cast_signed()).unwrap();
            // The process may have ended already.
            let _ = kill_process(id, Signal::KILL);
        }
    }

    /// Keeps the processes whose command line satisfies a condition.
    pub fn filter(&self, condition: impl Fn(&str) -> bool) -> Tree {
        Tree(self.0.iter().filter(|process| condition(&process.command)).cloned().collect())
    }

    /// The process ids and command lines.
    pub fn commands(&self) -> Vec<(u32, &str)> {
        self.0.iter().map(|process| (process.id, process.command.as_str())).collect()
    }

    fn with<'a>(&'a self, part: &'a str) -> impl Iterator<Item = &'a Process> {
        self.0.iter().filter(move |process| process.command.contains(part))
    }

    /// Waits until all of them have ended.
    #[track_caller]
    pub fn is_gone(&self) {
        let left = || self.0.iter().filter(|process| process.lives()).collect::<Vec<_>>();
        wait_until("the end of all processes", WATCHDOG, || left().is_empty(), || format!("{:#?}", left()));
    }
}

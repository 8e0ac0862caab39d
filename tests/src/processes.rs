//! Reads from `/proc` what benchmarks report about processes: their tree, their memory and their open files.

use std::collections::BTreeSet;
use std::fs;

/// A process at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub id: u32,
    parent: u32,
    /// When it started, in clock ticks after boot: together with the id, it identifies a process.
    pub started: u64,
    /// Its arguments, separated by blanks; empty for a process that has ended but is not yet reaped.
    pub line: String,
}

/// The process `root` and everything that it started, directly or not.
#[must_use]
pub fn tree(root: u32) -> Vec<Process> {
    let all = all();
    let mut members = BTreeSet::from([root]);
    loop {
        let is_new = |process: &&Process| members.contains(&process.parent) && !members.contains(&process.id);
        let children: Vec<u32> = all.iter().filter(is_new).map(|process| process.id).collect();
        if children.is_empty() {
            break;
        }
        members.extend(children);
    }
    all.into_iter().filter(|process| members.contains(&process.id)).collect()
}

/// Whether this very process still exists.
#[must_use]
pub fn exists(process: &Process) -> bool {
    read(process.id).is_some_and(|now| now.started == process.started)
}

/// Resident memory in bytes (`VmRSS`, proc_pid_status(5)), with pages that the process shares; 0 if it has ended.
#[must_use]
pub fn resident(id: u32) -> u64 {
    status(id, "VmRSS:")
}

/// Resident memory that belongs to the process alone, in bytes: without pages of files, which can be dropped at any
/// time; 0 if it has ended.
#[must_use]
pub fn private(id: u32) -> u64 {
    resident(id).saturating_sub(status(id, "RssFile:"))
}

/// Peak of [`private`] memory, in bytes, except that pages of files are counted as they are now.
#[must_use]
pub fn peak(id: u32) -> u64 {
    status(id, "VmHWM:").saturating_sub(status(id, "RssFile:"))
}

/// The number of open descriptors; 0 if the process has ended.
#[must_use]
pub fn descriptors(id: u32) -> usize {
    fs::read_dir(format!("/proc/{id}/fd")).map_or(0, Iterator::count)
}

fn status(id: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_suffix(" kB"));
    value.and_then(|value| value.parse::<u64>().ok()).unwrap_or_default() << 10
}

fn all() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Reads the fields of proc_pid_stat(5). The name in brackets may contain blanks and brackets itself.
fn read(id: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned();
    Some(Process { id, parent: fields.get(1)?.parse().ok()?, started: fields.get(19)?.parse().ok()?, line })
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_child_belongs_to_the_tree_until_it_is_reaped() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let found = tree(std::process::id()).into_iter().find(|process| process.id == child.id()).unwrap();
        assert!(exists(&found));
        assert!(resident(std::process::id()) > private(std::process::id()));
        assert!(descriptors(std::process::id()) > 2);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!exists(&found));
        assert_eq!((resident(found.id), descriptors(found.id)), (0, 0));
    }
}

//! A helper process that kills the descendants of servers if this process dies without doing so.
//!
//! When this process dies, the kernel kills the servers (`starter`), but not the processes that they have started. Such
//! processes see the end of their input, and some ignore it. So a helper, which is a second instance of this
//! executable, receives the process groups of servers through a pipe. The pipe closes when this process ends, for any
//! reason; the helper then kills the groups that were not reported as ended, and exits.
//!
//! No other process can get a group's number while the group has a member. Only the number of an empty group could be
//! reused between its end and the kill, which is a moment. Processes that have left their group are not reached. The
//! helper runs only while there are servers.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::{Mutex, MutexGuard};
use rustix::process::{Pid, Signal, kill_process_group};

/// The helper's process name; it is started under this name.
const NAME: &str = "mcp-helper:reaper";

/// This executable.
const OWN_EXECUTABLE: &str = "/proc/self/exe";

/// Whether this executable calls [`entry`], and so can run as the helper.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// The current groups, and the helper that watches them.
static WATCHED: Mutex<Watched> = Mutex::new(Watched { groups: BTreeSet::new(), helper: None });

struct Watched {
    groups: BTreeSet<i32>,
    helper: Option<(Child, ChildStdin)>,
}

/// Call this first in `main`. In a normal start it returns at once; in the helper, it never returns. Without it there
/// is no helper: descendants of servers that ignore the end of their input then survive if this process is killed.
pub fn entry() {
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        for group in remaining(io::stdin().lock()) {
            // An empty group needs no kill.
            let _ = kill_process_group(group, Signal::KILL);
        }
        std::process::exit(0);
    }
    IS_KNOWN.store(true, Ordering::Relaxed);
}

/// The groups that were reported as started and not as ended: lines of `+` or `-` and the number.
fn remaining(reports: impl BufRead) -> Vec<Pid> {
    let mut groups = BTreeSet::new();
    for line in reports.lines().map_while(Result::ok) {
        if let Some(group) = line.strip_prefix('+').and_then(number) {
            groups.insert(group);
        } else if let Some(group) = line.strip_prefix('-').and_then(number) {
            groups.remove(&group);
        }
    }
    groups.into_iter().filter_map(Pid::from_raw).collect()
}

/// Rejects 1 (init's group), 0 and negative numbers (several groups).
fn number(text: &str) -> Option<i32> {
    text.parse().ok().filter(|group| *group > 1)
}

/// Has the helper kill this group when this process dies.
pub(super) fn watch(group: i32) {
    if !IS_KNOWN.load(Ordering::Relaxed) {
        return;
    }
    let mut watched = watched();
    watched.groups.insert(group);
    if !watched.report('+', group) {
        watched.restart_helper();
    }
}

/// Reports that the group has ended: its number may be reused as soon as its leader has been reaped.
pub(super) fn forget(group: i32) {
    let mut watched = watched();
    if !watched.groups.remove(&group) {
        return;
    }
    watched.report('-', group);
    if watched.groups.is_empty()
        && let Some((mut helper, _)) = watched.helper.take()
    {
        // No groups are left.
        let _ = helper.kill();
        let _ = helper.wait();
    }
}

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock()
}

impl Watched {
    /// Starts a helper and reports all groups to it. If it can't be started, there is none.
    fn restart_helper(&mut self) {
        self.helper = start().ok();
        for group in self.groups.clone() {
            self.report('+', group);
        }
    }

    /// Reports a change to the helper; returns whether there is one that has received it.
    fn report(&mut self, sign: char, group: i32) -> bool {
        let Some((helper, pipe)) = &mut self.helper else { return false };
        let is_sent = pipe.write_all(format!("{sign}{group}\n").as_bytes()).is_ok();
        if !is_sent {
            // The helper was killed.
            let _ = helper.kill();
            let _ = helper.wait();
            self.helper = None;
        }
        is_sent
    }
}

/// Starts the helper: it inherits only the pipe, and is in its own group, out of reach of a terminal's signals.
fn start() -> io::Result<(Child, ChildStdin)> {
    let mut command = Command::new(OWN_EXECUTABLE);
    command.arg0(NAME).env_clear().current_dir("/").process_group(0);
    let mut helper = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    match helper.stdin.take() {
        Some(pipe) => Ok((helper, pipe)),
        None => Err(io::Error::other("its standard input is missing")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_without_a_reported_end_remain() {
        let remaining = |reports: &str| {
            remaining(reports.as_bytes()).iter().map(|group| group.as_raw_nonzero().get()).collect::<Vec<_>>()
        };
        assert_eq!(remaining("+7\n+8\n-7\n+9\n+7\n-9\n"), [7, 8]);
        assert_eq!(remaining("+7\n-7\n-7\n"), [0; 0]);
        // Nothing else is ever killed: neither all processes nor init's group, whatever the input.
        assert_eq!(remaining("+0\n+1\n+-1\n+-5\n5\n+\nnonsense\n+99999999999\n"), [0; 0]);
    }
}

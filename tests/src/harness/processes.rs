//! The processes that tests start, and those that a run leaves behind.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Time limit for a process to exit after the run that started it.
const LEFTOVERS: Duration = Duration::from_secs(10);
/// Time between two looks at what another process has done.
const LOOK: Duration = Duration::from_millis(2);

/// The processes that tests have started directly and not yet waited for.
static STARTED: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

/// Waits until `condition` holds, which another process brings about. `context` says more if it never does.
#[track_caller]
pub fn wait_until(what: &str, limit: Duration, condition: impl Fn() -> bool, context: impl Fn() -> String) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < limit, "timed out waiting for: {what}\n{}", context());
        std::thread::sleep(LOOK);
    }
}

/// Starts a process that its test must end and then [`forget`].
pub fn spawn(command: &mut Command) -> Child {
    let mut started = STARTED.lock();
    let child = command.spawn().unwrap();
    started.get_or_insert_default().insert(child.id());
    child
}

/// Call this after waiting for a process: its id may be reused.
pub fn forget(child: &Child) {
    let mut started = STARTED.lock();
    started.get_or_insert_default().remove(&child.id());
}

pub fn ends_within(child: &Child, time: Duration) -> bool {
    let pidfd = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).unwrap();
    let deadline = Instant::now() + time;
    loop {
        let left = Timespec::try_from(deadline.saturating_duration_since(Instant::now())).unwrap();
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&left)) {
            Ok(count) => return count == 1,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("poll: {error}"),
        }
    }
}

struct Process {
    id: u32,
    parent: u32,
    /// Whether it has called exec(2): before that, it looks like its parent.
    has_executed: bool,
}

/// The flag of a process that has not called exec(2) since fork(2) (`PF_FORKNOEXEC` in the kernel's sched.h).
const FORKED: u64 = 0x40;

/// The processes of this machine, without zombies.
fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let process = |entry: fs::DirEntry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The name in parentheses may contain anything; state and parent follow it (proc_pid_stat(5)).
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let has_executed = fields.nth(4)?.parse::<u64>().ok()? & FORKED == 0;
        (!matches!(state, "Z" | "X")).then_some(Process { id, parent, has_executed })
    };
    entries.filter_map(process).collect()
}

/// The processes below a process, as command lines.
pub fn descendants(id: u32) -> Vec<String> {
    below(id, &processes())
}

/// Like [`descendants`], only those that have called exec(2).
pub fn programs(id: u32) -> Vec<String> {
    let executed: Vec<Process> = processes().into_iter().filter(|process| process.has_executed).collect();
    below(id, &executed)
}

fn below(id: u32, all: &[Process]) -> Vec<String> {
    let mut found = vec![id];
    let mut index = 0;
    while let Some(parent) = found.get(index).copied() {
        found.extend(all.iter().filter(|process| process.parent == parent).map(|process| process.id));
        index += 1;
    }
    found[1..].iter().map(|id| command_line(*id)).collect()
}

pub(crate) fn is_alive(id: u32) -> bool {
    processes().iter().any(|process| process.id == id)
}

fn command_line(id: u32) -> String {
    let bytes = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Checks for orphans. This process is their subreaper: a process that outlives its run becomes its child.
#[track_caller]
pub fn assert_nothing_left() {
    let start = Instant::now();
    loop {
        let left = orphans();
        if left.is_empty() {
            return;
        }
        if start.elapsed() > LEFTOVERS {
            // Kills them, so that only this test reports them.
            for id in left.keys().filter_map(|id| Pid::from_raw(id.cast_signed())) {
                let _ = kill_process(id, Signal::KILL);
            }
            panic!("left behind: {left:#?}");
        }
        std::thread::sleep(LOOK);
    }
}

/// Running child processes that no test started, with their command lines.
fn orphans() -> BTreeMap<u32, String> {
    let own = std::process::id();
    let started = STARTED.lock().clone().unwrap_or_default();
    let orphans = processes().into_iter().filter(|process| process.parent == own);
    let orphans = orphans.filter(|process| !started.contains(&process.id));
    let orphans = orphans.map(|process| (process.id, command_line(process.id)));
    // Scripted models belong to tests and end with them.
    orphans.filter(|(_, command)| !command.contains("model-server")).collect()
}

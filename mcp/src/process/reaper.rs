//! A process beside this one that kills what servers have started, when this process dies without doing so itself.
//!
//! When this process dies, the kernel kills the servers (`starter`), but not the processes that these have started.
//! Those see the end of their input, and some don't mind it. So a helper, which is this very executable once more, is told
//! the process groups of servers through a pipe. The pipe ends with this process, whatever ended it; the helper then
//! kills the groups that it was not told the end of, and ends.
//!
//! A group's number is nobody else's while any process is in it. That of an empty one would have to be given away between
//! the two ends, which are no more than a moment apart. What has left its group is not reached. The helper is there only
//! while there are servers.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, Write},
    os::unix::process::CommandExt,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use rustix::process::{Pid, Signal, kill_process_group};

/// What the helper is called; it is started under this name.
const NAME: &str = "mcp-helper:reaper";

/// This very executable.
const OWN_EXECUTABLE: &str = "/proc/self/exe";

/// Whether this executable knows that it may be the helper.
static IS_KNOWN: AtomicBool = AtomicBool::new(false);

/// The groups that there are, and the helper that knows them.
static WATCHED: Mutex<Watched> = Mutex::new(Watched { groups: BTreeSet::new(), helper: None });

struct Watched {
    groups: BTreeSet<i32>,
    helper: Option<(Child, ChildStdin)>,
}

/// Call this first in `main`. In an ordinary start it returns at once; in the helper, it never does. Without it there is
/// no helper: what servers have started then outlives a process that is killed, if it does not mind the end of its input.
pub fn entry() {
    if std::env::args_os().next().is_some_and(|name| name == NAME) {
        for group in left(io::stdin().lock()) {
            // A group in which nobody is left is as good as killed.
            let _ = kill_process_group(group, Signal::KILL);
        }
        std::process::exit(0);
    }
    IS_KNOWN.store(true, Ordering::Relaxed);
}

/// The groups whose beginning was told, and not their end: `+` or `-` and the number, in lines.
fn left(told: impl BufRead) -> Vec<Pid> {
    let mut groups = BTreeSet::new();
    for line in told.lines().map_while(Result::ok) {
        if let Some(group) = line.strip_prefix('+').and_then(number) {
            groups.insert(group);
        } else if let Some(group) = line.strip_prefix('-').and_then(number) {
            groups.remove(&group);
        }
    }
    groups.into_iter().filter_map(Pid::from_raw).collect()
}

/// The first process's group, and what stands for several, are nobody's.
fn number(text: &str) -> Option<i32> {
    text.parse().ok().filter(|group| *group > 1)
}

/// From now on, this group is killed when this process dies.
pub(super) fn watch(group: i32) {
    if !IS_KNOWN.load(Ordering::Relaxed) {
        return;
    }
    let mut watched = watched();
    watched.groups.insert(group);
    if !watched.tell('+', group) {
        watched.begin();
    }
}

/// The group is at its end: its number may be another one's as soon as its leader has been waited for.
pub(super) fn forget(group: i32) {
    let mut watched = watched();
    if !watched.groups.remove(&group) {
        return;
    }
    watched.tell('-', group);
    if watched.groups.is_empty()
        && let Some((mut helper, _)) = watched.helper.take()
    {
        // There is nothing left for it to do.
        let _ = helper.kill();
        let _ = helper.wait();
    }
}

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    /// Starts a helper that knows all groups. Where it can't be, there is none.
    fn begin(&mut self) {
        self.helper = start().ok();
        for group in self.groups.clone() {
            self.tell('+', group);
        }
    }

    /// Whether there is a helper that was told this.
    fn tell(&mut self, sign: char, group: i32) -> bool {
        let Some((helper, pipe)) = &mut self.helper else { return false };
        let is_told = pipe.write_all(format!("{sign}{group}\n").as_bytes()).is_ok();
        if !is_told {
            // Somebody has ended it.
            let _ = helper.kill();
            let _ = helper.wait();
            self.helper = None;
        }
        is_told
    }
}

/// The helper: with nothing of this process but the pipe, and out of reach of a terminal's signals.
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
    fn groups_are_left_whose_end_was_not_told() {
        let left = |told: &str| {
            left(told.as_bytes()).iter().map(|group| group.as_raw_nonzero().get()).collect::<Vec<_>>()
        };
        assert_eq!(left("+7\n+8\n-7\n+9\n+7\n-9\n"), [7, 8]);
        assert_eq!(left("+7\n-7\n-7\n"), [0; 0]);
        // Nothing else is ever killed: neither all processes nor the first one, whatever is told.
        assert_eq!(left("+0\n+1\n+-1\n+-5\n5\n+\nnonsense\n+99999999999\n"), [0; 0]);
    }
}

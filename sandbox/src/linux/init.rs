//! The first process of the child's process namespace. It starts the command, reaps all processes and ends
//! when the command does. Then the kernel kills all remaining processes of the namespace (pid_namespaces(7)).
//!
//! The supervisor watches and ends it, and receives the command's status through a pipe: the status of a
//! first process cannot show a signal, because the kernel protects it from signals of its own namespace.

use std::fs::File;
use std::io::{Read, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, set_parent_process_death_signal};

use super::descriptors::keep_only;
use crate::error::failed;
use crate::{Failure, Step};

/// Runs `prepare` in the first process of the namespace, then forks. Returns in the process that will execute
/// the command; the first process stays, and leads a group with the command if it `leads_group`.
pub(super) fn fork(
    ends: File,
    leads_group: bool,
    prepare: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(failed(Step::ParentDeath, "the first process of the namespace"))?;
    if is_abandoned(&ends) {
        return Err(Failure::new(Step::ParentDeath, "the supervisor", libc::ESRCH));
    }
    if leads_group {
        lead_group()?;
    }
    prepare()?;
    // SAFETY: this process has one thread, so the copy can continue like the original.
    match unsafe { libc::fork() } {
        -1 => Err(failed(Step::Fork, "the confined process")(std::io::Error::last_os_error())),
        0 => Ok(()),
        command => reap(command, ends),
    }
}

/// Makes this process lead a group. Not a session of its own: the kernel would schedule it as one more group (see `oversight`).
pub(super) fn lead_group() -> Result<(), Failure> {
    rustix::process::setpgid(None, None).map_err(failed(Step::Session, "a process group for the command"))
}

/// Whether the supervisor has ended. The parent is not visible from inside the namespace, but the supervisor
/// holds the other end of this pipe.
fn is_abandoned(ends: &File) -> bool {
    let mut events = [PollFd::new(ends, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    matches!(poll(&mut events, Some(&now)), Ok(1..)) && events[0].revents().contains(PollFlags::ERR)
}

/// Reaps processes until the command has ended.
fn reap(command: i32, mut ends: File) -> ! {
    keep_only(&[&ends]);
    loop {
        let mut status = 0;
        // SAFETY: the kernel writes one number through the pointer.
        let ended = unsafe { libc::waitpid(-1, &raw mut status, 0) };
        if ended == command {
            let _ = ends.write_all(&status.to_ne_bytes());
        } else if ended != -1 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) {
            continue;
        }
        // SAFETY: ends the process without running destructors or handlers, which is the intention.
        unsafe { libc::_exit(0) }
    }
}

/// The command's status from `waitpid(2)`, once the first process has ended.
pub(super) fn status(mut ends: &File) -> Option<i32> {
    let mut bytes = [0; 4];
    ends.read_exact(&mut bytes).ok()?;
    Some(i32::from_ne_bytes(bytes))
}

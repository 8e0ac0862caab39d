//! The supervisor of a compiler: it stands between the parent and the command, passes the report on, and
//! ends everything that the command has started when the command ends or the parent does.
//!
//! The command leads a process group that its descendants cannot leave (the filter denies `setsid` and
//! `setpgid`), so one signal to the group reaches all of them, also those that are being forked. The
//! supervisor is unconfined, but has no capabilities and takes nothing from its processes but their exit
//! statuses. Leaves confining the command to `helper`.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions, getpid,
    kill_process, kill_process_group, pidfd_open, set_child_subreaper, set_dumpable_behavior, setrlimit,
    waitid,
};

use super::control::{self, Status};
use super::helper::{die_with, failed, private};
use crate::{Failure, Step};

/// Forks. In the process that is to execute the command it returns, having replaced `channel`, the parent's socket, by a
/// pipe to the supervisor; in the supervisor it never returns.
pub(super) fn fork(channel: &mut File) -> Result<(), Failure> {
    let supervisor = getpid();
    set_child_subreaper(Some(supervisor)).map_err(failed(Step::Fork, "becoming the reaper of orphans"))?;
    let (reports, reporter) = pipe().map_err(failed(Step::Fork, "a pipe"))?;
    // SAFETY: this process has one thread, so the copy may go on as the original would.
    match unsafe { libc::fork() } {
        -1 => Err(failed(Step::Fork, "the supervised process")(io::Error::last_os_error())),
        0 => {
            *channel = reporter;
            drop(reports);
            die_with(Some(supervisor))?;
            rustix::process::setsid().map_err(failed(Step::Session, "a session for the command")).map(drop)
        }
        leader => {
            drop(reporter);
            supervise(leader, channel, reports)
        }
    }
}

/// A pipe clear of the numbers of the child's own descriptors.
fn pipe() -> io::Result<(File, File)> {
    let (reader, writer) = io::pipe()?;
    Ok((private(&reader)?.into(), private(&writer)?.into()))
}

fn supervise(leader: i32, control: &File, reports: File) -> ! {
    let ended = Pid::from_raw(leader).and_then(|leader| {
        release_descriptors(control, &reports);
        let started = relay(reports, control);
        let status = await_end(leader, control, started);
        end_all(leader);
        status
    });
    end_like(ended)
}

/// Keeps nothing of the host but the two ways to speak: the output pipes and the broker close with the last
/// of the command's processes, and what the host leaked is not held open.
fn release_descriptors(control: &File, reports: &File) {
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = rustix::process::chdir("/");
    let Ok(null) = File::options().read(true).write(true).open("/dev/null") else { return };
    for descriptor in 0..=2 {
        // SAFETY: the standard descriptors belong to nobody in this process.
        unsafe { libc::dup2(null.as_raw_fd(), descriptor) };
    }
    let mut kept = [control.as_raw_fd(), reports.as_raw_fd()];
    kept.sort_unstable();
    for (first, last) in [(3, kept[0] - 1), (kept[0] + 1, kept[1] - 1), (kept[1] + 1, i32::MAX)] {
        if first <= last {
            // SAFETY: this process never returns to what opened the others; `null` is forgotten below.
            unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    }
    std::mem::forget(null);
}

/// Passes the messages on; whether the command was executed.
fn relay(mut reports: File, mut parent: &File) -> bool {
    let mut send =
        |status: &Status| control::frame(status).and_then(|bytes| parent.write_all(&bytes)).is_ok();
    let mut confined = false;
    while let Ok(Some(status)) = control::receive::<Status>(&mut reports) {
        confined = matches!(status, Status::Confined(_));
        if !send(&status) {
            return false;
        }
    }
    confined && send(&Status::Started)
}

/// Waits until the command has ended or the parent closes its socket, and ends the command then.
fn await_end(leader: Pid, control: &File, started: bool) -> Option<End> {
    if let (true, Ok(pidfd)) = (started, pidfd_open(leader, PidfdFlags::empty())) {
        let mut events = [PollFd::new(&pidfd, PollFlags::IN), PollFd::new(control, PollFlags::IN)];
        while matches!(poll(&mut events, None), Err(rustix::io::Errno::INTR)) {}
        if events[0].revents().is_empty() {
            end_group(leader);
        }
    } else {
        end_group(leader);
    }
    // The leader stays a zombie, so that its number, which names the group, cannot be given to another.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(WaitId::Pid(leader), options) {
            Err(rustix::io::Errno::INTR) => {}
            other => {
                let status = other.ok().flatten()?;
                return status
                    .exit_status()
                    .map(End::Code)
                    .or_else(|| status.terminating_signal().map(End::Signal));
            }
        }
    }
}

fn end_group(leader: Pid) {
    // The group exists from the leader's setsid on; before that there is the leader alone.
    let _ = kill_process_group(leader, Signal::KILL);
    let _ = kill_process(leader, Signal::KILL);
}

/// Kills what is left of the group and reaps all of it; orphans have become children of this process.
fn end_all(leader: Pid) {
    end_group(leader);
    while !matches!(rustix::process::wait(WaitOptions::empty()), Err(rustix::io::Errno::CHILD)) {}
}

#[derive(Clone, Copy)]
enum End {
    Code(i32),
    Signal(i32),
}

/// Ends as the command did, so that the parent's `wait` shows the command's status.
fn end_like(end: Option<End>) -> ! {
    let code = match end {
        Some(End::Code(code)) => code,
        Some(End::Signal(signal)) => {
            let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
            // SAFETY: restores the default action and raises the signal in this process alone.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
            128 + signal
        }
        None => super::helper::EXIT_REFUSED,
    };
    // SAFETY: ends the process without running destructors or handlers, which is the intention.
    unsafe { libc::_exit(code) }
}

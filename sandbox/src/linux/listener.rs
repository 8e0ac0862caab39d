//! System calls that the kernel reports to the supervisor (seccomp_unotify(2)), which refuses them. In a trial of a
//! server, it lets those continue that it only watches.
//!
//! `seccomp` decides which calls these are.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::process::Pid;

/// A call that waits for its answer.
pub(super) struct Call {
    id: u64,
    /// Its number on this architecture.
    pub(super) number: u32,
    /// The thread that made it.
    pub(super) thread: Option<Pid>,
    pub(super) arguments: [u64; 6],
}

/// The supervisor's end of a filter.
pub(super) struct Listener(OwnedFd);

impl Listener {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }

    /// Receives a call. Returns `None` if the caller has ended.
    pub(super) fn receive(&self) -> io::Result<Option<Call>> {
        // SAFETY: the kernel requires all zeros (seccomp_unotify(2)) and writes no more than the structure.
        let notification = unsafe {
            let mut notification: libc::seccomp_notif = std::mem::zeroed();
            if libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification) != 0 {
                return gone(io::Error::last_os_error()).map(|()| None);
            }
            notification
        };
        let thread = i32::try_from(notification.pid).ok().and_then(Pid::from_raw);
        let libc::seccomp_data { nr, args: arguments, .. } = notification.data;
        Ok(Some(Call { id: notification.id, number: nr as u32, thread, arguments }))
    }

    /// Answers with EPERM.
    pub(super) fn refuse(&self, call: &Call) -> io::Result<()> {
        self.answer(libc::seccomp_notif_resp { id: call.id, val: 0, error: -libc::EPERM, flags: 0 })
    }

    /// Lets the call continue, as if there were no listener.
    pub(super) fn allow(&self, call: &Call) -> io::Result<()> {
        let flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        self.answer(libc::seccomp_notif_resp { id: call.id, val: 0, error: 0, flags })
    }

    fn answer(&self, response: libc::seccomp_notif_resp) -> io::Result<()> {
        // SAFETY: the kernel reads the structure, which outlives the call.
        if unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) }
            != 0
        {
            return gone(io::Error::last_os_error());
        }
        Ok(())
    }
}

/// Expected errors: the calling thread was killed, or a signal interrupted the call.
fn gone(error: io::Error) -> io::Result<()> {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

//! Refused system calls, reported to the supervisor by the kernel (seccomp_unotify(2)) and never carried out.
//!
//! `seccomp` decides which calls these are. Every call that arrives here is refused.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::seccomp;

/// The result of a notification.
pub(super) enum Refused {
    /// The call was answered with EPERM.
    Answered(u32),
    /// The command must be ended because of the call.
    Fatal(u32),
}

/// The supervisor's end of a filter.
pub(super) struct Listener(OwnedFd);

impl Listener {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }

    /// Receives one notification and answers it. Returns `None` if the caller has ended.
    pub(super) fn serve(&self) -> io::Result<Option<Refused>> {
        // SAFETY: the kernel requires all zeros (seccomp_unotify(2)) and writes no more than the structure.
        let notification = unsafe {
            let mut notification: libc::seccomp_notif = std::mem::zeroed();
            if libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification) != 0 {
                return gone(io::Error::last_os_error());
            }
            notification
        };
        let number = notification.data.nr as u32;
        if seccomp::is_dangerous(number) {
            return Ok(Some(Refused::Fatal(number)));
        }
        let response =
            libc::seccomp_notif_resp { id: notification.id, val: 0, error: -libc::EPERM, flags: 0 };
        // SAFETY: the kernel reads the structure, which outlives the call.
        if unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const response) }
            != 0
        {
            return gone(io::Error::last_os_error());
        }
        Ok(Some(Refused::Answered(number)))
    }
}

/// Expected errors: the calling thread was killed, or a signal interrupted the call.
fn gone(error: io::Error) -> io::Result<Option<Refused>> {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EINTR) => Ok(None),
        _ => Err(error),
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

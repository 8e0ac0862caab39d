//! Refused system calls, told to the supervisor by the kernel itself (seccomp_unotify(2)) and never carried out.
//!
//! Leaves which calls these are to `seccomp`: whatever arrives here is refused.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::seccomp;

/// What a notice means for the command.
pub(super) enum Refused {
    /// The call was answered with EPERM.
    Answered(u32),
    /// The command is to be ended for it.
    Fatal(u32),
}

/// The supervisor's end of a filter.
pub(super) struct Listener(OwnedFd);

impl Listener {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }

    /// Takes one notice and answers it. `None` where the caller ended meanwhile.
    pub(super) fn serve(&self) -> io::Result<Option<Refused>> {
        // SAFETY: all zeros is what the kernel asks for (seccomp_unotify(2)); it writes no more than the structure.
        let notice = unsafe {
            let mut notice: libc::seccomp_notif = std::mem::zeroed();
            if libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notice) != 0 {
                return gone(io::Error::last_os_error());
            }
            notice
        };
        let number = notice.data.nr as u32;
        if seccomp::is_dangerous(number) {
            return Ok(Some(Refused::Fatal(number)));
        }
        let answer = libc::seccomp_notif_resp { id: notice.id, val: 0, error: -libc::EPERM, flags: 0 };
        // SAFETY: the kernel reads the structure, which outlives the call.
        if unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) } != 0
        {
            return gone(io::Error::last_os_error());
        }
        Ok(Some(Refused::Answered(number)))
    }
}

/// The calling thread was killed, or a signal came between.
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

//! Installs compiled filters (`seccomp(2)`), silently or with a listener.
//!
//! `no_new_privs` is already set. Other modules build the filters.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

use seccompiler::BpfProgram;

use crate::platform::control::{self, Status};

/// Applies a filter to this thread.
pub(super) fn silent(filter: &BpfProgram) -> io::Result<()> {
    install(filter, 0).map(drop)
}

/// Applies a filter to this thread. The returned descriptor receives its notifications.
pub(super) fn notifying(filter: &BpfProgram) -> io::Result<OwnedFd> {
    let descriptor = install(filter, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?;
    // SAFETY: the kernel has just made it for this process, close-on-exec (seccomp(2)).
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn install(filter: &BpfProgram, flags: libc::c_ulong) -> io::Result<i32> {
    let length = u16::try_from(filter.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut().cast() };
    // SAFETY: the kernel reads the program, whose length is given and which outlives the call.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
    i32::try_from(result).ok().filter(|result| *result >= 0).ok_or_else(io::Error::last_os_error)
}

/// Sends the listener to the supervisor. After the first filter, only this is called.
pub(super) fn send_listener(listener: &OwnedFd, channel: &File) -> io::Result<()> {
    let frame = control::frame(&Status::Listening)?;
    control::send_with(channel, channel, &frame, &[listener.as_fd()])
}

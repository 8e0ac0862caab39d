//! Descriptors of the helper: their numbers, and which of them stay open.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use crate::error::failed;
use crate::{Failure, Step};

/// The broker's descriptor number in the child.
pub(super) const BROKER_DESCRIPTOR: i32 = 3;

/// Private descriptors of the helper have this number or a higher one, above the child's own.
const FIRST_PRIVATE_DESCRIPTOR: i32 = 10;

/// A copy of a descriptor, above the numbers of the child's own descriptors.
pub(super) fn private(descriptor: &impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::fcntl_dupfd_cloexec(descriptor, FIRST_PRIVATE_DESCRIPTOR)?)
}

/// Sets standard input, and the broker at its number. Without `input`, standard input is an empty pipe and not
/// `/dev/null`, because a child started by root could change that device's mode.
pub(super) fn place_descriptors(
    input: Option<OwnedFd>,
    expects_broker: bool,
    broker: Option<OwnedFd>,
) -> Result<bool, Failure> {
    let input = match input {
        Some(input) => input,
        None => io::pipe().map_err(failed(Step::Descriptors, "standard input"))?.0.into(),
    };
    place(input.as_raw_fd(), 0, "standard input")?;
    match broker {
        Some(broker) => {
            // It may have been received at its final number, where dup3 would fail.
            let aside = private(&broker).map_err(failed(Step::Descriptors, "the broker"))?;
            drop(broker);
            place(aside.as_raw_fd(), BROKER_DESCRIPTOR, "the broker")?;
            Ok(true)
        }
        None if expects_broker => {
            Err(Failure::new(Step::Descriptors, "the broker, which was not received", libc::EBADF))
        }
        None => Ok(false),
    }
}

fn place(from: i32, to: i32, subject: &str) -> Result<(), Failure> {
    // SAFETY: `from` is open; nothing in this process owns `to` (0, or 3, which private descriptors stay clear of).
    if unsafe { libc::dup3(from, to, 0) } == to {
        return Ok(());
    }
    Err(failed(Step::Descriptors, subject)(io::Error::last_os_error()))
}

/// Closes all descriptors except these. Then the output pipes and the broker close with the last of the
/// command's processes, and descriptors that the host leaked are not held open.
pub(super) fn keep_only(files: &[&File]) {
    let _ = rustix::process::chdir("/");
    let mut kept: Vec<i32> = files.iter().map(|file| file.as_raw_fd()).collect();
    kept.sort_unstable();
    let mut first = 0;
    for kept in kept.into_iter().chain([i32::MAX]) {
        if first < kept {
            // SAFETY: this process never returns to what opened these, and never drops their owners.
            unsafe { libc::syscall(libc::SYS_close_range, first, kept - 1, 0) };
        }
        first = kept.saturating_add(1);
    }
}

pub(super) fn close_on_exec_from(first: i32) -> Result<(), Failure> {
    // SAFETY: only sets a flag on descriptors (close_range(2), CLOSE_RANGE_CLOEXEC).
    let result = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if result == 0 {
        Ok(())
    } else {
        Err(failed(Step::Descriptors, "close_range")(io::Error::last_os_error()))
    }
}

//! Reads the socket from the host without being woken when the host reads from it.
//!
//! A thread that waits in `recv(2)` wakes up for everything that happens to its socket, also when there is room to write
//! again. One that waits in `poll(2)` wakes up only for what it waits for.

use std::ffi::{c_int, c_short, c_ulong};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// The host's messages.
pub(super) struct Reader(pub(super) UnixStream);

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut polled = PollFd { descriptor: self.0.as_raw_fd(), events: POLLIN, returned: 0 };
        // SAFETY: `polled` is one valid entry. If this fails, reading waits instead.
        unsafe { poll(&raw mut polled, 1, NO_LIMIT) };
        self.0.read(buffer)
    }
}

/// No time limit of `poll(2)`.
const NO_LIMIT: c_int = -1;

/// There is something to read, or nothing more will be (poll(2); the same number on all of Linux).
const POLLIN: c_short = 1;

/// `struct pollfd` (poll(2)).
#[repr(C)]
struct PollFd {
    descriptor: c_int,
    events: c_short,
    returned: c_short,
}

unsafe extern "C" {
    fn poll(polled: *mut PollFd, count: c_ulong, timeout: c_int) -> c_int;
}

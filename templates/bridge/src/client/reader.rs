//! Reads the socket from the host without being woken when the host reads from it.
//!
//! A thread that waits in `recv(2)` wakes up for everything that happens to its socket, also when there is room to write
//! again. One that waits in `poll(2)` wakes up only for what it waits for.

use std::ffi::{c_int, c_short, c_ulong};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::thread::yield_now;
use std::time::{Duration, Instant};

use crate::short_waits::{SHORT, ShortWaits};

/// The host's messages.
pub(super) struct Reader {
    stream: UnixStream,
    waits: ShortWaits,
    /// The time left for busy waits, which count towards the program's processor time.
    busy_time: Duration,
}

impl Reader {
    /// Reads from `stream`, with busy waits of up to `busy_time` in total.
    pub(super) fn new(stream: UnixStream, busy_time: Duration) -> Self {
        Reader { stream, waits: ShortWaits::default(), busy_time }
    }

    /// Polls for a message if one is expected soon; returns whether there is one.
    fn busy_wait(&mut self, since: Instant) -> bool {
        if !self.waits.are_expected() || self.busy_time.is_zero() {
            return false;
        }
        let mut is_ready = poll_once(&self.stream, NO_WAIT);
        while !is_ready && since.elapsed() < SHORT {
            yield_now();
            is_ready = poll_once(&self.stream, NO_WAIT);
        }
        self.busy_time = self.busy_time.saturating_sub(since.elapsed());
        is_ready
    }
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let since = Instant::now();
        if !self.busy_wait(since) {
            // If polling fails, reading waits instead.
            poll_once(&self.stream, UNTIL_READY);
        }
        self.waits.record(since.elapsed());
        self.stream.read(buffer)
    }
}

/// Timeouts of `poll(2)`, in milliseconds.
const NO_WAIT: c_int = 0;
const UNTIL_READY: c_int = -1;

/// There is something to read, or nothing more will be (poll(2); the same number on all of Linux).
const POLLIN: c_short = 1;

/// Whether there is something to read within this time.
fn poll_once(stream: &UnixStream, timeout: c_int) -> bool {
    let mut polled = PollFd { descriptor: stream.as_raw_fd(), events: POLLIN, returned: 0 };
    // SAFETY: `polled` is one valid entry.
    unsafe { poll(&raw mut polled, 1, timeout) > 0 }
}

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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn it_polls_while_messages_follow_each_other_quickly_and_not_for_longer_than_allowed() {
        let (mut host, program) = UnixStream::pair().unwrap();
        let mut reader = Reader::new(program, SHORT);
        assert!(!reader.busy_wait(Instant::now()));
        assert_eq!(reader.busy_time, SHORT);
        // Many, because this test may be interrupted.
        (0..100).for_each(|_| reader.waits.record(Duration::ZERO));
        host.write_all(b"a").unwrap();
        assert!(reader.busy_wait(Instant::now()));
        assert_eq!(reader.read(&mut [0; 2]).unwrap(), 1);
        // There is nothing to read, so this uses the rest of the time.
        assert!(!reader.busy_wait(Instant::now()));
        assert!(reader.busy_time.is_zero());
        host.write_all(b"b").unwrap();
        assert!(!reader.busy_wait(Instant::now()));
        assert_eq!(reader.read(&mut [0; 2]).unwrap(), 1);
    }
}

//! How a supervisor keeps its command from taking more than its share: it lets the session yield to others once the kernel
//! allows it, and counts its own time as the command's (`processor_time`).

use std::fs::File;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::descriptors::private;
use super::processor_time::Account;
use crate::Limits;

/// Time between two rounds. Without privileges, the kernel allows one change of a session's niceness on the whole machine
/// within 100 ms (`proc_sched_autogroup_set_nice`).
const INTERVAL: Duration = Duration::from_millis(100);

/// What is still to be done.
pub(super) struct Oversight {
    session: Option<Session>,
    next: Instant,
    pub(super) account: Account,
}

impl Oversight {
    /// Does what can be done at once.
    pub(super) fn begin(limits: &Limits) -> Self {
        let session = Session::open(limits.niceness).and_then(Session::yield_to_others);
        let account = Account::new(limits.cpu_seconds);
        Oversight { session, next: Instant::now() + INTERVAL, account }
    }

    /// The descriptors that it needs.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = &File> {
        self.session.iter().map(|session| &session.file)
    }

    /// Time until the next round, if there is something left to do.
    pub(super) fn until_next(&self) -> Option<Duration> {
        self.session.is_some().then(|| self.next.saturating_duration_since(Instant::now()))
    }

    /// Makes the round if it is due.
    pub(super) fn attend(&mut self) {
        if self.until_next() == Some(Duration::ZERO) {
            self.session = self.session.take().and_then(Session::yield_to_others);
            self.next = Instant::now() + INTERVAL;
        }
    }
}

/// A session that does not yield to others yet.
struct Session {
    /// Opened before the process hides its memory, because its files in /proc then belong to root (proc(5)).
    file: File,
    niceness: u8,
}

impl Session {
    /// `None` if it has nothing to do: kernels without autogroups have no such file.
    fn open(niceness: u8) -> Option<Self> {
        if niceness == 0 {
            return None;
        }
        let file =
            openat(CWD, "/proc/self/autogroup", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        Some(Session { file: private(&file).ok()?.into(), niceness })
    }

    /// Lets the session yield to other sessions like a process of this niceness. Returns it if the kernel refuses for now.
    ///
    /// Kernels with autogroups schedule each session as one group; `nice(2)` then counts only within it (`sched(7)`, "The
    /// autogroup feature"). A failure costs other work processor time and nothing else, so it is ignored.
    fn yield_to_others(mut self) -> Option<Self> {
        match self.file.write(self.niceness.to_string().as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(self),
            _ => None,
        }
    }
}

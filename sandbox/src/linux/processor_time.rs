//! Processor time that a supervisor and its processes have used, and that counts against the command's limit.

use std::io;
use std::time::Duration;

use rustix::process::Pid;

use super::limits;

/// The time that a supervisor spends for its command, which counts like the command's own.
pub(super) struct Account {
    /// The command's limit, in seconds.
    limit: Option<u64>,
    /// This process's time when the command began.
    before: Duration,
    /// Seconds by which the limit has been lowered.
    charged: u64,
}

impl Account {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Account { limit, before: used_by(libc::RUSAGE_SELF), charged: 0 }
    }

    /// The command begins.
    pub(super) fn begin(&mut self) {
        self.before = used_by(libc::RUSAGE_SELF);
    }

    /// The time since the command began.
    pub(super) fn spent(&self) -> Duration {
        used_by(libc::RUSAGE_SELF).saturating_sub(self.before)
    }

    /// Lowers the limit of the process that has this thread by what was spent, in whole seconds.
    ///
    /// The kernel then ends the process as if it had used the time itself.
    pub(super) fn charge(&mut self, thread: Pid) -> io::Result<()> {
        let spent = self.spent().as_secs();
        if let Some(limit) = self.limit.filter(|_| spent > self.charged) {
            self.charged = spent;
            // Kernels differ in the meaning of 0.
            limits::lower_processor_time(thread, limit.saturating_sub(spent).max(1))?;
        }
        Ok(())
    }
}

/// The time of all reaped processes, and of those that they have reaped.
pub(super) fn of_children() -> Duration {
    used_by(libc::RUSAGE_CHILDREN)
}

/// The time in user mode and in the kernel (getrusage(2)).
fn used_by(whom: libc::c_int) -> Duration {
    // SAFETY: all bits zero is a valid value of this structure of numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one structure through the pointer.
    if unsafe { libc::getrusage(whom, &raw mut usage) } != 0 {
        return Duration::ZERO;
    }
    [usage.ru_utime, usage.ru_stime].into_iter().map(duration).sum()
}

fn duration(time: libc::timeval) -> Duration {
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    Duration::from_secs(part(time.tv_sec)) + Duration::from_micros(part(time.tv_usec))
}

//! The resources that this process uses.

use std::time::Duration;

use rustix::param::page_size;

/// The resources at one moment.
pub(super) struct Process {
    /// Processor time of this process in user and kernel mode, without its children.
    pub(super) processor: Duration,
    /// Resident memory, in bytes.
    pub(super) resident: u64,
    /// The number of open file descriptors.
    pub(super) descriptors: usize,
}

impl Process {
    /// Reads the figures of this process; `None` without Linux's `/proc` (proc_pid_statm(5), proc_pid_stat(5)).
    pub(super) fn of_this() -> Option<Self> {
        let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
        let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
        let descriptors = std::fs::read_dir("/proc/self/fd").ok()?.count();
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(Process {
            processor: Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?),
            resident: pages.saturating_mul(page_size().try_into().ok()?),
            // Reading the folder opens one more.
            descriptors: descriptors.saturating_sub(1),
        })
    }
}

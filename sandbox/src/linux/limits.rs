//! Resource limits (`setrlimit(2)`), and which processes yield to others.
//!
//! These limits apply to each process. The caller limits wall-clock time; `cgroup` limits the memory of a
//! whole tree.

use std::{fs, io};

use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

use crate::error::failed;
use crate::{Failure, Limits, Step};

/// Seconds between SIGXCPU and SIGKILL.
const CPU_GRACE: u64 = 1;

/// Threads and processes of all users on the machine: the fourth field of /proc/loadavg. It is an upper bound
/// for what RLIMIT_NPROC counts for this user, and costs one read and no walk over /proc.
#[must_use]
pub fn tasks_on_machine() -> u64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let total =
        text.split(' ').nth(3).and_then(|field| field.split('/').nth(1)).and_then(|total| total.parse().ok());
    // Without /proc, the limit is higher than necessary but still set.
    total.unwrap_or(UNKNOWN_TASKS)
}

/// Assumed if the number of tasks cannot be read.
const UNKNOWN_TASKS: u64 = 4096;

/// Applies all limits. `tasks` is the result of [`tasks_on_machine`].
pub(super) fn apply(limits: &Limits, tasks: u64) -> Result<(), Failure> {
    let hard_cpu = limits.cpu_seconds.map(|seconds| seconds.saturating_add(CPU_GRACE));
    let both = |value: Option<u64>| (value, value);
    let resources = [
        ("core", Resource::Core, (Some(0), Some(0))),
        ("memlock", Resource::Memlock, (Some(0), Some(0))),
        ("msgqueue", Resource::Msgqueue, (Some(0), Some(0))),
        ("file_size", Resource::Fsize, both(limits.file_size)),
        ("cpu_seconds", Resource::Cpu, (limits.cpu_seconds, hard_cpu)),
        ("stack", Resource::Stack, both(limits.stack)),
        ("processes", Resource::Nproc, both(limits.processes.map(|more| more.saturating_add(tasks)))),
        ("data", Resource::Data, both(limits.data)),
        ("open_files", Resource::Nofile, both(limits.open_files)),
        ("address_space", Resource::As, both(limits.address_space)),
    ];
    for (name, resource, (soft, hard)) in resources {
        if let (Some(soft), Some(hard)) = (soft, hard) {
            lower(resource, soft, hard).map_err(failed(Step::Limits, name))?;
        }
    }
    Ok(())
}

/// Lets this process, and those that it starts, yield to other work (`nice(2)`).
pub(super) fn yield_processors(niceness: u8) -> Result<(), Failure> {
    if niceness > 0 {
        rustix::process::nice(i32::from(niceness)).map_err(failed(Step::Limits, "niceness"))?;
    }
    Ok(())
}

/// The amount by which the kernel ends this process sooner than another one of the same size, in thousandths of all
/// memory (`oom_score_adj` of proc_pid_oom_score_adj(5)): a process without memory of its own goes before one with half
/// of it.
const SOONER: i32 = 500;

/// The largest value of such a score.
const FIRST: i32 = 1000;

/// Lets the kernel end this process and those that it starts before the host, if the machine runs out of memory.
///
/// A failure leaves it to the kernel which one ends, so it is ignored.
pub(super) fn yield_memory() {
    const FILE: &str = "/proc/self/oom_score_adj";
    let Some(own) = fs::read_to_string(FILE).ok().and_then(|own| own.trim().parse::<i32>().ok()) else {
        return;
    };
    let _ = fs::write(FILE, own.saturating_add(SOONER).min(FIRST).to_string());
}

/// Lowers the limit of processor time of the process that has this thread. It may have ended.
pub(super) fn lower_processor_time(thread: Pid, seconds: u64) -> io::Result<()> {
    let limit = within_own(Resource::Cpu, seconds, seconds.saturating_add(CPU_GRACE));
    match prlimit(Some(thread), Resource::Cpu, limit) {
        Ok(_) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn lower(resource: Resource, soft: u64, hard: u64) -> Result<(), Errno> {
    setrlimit(resource, within_own(resource, soft, hard))
}

/// A limit, but never above the existing hard limit of this process.
fn within_own(resource: Resource, soft: u64, hard: u64) -> Rlimit {
    let hard = hard.min(getrlimit(resource).maximum.unwrap_or(u64::MAX));
    Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) }
}

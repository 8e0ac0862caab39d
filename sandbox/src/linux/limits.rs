//! Resource limits (`setrlimit(2)`).
//!
//! Leaves time on the clock to the caller and memory of a whole tree to nobody: these hold per process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::error::failed;
use crate::{Failure, Limits, Step};

/// Seconds between SIGXCPU and SIGKILL.
const CPU_GRACE: u64 = 1;

/// Threads and processes of the whole machine, of all users: the fourth field of /proc/loadavg. It bounds from
/// above what RLIMIT_NPROC counts for this user, at the price of one read instead of a walk over /proc.
pub(super) fn tasks_on_machine() -> u64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let total =
        text.split(' ').nth(3).and_then(|field| field.split('/').nth(1)).and_then(|total| total.parse().ok());
    // Without /proc the limit is higher than need be, never absent.
    total.unwrap_or(UNKNOWN_TASKS)
}

/// Assumed where the number of tasks cannot be read.
const UNKNOWN_TASKS: u64 = 4096;

/// Applies all limits. `tasks` is what [`tasks_on_machine`] said.
pub(super) fn apply(limits: &Limits, tasks: u64) -> Result<(), Failure> {
    let hard_cpu = limits.cpu_seconds.map(|seconds| seconds.saturating_add(CPU_GRACE));
    let both = |value: Option<u64>| (value, value);
    let wanted = [
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
    for (name, resource, (soft, hard)) in wanted {
        if let (Some(soft), Some(hard)) = (soft, hard) {
            lower(resource, soft, hard).map_err(failed(Step::Limits, name))?;
        }
    }
    if limits.niceness > 0 {
        rustix::process::nice(i32::from(limits.niceness)).map_err(failed(Step::Limits, "niceness"))?;
    }
    Ok(())
}

/// Sets a limit, never above the hard limit there is.
fn lower(resource: Resource, soft: u64, hard: u64) -> Result<(), rustix::io::Errno> {
    let existing = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let hard = hard.min(existing);
    setrlimit(resource, Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) })
}

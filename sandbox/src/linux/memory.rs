//! Available memory: the kernel's own estimate, and what the control groups of this process allow.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use super::cgroup::own_group;

/// Bytes of memory available for new work without swapping, as the kernel estimates it (`MemAvailable` of
/// proc_meminfo(5)), or the memory left in a control group (version 2) of this process, if that is less. `None` if
/// neither is known.
#[must_use]
pub fn available_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    [machine, of_groups()].into_iter().flatten().min()
}

fn of_machine(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// The least memory left in this process's group and the groups above it.
fn of_groups() -> Option<u64> {
    // Read once: a process may be moved to another group, but the hierarchy stays where it is mounted.
    static MOUNTS: OnceLock<String> = OnceLock::new();
    let mounts = match MOUNTS.get() {
        Some(mounts) => mounts,
        None => {
            let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
            MOUNTS.get_or_init(|| mounts)
        }
    };
    let (mount, own) = own_group(mounts, &fs::read_to_string("/proc/self/cgroup").ok()?)?;
    own.ancestors().take_while(|group| group.starts_with(&mount)).filter_map(of_group).min()
}

fn of_group(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let max = read("memory.max")?;
    // Most groups have no limit, and the kernel adds up statistics when they are read.
    if max.trim() == "max" {
        return None;
    }
    left(&max, &read("memory.current")?, &read("memory.stat").unwrap_or_default())
}

/// The memory left in a group. Inactive file pages count as its memory, but the kernel reclaims them when
/// more is needed (cgroup v2, "memory.stat"). `None` for a group without a limit.
fn left(max: &str, current: &str, stat: &str) -> Option<u64> {
    let max: u64 = max.trim().parse().ok()?;
    let current: u64 = current.trim().parse().ok()?;
    let reclaimable = stat.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse().ok());
    Some(max.saturating_sub(current.saturating_sub(reclaimable.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_estimate() {
        let meminfo = "MemTotal:       24683212 kB\nMemFree: 1 kB\nMemAvailable:    2048 kB\nBuffers: 3 kB\n";
        assert_eq!(of_machine(meminfo), Some(2 << 20));
        assert_eq!(of_machine("MemTotal: 24683212 kB\n"), None);
        assert_eq!(of_machine("MemAvailable: lots kB\n"), None);
        assert!(available_memory().is_some_and(|bytes| bytes > 0));
    }

    #[test]
    fn inactive_file_pages_count_as_available() {
        let stat = "anon 1\ninactive_file 100\nactive_file 7\n";
        assert_eq!(left("1000\n", "400\n", stat), Some(700));
        assert_eq!(left("1000\n", "400\n", ""), Some(600));
        assert_eq!(left("1000\n", "2000\n", ""), Some(0));
        assert_eq!(left("max\n", "400\n", stat), None);
    }
}

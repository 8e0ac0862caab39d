//! Control groups, version 2: limits on memory and tasks of all processes of a child together, and their share of the
//! processors, if groups are delegated.
//!
//! The group is created next to this process's own group or above it, in the nearest one that delegates the
//! `memory` and `pids` controllers and is writable for this user, as systemd does for a user's services
//! (cgroups(7)). Nothing that exists is moved or changed. Limits of single processes are in `limits`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Evidence, Limits};

/// The prefix of group names. The creator's process id and a count follow.
const PREFIX: &str = "sandbox-";

/// The files of a group that limit all its processes together.
const CONTROLS: [&str; 2] = ["memory.max", "pids.max"];

/// The group of one child. Dropping it removes the group if the child's processes have ended.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// Creates an empty group without limits in a parent found by [`place`].
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        let group = Self(make_folder(parent)?);
        if let Some(missing) = CONTROLS.iter().find(|name| !group.0.join(name).exists()) {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("its groups have no {missing}")));
        }
        Ok(group)
    }

    /// Sets the limits that apply to all processes together.
    pub(super) fn limit(&self, limits: &Limits) -> io::Result<()> {
        for (name, value) in CONTROLS.into_iter().zip([limits.total_memory, limits.total_tasks]) {
            if let Some(value) = value {
                self.write(name, &value.to_string())?;
            }
        }
        // A kernel without swap has no such file, and needs no limit.
        self.write_if_exists("memory.swap.max", "0")?;
        // Exists if `cpu` is delegated too. All processes of the child then weigh like one of this niceness beside the host's
        // group, which weighs like one of 0.
        self.write_if_exists("cpu.weight.nice", &limits.niceness.to_string())
    }

    /// Moves a process into the group. Processes that it starts afterwards are in the group too.
    pub(super) fn add(&self, process: u32) -> io::Result<()> {
        self.write("cgroup.procs", &process.to_string())
    }

    /// Writes to a file of the group. Without `O_CREAT`, for which a missing file would be a lack of rights (EACCES).
    fn write(&self, name: &str, value: &str) -> io::Result<()> {
        OpenOptions::new().write(true).open(self.0.join(name))?.write_all(value.as_bytes())
    }

    fn write_if_exists(&self, name: &str, value: &str) -> io::Result<()> {
        match self.write(name, value) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }

    /// Records which limits took effect.
    pub(super) fn record(&self, evidence: &mut Evidence) {
        evidence.out_of_memory = self.count("memory.events", "oom_kill") > 0;
        evidence.out_of_tasks |= self.count("pids.events", "max") > 0;
    }

    fn count(&self, file: &str, event: &str) -> u64 {
        let text = fs::read_to_string(self.0.join(file)).unwrap_or_default();
        let mut counts = text.lines().filter_map(|line| line.split_once(' '));
        counts.find(|(name, _)| *name == event).and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group that remains because a process was still ending is removed by the user's next process.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Creates a group's folder under an unused name.
fn make_folder(parent: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{PREFIX}{}-{count}", std::process::id()));
        match fs::create_dir(&folder) {
            // Left by a killed process with the same id, or used by one in another process namespace that has
            // the id now.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
}

/// The group in which children's groups can be created, or the reason why none can. Determined once.
pub(super) fn place() -> Result<&'static Path, &'static str> {
    static PLACE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PLACE.get_or_init(find).as_deref().map_err(String::as_str)
}

fn find() -> Result<PathBuf, String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let (mount, own) = own_group(&mounts, &own).ok_or("control groups version 2 are not mounted")?;
    let mut reason = format!("{} does not delegate the `memory` and `pids` controllers", own.display());
    for parent in own.ancestors().take_while(|parent| parent.starts_with(&mount)) {
        if !delegates(&fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap_or_default()) {
            continue;
        }
        remove_stale(parent);
        match Group::create(parent) {
            Ok(_) => return Ok(parent.to_owned()),
            Err(error) => reason = format!("cannot create a group in {}: {error}", parent.display()),
        }
    }
    Err(reason)
}

/// The mount point of version 2, and the folder of this process's own group.
pub(super) fn own_group(mounts: &str, own: &str) -> Option<(PathBuf, PathBuf)> {
    let own = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        // proc_pid_mountinfo(5): id, parent, device, root, mount point, …, `-`, type, …
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, mount) = (fields.next()?, Path::new(fields.next()?));
        if !kind.starts_with("cgroup2 ") {
            return None;
        }
        let relative = Path::new(own).strip_prefix(root).ok()?;
        Some((mount.to_owned(), mount.join(relative)))
    })
}

fn delegates(controllers: &str) -> bool {
    ["memory", "pids"].iter().all(|name| controllers.split_whitespace().any(|found| found == *name))
}

/// Removes groups of processes that were killed before they could. A group in use cannot be removed.
fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('-').next());
        if maker.is_some_and(|maker| !Path::new("/proc").join(maker).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policy;

    #[test]
    fn a_group_gets_the_limits_for_which_it_has_files() {
        let parent = tempfile::tempdir().expect("a folder");
        let group = Group(parent.path().to_owned());
        let limits = Policy::program().limits;
        let read = |name: &str| fs::read_to_string(parent.path().join(name)).ok();
        CONTROLS.iter().for_each(|name| fs::write(parent.path().join(name), "").expect("a file"));
        group.limit(&limits).expect("memory and pids are delegated");
        assert_eq!(read("memory.max"), limits.total_memory.map(|bytes| bytes.to_string()));
        assert_eq!(read("pids.max"), limits.total_tasks.map(|tasks| tasks.to_string()));
        assert_eq!((read("memory.swap.max"), read("cpu.weight.nice")), (None, None));
        for name in ["memory.swap.max", "cpu.weight.nice"] {
            fs::write(parent.path().join(name), "").expect("a file");
        }
        group.limit(&limits).expect("all are delegated");
        assert_eq!(read("memory.swap.max").as_deref(), Some("0"));
        assert_eq!(read("cpu.weight.nice"), Some(limits.niceness.to_string()));
        std::mem::forget(group);
    }

    #[test]
    fn finds_the_own_group_under_its_mount() {
        let mounts = "21 1 0:20 / /sys rw - sysfs sysfs rw\n\
            30 21 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
            31 21 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        let own = "8:pids:/\n0::/user.slice/user@1000.service/app.slice\n";
        let (mount, group) = own_group(mounts, own).expect("both exist");
        assert_eq!(mount, Path::new("/sys/fs/cgroup"));
        assert_eq!(group, Path::new("/sys/fs/cgroup/user.slice/user@1000.service/app.slice"));
        assert_eq!(own_group(mounts, "8:pids:/\n"), None);
        assert_eq!(own_group("21 1 0:20 / /sys rw - sysfs sysfs rw\n", own), None);
        // A container that sees a part of the tree.
        let part = "31 21 0:27 /user.slice /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(
            own_group(part, own).expect("a part").1,
            Path::new("/sys/fs/cgroup/user@1000.service/app.slice")
        );
    }

    #[test]
    fn names_left_by_dead_processes_are_skipped() {
        let parent = tempfile::tempdir().expect("a folder");
        let first = make_folder(parent.path()).expect("a group");
        let (name, count) =
            first.to_str().and_then(|name| name.rsplit_once('-')).expect("a name with a count");
        let count: u64 = count.parse().expect("a count");
        for stale in 1..10 {
            fs::create_dir(format!("{name}-{}", count + stale)).expect("a stale group");
        }
        let next = make_folder(parent.path()).expect("another group");
        assert_ne!(next, first);
        assert_eq!(fs::read_dir(parent.path()).expect("the folder").count(), 11);
    }

    #[test]
    fn both_controllers_are_required() {
        assert!(delegates("cpu memory pids"));
        assert!(!delegates("cpu memory"));
        assert!(!delegates("memory_recursiveprot pids"));
    }
}

//! Control groups, version 2: memory and tasks of all processes of a child together, where a group may be made.
//!
//! A group is made beside this process's own or above it, in the nearest one whose `memory` and `pids` controllers are
//! handed down and where this user may write, as systemd delegates it to a user's services (cgroups(7)). Nothing that exists
//! is moved or changed. Leaves limits of single processes to `limits`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Evidence, Limits};

/// What this crate's groups are called; the maker's process id and a count follow.
const PREFIX: &str = "sandbox-";

/// The files of a group that limit what all its processes have together.
const CONTROLS: [&str; 2] = ["memory.max", "pids.max"];

/// The group of one child. Dropping it removes it, when the child's processes are gone.
#[derive(Debug)]
pub(super) struct Group(PathBuf);

impl Group {
    /// An empty group without limits in the place that [`place`] found.
    pub(super) fn create(parent: &Path) -> io::Result<Self> {
        let group = Self(make(parent)?);
        if let Some(missing) = CONTROLS.iter().find(|name| !group.0.join(name).exists()) {
            return Err(io::Error::new(io::ErrorKind::NotFound, format!("its groups have no {missing}")));
        }
        Ok(group)
    }

    /// Sets the limits that hold for all processes together.
    pub(super) fn limit(&self, limits: &Limits) -> io::Result<()> {
        for (name, value) in CONTROLS.into_iter().zip([limits.total_memory, limits.total_tasks]) {
            if let Some(value) = value {
                fs::write(self.0.join(name), value.to_string())?;
            }
        }
        // Without swap in the kernel there is no such file, and nothing to forbid.
        match fs::write(self.0.join("memory.swap.max"), "0") {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Moves a process into the group; what it starts from then on begins there.
    pub(super) fn add(&self, process: u32) -> io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), process.to_string())
    }

    /// Adds what the group's limits did.
    pub(super) fn tell(&self, evidence: &mut Evidence) {
        evidence.out_of_memory = self.count("memory.events", "oom_kill") > 0;
        evidence.out_of_tasks = self.count("pids.events", "max") > 0;
    }

    fn count(&self, file: &str, event: &str) -> u64 {
        let text = fs::read_to_string(self.0.join(file)).unwrap_or_default();
        let mut counts = text.lines().filter_map(|line| line.split_once(' '));
        counts.find(|(name, _)| *name == event).and_then(|(_, count)| count.parse().ok()).unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What remains, because a process was still ending, the next process of this user takes away.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Makes a folder for a group under a name that nobody has.
fn make(parent: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{PREFIX}{}-{count}", std::process::id()));
        match fs::create_dir(&folder) {
            // Of a killed process that had the same id, or of one in another process namespace that has it now.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|()| folder),
        }
    }
}

/// Where groups can be made; the error says why nowhere. Found out once.
pub(super) fn place() -> Result<&'static Path, &'static str> {
    static PLACE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PLACE.get_or_init(find).as_deref().map_err(String::as_str)
}

fn find() -> Result<PathBuf, String> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let (mount, own) = own_group(&mounts, &own).ok_or("no control groups of version 2 are mounted")?;
    let mut reason = format!("{} hands down no `memory` and `pids` controllers", own.display());
    for parent in own.ancestors().take_while(|parent| parent.starts_with(&mount)) {
        if !hands_down(&fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap_or_default()) {
            continue;
        }
        remove_stale(parent);
        match Group::create(parent) {
            Ok(_) => return Ok(parent.to_owned()),
            Err(error) => reason = format!("no group can be made in {}: {error}", parent.display()),
        }
    }
    Err(reason)
}

/// The mount of version 2, and the folder of this process's own group.
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
        let beneath = Path::new(own).strip_prefix(root).ok()?;
        Some((mount.to_owned(), mount.join(beneath)))
    })
}

fn hands_down(controllers: &str) -> bool {
    ["memory", "pids"].iter().all(|name| controllers.split_whitespace().any(|found| found == *name))
}

/// Groups of processes that were killed before they could remove them. One that is in use cannot be removed.
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

    #[test]
    fn finds_the_own_group_under_its_mount() {
        let mounts = "21 1 0:20 / /sys rw - sysfs sysfs rw\n\
            30 21 0:26 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
            31 21 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        let own = "8:pids:/\n0::/user.slice/user@1000.service/app.slice\n";
        let (mount, group) = own_group(mounts, own).expect("both are there");
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
    fn names_that_a_dead_process_has_left_are_passed_over() {
        let parent = tempfile::tempdir().expect("a folder");
        let first = make(parent.path()).expect("a group");
        let (name, count) =
            first.to_str().and_then(|name| name.rsplit_once('-')).expect("a name with a count");
        let count: u64 = count.parse().expect("a count");
        for stale in 1..10 {
            fs::create_dir(format!("{name}-{}", count + stale)).expect("a stale group");
        }
        let next = make(parent.path()).expect("another group");
        assert_ne!(next, first);
        assert_eq!(fs::read_dir(parent.path()).expect("the folder").count(), 11);
    }

    #[test]
    fn wants_both_controllers() {
        assert!(hands_down("cpu memory pids"));
        assert!(!hands_down("cpu memory"));
        assert!(!hands_down("memory_recursiveprot pids"));
    }
}

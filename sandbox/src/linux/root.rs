//! The child's root: a file system in memory that contains only the granted paths, at their places outside.
//!
//! Mounts are created by descriptor (`open_tree(2)`, `mount_setattr(2)`, Linux 5.12), so what a path named
//! when its mount was cloned is what is mounted. `namespaces` creates the mount namespace.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags,
    UnmountFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen, mount_change, move_mount, open_tree,
    unmount,
};

use super::exec::Executable;
use crate::error::failed;
use crate::policy::{SCRATCH, SCRATCH_FILES};
use crate::{Access, Failure, Grant, MemoryFolder, Policy, Profile, Step};

/// The access allowed under a mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Rights {
    write: bool,
    /// Executing files and mapping code, which libraries need.
    execute: bool,
}

/// A path that will exist in the new root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    path: PathBuf,
    rights: Rights,
    optional: bool,
    /// The outermost folder for writing that contains it. Children may have put links in it, which are not followed.
    within: Option<PathBuf>,
}

/// A mount that has been cloned but is not attached yet.
struct Clone {
    tree: OwnedFd,
    is_folder: bool,
}

/// A path for which the policy asks.
#[derive(Debug, Default)]
struct Requested {
    rights: Rights,
    /// Whether it must exist.
    required: bool,
    /// Whether it may only be read, within a folder that may be written.
    read_only: bool,
    /// Whether it is a mount even with the rights of the folder that contains it: a mount point cannot be renamed.
    stays: bool,
}

/// The mounts for a policy, outer ones first. As with Landlock, the rights of a folder apply to everything in
/// it, except the paths that the policy keeps read-only.
pub(super) fn plan(policy: &Policy, executable: &Executable) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = Vec::new();
    for (path, requested) in requested(policy, executable) {
        let outer = mounts.iter().rev().find(|mount| path.starts_with(&mount.path));
        let inherited = outer.map(|mount| mount.rights).unwrap_or_default();
        let own = requested.rights;
        let write = own.write || inherited.write && !requested.read_only;
        let rights = Rights { write, execute: own.execute || inherited.execute };
        let differs = outer.is_none_or(|mount| mount.rights != rights || mount.optional);
        if differs || requested.stays {
            let writable = outer.filter(|outer| outer.rights.write);
            let within = writable.map(|outer| outer.within.as_ref().unwrap_or(&outer.path).clone());
            mounts.push(Mount { path, rights, optional: !requested.required, within });
        }
    }
    mounts
}

fn requested(policy: &Policy, executable: &Executable) -> BTreeMap<PathBuf, Requested> {
    let tree = policy.profile.is_tree();
    let mut all: BTreeMap<PathBuf, Requested> = BTreeMap::new();
    for grant in &policy.grants {
        let write = grant.access == Access::Write;
        let requested = all.entry(grant.path.clone()).or_default();
        requested.rights.write |= write;
        // A linker and loader map code from any file they read. A program never does.
        requested.rights.execute |= tree && !write;
        requested.required |= !grant.optional;
    }
    // The grants of a server contain its command, which may be a link.
    if tree && policy.profile != Profile::Server {
        let requested = all.entry(executable.path.clone()).or_default();
        requested.rights.execute = true;
        requested.required = true;
    }
    for path in &policy.read_only {
        let is_around = |grant: &&Grant| grant.access == Access::Write && path.starts_with(&grant.path);
        let Some(outermost) = policy.grants.iter().filter(is_around).map(|grant| &grant.path).min() else {
            continue;
        };
        let way = path.ancestors().skip(1).take_while(|folder| folder.starts_with(outermost));
        way.for_each(|folder| all.entry(folder.to_owned()).or_default().stays = true);
        all.entry(path.clone()).or_default().read_only = true;
    }
    all
}

/// Additions to the root besides the mounts.
#[derive(Debug, Default)]
pub(super) struct Extras<'a> {
    /// Size of the child's own scratch space, in bytes.
    pub(super) scratch: Option<u64>,
    /// A clone of shared scratch space, which replaces the child's own.
    pub(super) shared: Option<OwnedFd>,
    /// Folders in memory.
    pub(super) memory: &'a [MemoryFolder],
    /// The contents of `/proc`.
    pub(super) processes: Processes,
}

/// The contents of `/proc`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processes {
    #[default]
    None,
    /// The processes of the namespace. Linkers read their own path there.
    Own,
    /// The processes of the namespace, and what the kernel tells about the machine, such as its processors and its memory.
    OwnAndMachine,
}

/// Builds the new root and makes it the root of this process and its mount namespace.
pub(super) fn replace(mounts: &[Mount], extras: Extras<'_>) -> Result<(), Failure> {
    let quiet = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", quiet).map_err(failed(Step::Root, "separating mounts from the host's"))?;
    let mut clones = Vec::new();
    for mount in mounts {
        if let Some(clone) = clone(mount)? {
            clones.push((mount, clone));
        }
    }
    // The kernel allows this mount only while another fully visible /proc exists (mount_too_revealing in
    // fs/namespace.c), so it comes before the old root is detached.
    let processes = processes(extras.processes).map_err(failed(Step::Root, PROCESSES))?;
    let root =
        memory(&[("mode", "755"), ("size", "1m")]).map_err(failed(Step::Root, "a file system in memory"))?;
    enter(&root).map_err(failed(Step::Root, "changing the root"))?;
    for folder in extras.memory {
        let made = new_memory_folder(folder.bytes).and_then(|tree| place(&tree, &folder.path, true));
        made.map_err(failed(Step::Root, folder.path.display().to_string()))?;
    }
    for (mount, clone) in clones {
        let subject = mount.path.display().to_string();
        place(&clone.tree, &mount.path, clone.is_folder).map_err(failed(Step::Grant, subject))?;
    }
    if let Some(tree) = processes {
        place(&tree, Path::new(PROCESSES), true).map_err(failed(Step::Root, PROCESSES))?;
    }
    let scratch = match (extras.shared, extras.scratch) {
        (Some(tree), _) => place_scratch(&tree),
        (None, Some(bytes)) => new_memory_folder(bytes).and_then(|tree| place_scratch(&tree)),
        (None, None) => Ok(()),
    };
    scratch.map_err(failed(Step::Root, "scratch space"))?;
    if extras.processes == Processes::OwnAndMachine {
        link_descriptors().map_err(failed(Step::Root, "/dev/fd"))?;
    }
    let sealed = MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    restrict(root.as_fd(), sealed | PLAIN, false).map_err(failed(Step::Root, "making the root read-only"))
}

/// No setuid programs and no devices on any mount.
const PLAIN: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// A copy of the mounts at a path. Returns `None` for an optional path that does not exist.
fn clone(mount: &Mount) -> Result<Option<Clone>, Failure> {
    let subject = mount.path.display().to_string();
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    let opened = match &mount.within {
        None => open_tree(CWD, &mount.path, flags),
        Some(folder) => open_within(folder, &mount.path)
            .and_then(|inner| open_tree(inner, "", flags | OpenTreeFlags::AT_EMPTY_PATH)),
    };
    let tree = match opened {
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) if mount.optional => return Ok(None),
        other => other.map_err(failed(Step::Grant, &subject))?,
    };
    let status = rustix::fs::fstat(&tree).map_err(failed(Step::Grant, &subject))?;
    let kind = FileType::from_raw_mode(status.st_mode);
    let mut attributes = PLAIN;
    let is_device = kind == FileType::CharacterDevice;
    if is_device {
        attributes.remove(MountAttrFlags::MOUNT_ATTR_NODEV);
    }
    // Writing to a device does not write to its file system, but changing its mode would.
    if is_device || !mount.rights.write {
        attributes.insert(MountAttrFlags::MOUNT_ATTR_RDONLY);
    }
    if !mount.rights.execute {
        attributes.insert(MountAttrFlags::MOUNT_ATTR_NOEXEC);
    }
    restrict(tree.as_fd(), attributes, true).map_err(failed(Step::Grant, &subject))?;
    Ok(Some(Clone { tree, is_folder: kind == FileType::Directory }))
}

/// Opens a path in a folder without following links on the way from the folder.
fn open_within(folder: &Path, path: &Path) -> rustix::io::Result<OwnedFd> {
    let inner = path.strip_prefix(folder).unwrap_or(path);
    let folder = rustix::fs::open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(folder, inner, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), resolve)
}

/// A new file system in memory, not attached yet.
fn memory(options: &[(&str, &str)]) -> io::Result<OwnedFd> {
    file_system("tmpfs", options)
}

fn file_system(kind: &str, options: &[(&str, &str)]) -> io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(context.as_fd(), *name, *value)?;
    }
    fsconfig_create(context.as_fd())?;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, PLAIN)?)
}

/// Enters `root` and detaches everything else.
fn enter(root: &OwnedFd) -> io::Result<()> {
    // A mount must be attached before it can become the root. What it hides is detached with the old root.
    move_mount(root, "", CWD, "/dev", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    rustix::process::fchdir(root)?;
    // With both at the same place, the old root is stacked on the new one, and is then unmounted
    // (pivot_root(2)).
    rustix::process::pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(rustix::process::chdir("/")?)
}

/// Attaches a mount at a path of the new root, and creates the folders or the file that it needs.
fn place(tree: &OwnedFd, path: &Path, is_folder: bool) -> io::Result<()> {
    if !path.exists() {
        let folder = if is_folder { Some(path) } else { path.parent() };
        fs::create_dir_all(folder.unwrap_or(Path::new("/")))?;
        if !is_folder {
            fs::File::create(path)?;
        }
    }
    Ok(move_mount(tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// The mount point that shows the processes of the namespace.
pub(super) const PROCESSES: &str = "/proc";

/// A new `/proc`, not attached yet.
fn processes(contents: Processes) -> io::Result<Option<OwnedFd>> {
    match contents {
        Processes::None => Ok(None),
        Processes::Own => file_system("proc", &[("subset", "pid")]).map(Some),
        Processes::OwnAndMachine => {
            let tree = file_system("proc", &[])?;
            // Root could change settings of the machine.
            restrict(
                tree.as_fd(),
                MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC,
                false,
            )?;
            Ok(Some(tree))
        }
    }
}

/// The names by which shells and scripts open their descriptors.
fn link_descriptors() -> io::Result<()> {
    fs::create_dir_all("/dev")?;
    let links = [("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")];
    links.into_iter().try_for_each(|(name, target)| {
        std::os::unix::fs::symlink(format!("{PROCESSES}/self/{target}"), format!("/dev/{name}"))
    })
}

fn new_memory_folder(bytes: u64) -> io::Result<OwnedFd> {
    memory(&[("mode", "700"), ("size", &bytes.to_string()), ("nr_inodes", &SCRATCH_FILES.to_string())])
}

fn place_scratch(tree: &OwnedFd) -> io::Result<()> {
    restrict(tree.as_fd(), MountAttrFlags::MOUNT_ATTR_NOEXEC | PLAIN, false)?;
    place(tree, Path::new(SCRATCH), true)
}

/// `struct mount_attr` (mount_setattr(2)).
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Adds attributes to a mount, or to all mounts on it as well.
fn restrict(mount: BorrowedFd<'_>, attributes: MountAttrFlags, recursive: bool) -> io::Result<()> {
    let attributes =
        MountAttributes { set: u64::from(attributes.bits()), clear: 0, propagation: 0, user_namespace: 0 };
    let empty: &CStr = c"";
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path and the structure, whose size is given, outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            empty.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Checks that a file that every machine has is absent, unless it is granted.
pub(super) fn canary(mounts: &[Mount]) -> Result<(), Failure> {
    let witness = Path::new("/etc/passwd");
    if mounts.iter().any(|mount| witness.starts_with(&mount.path)) {
        return Ok(());
    }
    match rustix::fs::statat(CWD, witness, rustix::fs::AtFlags::empty()) {
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => Ok(()),
        Err(errno) => Err(failed(Step::Canary, "/etc/passwd in the new root")(errno)),
        Ok(_) => Err(Failure::new(Step::Canary, "/etc/passwd in the new root", 0)),
    }
}

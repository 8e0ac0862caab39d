//! Scratch space that several children share, at the same time or one after the other.
//!
//! It is a file system in memory of a fixed size, mounted in a mount namespace of its own, which is empty otherwise and has
//! no process: a descriptor in the host is all that keeps it. So there is nobody who could be killed or kept alive, and
//! when the host closes the descriptor or dies, it is gone, as soon as the last child that has it mounted is. The
//! namespace belongs to a user namespace of its own, so the kernel honours no devices and no setuid programs on it.
//!
//! A helper gets a copy of the mount by a process that goes into the namespaces, clones the mount (`open_tree(2)`), hands
//! the clone back and ends. That way the helper's own namespaces stay what they are without shared scratch space: those of
//! the machine until it leaves them, and no child is ever in the namespaces that hold the space. A clone that is mounted
//! nowhere yet may be moved to another namespace since Linux 5.2; cloning it from a bare descriptor, without going there,
//! would need 6.15.
//!
//! Leaves mounting the clone to `root`.

mod handle;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::fs::CWD;
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree,
};
use rustix::process::getpid;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::control::{self, HANDOVER_TIMEOUT, SCRATCH_NAME};
use super::descriptors::private;
use super::namespaces;
use super::parent::die_with;
use super::root::{self, Extras};
use super::spawner::{self, OWN_EXECUTABLE};
use crate::error::failed;
use crate::policy::SCRATCH;
use crate::{Failure, SpawnError, Step};

pub use handle::Scratch;

impl Scratch {
    /// Empty scratch space of this many bytes, by a helper that is this very executable, which must call
    /// [`entry`](crate::entry) first in `main`. Blocks for a few milliseconds. Everything that children will need of the
    /// kernel to have it is tried once.
    ///
    /// # Errors
    /// [`SpawnError`]: mostly that user or mount namespaces are not allowed here.
    pub fn new(bytes: u64) -> Result<Self, SpawnError> {
        Self::with_helper(bytes, OWN_EXECUTABLE)
    }

    /// [`Scratch::new`] by another helper.
    ///
    /// # Errors
    /// As [`Scratch::new`].
    pub fn with_helper(bytes: u64, helper: impl AsRef<Path>) -> Result<Self, SpawnError> {
        if bytes == 0 {
            return Err(SpawnError::Policy("scratch space of 0 bytes".to_owned()));
        }
        spawner::check_entry_called()?;
        let helper = helper.as_ref();
        let start = |source| SpawnError::Start { helper: helper.to_owned(), source };
        let (ours, theirs) = UnixStream::pair().map_err(SpawnError::Control)?;
        ours.set_read_timeout(Some(HANDOVER_TIMEOUT)).map_err(SpawnError::Control)?;
        let mut process = spawner::start(helper, SCRATCH_NAME, [], theirs).map_err(start)?;
        let asked = control::frame(&bytes).and_then(|frame| (&ours).write_all(&frame));
        let answer = asked.and_then(|()| control::receive_with::<_, Result<(), Failure>>(&ours, &ours));
        let _ = process.kill();
        let status = process.wait().map_err(SpawnError::Control)?;
        let Some((made, descriptors)) = answer.map_err(SpawnError::Control)? else {
            return Err(SpawnError::HelperEnded(status));
        };
        made?;
        let namespace = descriptors.into_iter().next().ok_or(SpawnError::HelperEnded(status))?;
        Ok(Self::held_by(bytes, namespace))
    }
}

/// The helper's side: makes the space, tries the way of a child with it, and hands the namespace over.
pub(super) fn answer() -> io::Result<()> {
    let channel = File::from(private(&io::stdin())?);
    let made = match control::receive::<u64>(&channel)? {
        Some(bytes) => make(bytes),
        None => return Ok(()),
    };
    hand_over(&channel, made)
}

/// Says how it went, with the descriptor that came of it.
fn hand_over(channel: &File, made: Result<OwnedFd, Failure>) -> io::Result<()> {
    let (said, descriptor) = match made {
        Ok(descriptor) => (Ok(()), Some(descriptor)),
        Err(failure) => (Err(failure), None),
    };
    let descriptors: Vec<BorrowedFd<'_>> = descriptor.iter().map(AsFd::as_fd).collect();
    control::send_with(channel, channel, &control::frame(&said)?, &descriptors)
}

fn make(bytes: u64) -> Result<OwnedFd, Failure> {
    let namespace = elsewhere(|| {
        namespaces::separate_files()?;
        let path = "/proc/self/ns/mnt";
        let namespace = File::open(path).map_err(failed(Step::Namespaces, path))?;
        root::replace(&[], Extras { scratch: Some(bytes), ..Extras::default() })?;
        Ok(namespace.into())
    })?;
    let tree = clone_from(&namespace)?;
    // As a child will: in namespaces of its own, at a place of its own.
    namespaces::separate_files()?;
    let quiet = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", quiet).map_err(failed(Step::Root, "keeping mounts apart from the host's"))?;
    move_mount(&tree, "", CWD, "/dev", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(failed(Step::Root, SHARED))?;
    Ok(namespace)
}

/// What a failure is about.
const SHARED: &str = "shared scratch space";

/// A clone of the scratch space that the namespace holds, mounted nowhere yet.
pub(super) fn clone_from(namespace: &OwnedFd) -> Result<OwnedFd, Failure> {
    elsewhere(|| {
        let owner = owner(namespace).map_err(failed(Step::Root, "the owner of shared scratch space"))?;
        for (descriptor, kind) in [(&owner, LinkNameSpaceType::User), (namespace, LinkNameSpaceType::Mount)] {
            move_into_link_name_space(descriptor.as_fd(), Some(kind))
                .map_err(failed(Step::Root, "going to shared scratch space"))?;
        }
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        open_tree(CWD, SCRATCH, flags).map_err(failed(Step::Root, SHARED))
    })
}

/// The user namespace that a mount namespace belongs to (ioctl_ns(2)).
fn owner(namespace: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: the operation takes no argument and answers with a new descriptor.
    let owner = unsafe { libc::ioctl(namespace.as_raw_fd(), NS_GET_USERNS) };
    if owner < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(owner) })
}

/// `NS_GET_USERNS` of linux/nsfs.h.
const NS_GET_USERNS: libc::Ioctl = 0xb701;

/// What a process gets by going where this one does not go. It ends with its answer.
fn elsewhere(get: impl FnOnce() -> Result<OwnedFd, Failure>) -> Result<OwnedFd, Failure> {
    let lost = || failed(Step::Fork, "the process that goes to shared scratch space");
    let (ours, theirs) = UnixStream::pair().map_err(lost())?;
    let (ours, theirs) =
        (File::from(private(&ours).map_err(lost())?), File::from(private(&theirs).map_err(lost())?));
    let parent = getpid();
    // SAFETY: this process has one thread, so the copy may go on as the original would.
    match unsafe { libc::fork() } {
        -1 => Err(lost()(io::Error::last_os_error())),
        0 => {
            let _ = hand_over(&theirs, die_with(Some(parent)).and_then(|()| get()));
            // SAFETY: ends the process without running destructors or handlers, which is the intention.
            unsafe { libc::_exit(0) }
        }
        other => {
            drop(theirs);
            let answer = control::receive_with::<_, Result<(), Failure>>(&ours, &ours);
            // SAFETY: reaps the process that was just forked, and wants no status.
            unsafe { libc::waitpid(other, std::ptr::null_mut(), 0) };
            let (made, descriptors) =
                answer.map_err(lost())?.ok_or_else(|| lost()(io::Error::from_raw_os_error(libc::EPIPE)))?;
            made?;
            let descriptor = descriptors.into_iter().next();
            let descriptor = descriptor.ok_or_else(|| lost()(io::Error::from_raw_os_error(libc::EBADF)))?;
            private(&descriptor).map_err(lost())
        }
    }
}

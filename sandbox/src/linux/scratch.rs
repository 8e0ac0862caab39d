//! Scratch space shared by several children, in parallel or in sequence.
//!
//! It is a file system in memory of a fixed size, in its own mount namespace that is otherwise empty and has
//! no process. Only a descriptor in the host keeps it alive. So there is no process that could be killed or
//! must be kept alive. When the host closes the descriptor or dies, the space is gone once no child has it
//! mounted. Its own user namespace owns the mount namespace, so the kernel ignores device files and setuid
//! bits on it.
//!
//! A helper gets a copy of the mount from a process that enters the namespaces, clones the mount
//! (`open_tree(2)`), passes the clone back and ends. So the helper's own namespaces are the same as without
//! shared scratch space: those of the machine until it leaves them. No child is ever in the namespaces of the
//! space. Since Linux 5.2, a clone that is not attached yet can be moved to another namespace. Cloning from a
//! bare descriptor without entering would need Linux 6.15.
//!
//! `root` mounts the clone.

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
use super::{executable, spawner};
use crate::error::failed;
use crate::policy::SCRATCH;
use crate::{Failure, PolicyError, SpawnError, Step};

pub use handle::Scratch;

impl Scratch {
    /// Creates empty scratch space of this size, with the same helper as
    /// [`Sandbox::new`](crate::Sandbox::new). Blocks for a few milliseconds. Tries once what children will
    /// need from the kernel to use it.
    ///
    /// # Errors
    ///
    /// Returns [`SpawnError`], usually because user or mount namespaces are not allowed.
    pub fn new(bytes: u64) -> Result<Self, SpawnError> {
        Self::with_helper(bytes, executable::path())
    }

    /// Like [`Scratch::new`], with another helper.
    ///
    /// # Errors
    ///
    /// Like [`Scratch::new`].
    pub fn with_helper(bytes: u64, helper: impl AsRef<Path>) -> Result<Self, SpawnError> {
        if bytes == 0 {
            return Err(SpawnError::Policy(PolicyError::NoScratchSpace));
        }
        spawner::check_entry_called()?;
        let helper = helper.as_ref();
        let start = |source| SpawnError::Start { helper: helper.to_owned(), source };
        let (ours, theirs) = UnixStream::pair().map_err(SpawnError::Control)?;
        ours.set_read_timeout(Some(HANDOVER_TIMEOUT)).map_err(SpawnError::Control)?;
        let mut process = spawner::start(helper, SCRATCH_NAME, [], theirs).map_err(start)?;
        let sent = control::frame(&bytes).and_then(|frame| (&ours).write_all(&frame));
        let answer = sent.and_then(|()| control::receive_with::<_, Result<(), Failure>>(&ours, &ours));
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

/// The helper's side: creates the space, tries what a child will do with it, and sends the namespace.
pub(super) fn answer() -> io::Result<()> {
    let channel = File::from(private(&io::stdin())?);
    let made = match control::receive::<u64>(&channel)? {
        Some(bytes) => make(bytes),
        None => return Ok(()),
    };
    send_result(&channel, made)
}

/// Sends a result, with its descriptor on success.
fn send_result(channel: &File, made: Result<OwnedFd, Failure>) -> io::Result<()> {
    let (result, descriptor) = match made {
        Ok(descriptor) => (Ok(()), Some(descriptor)),
        Err(failure) => (Err(failure), None),
    };
    let descriptors: Vec<BorrowedFd<'_>> = descriptor.iter().map(AsFd::as_fd).collect();
    control::send_with(channel, channel, &control::frame(&result)?, &descriptors)
}

fn make(bytes: u64) -> Result<OwnedFd, Failure> {
    let namespace = in_new_process(|| {
        namespaces::separate_files()?;
        let path = "/proc/self/ns/mnt";
        let namespace = File::open(path).map_err(failed(Step::Namespaces, path))?;
        root::replace(&[], Extras { scratch: Some(bytes), ..Extras::default() })?;
        Ok(namespace.into())
    })?;
    let tree = clone_from(&namespace)?;
    // Like a child: in its own namespaces, at another place.
    namespaces::separate_files()?;
    let quiet = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", quiet).map_err(failed(Step::Root, "separating mounts from the host's"))?;
    move_mount(&tree, "", CWD, "/dev", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(failed(Step::Root, SHARED))?;
    Ok(namespace)
}

/// The subject of a failure.
const SHARED: &str = "shared scratch space";

/// A clone of the scratch space in the namespace, not attached yet.
pub(super) fn clone_from(namespace: &OwnedFd) -> Result<OwnedFd, Failure> {
    in_new_process(|| {
        let owner = owner(namespace).map_err(failed(Step::Root, "the owner of shared scratch space"))?;
        for (descriptor, kind) in [(&owner, LinkNameSpaceType::User), (namespace, LinkNameSpaceType::Mount)] {
            move_into_link_name_space(descriptor.as_fd(), Some(kind))
                .map_err(failed(Step::Root, "entering shared scratch space"))?;
        }
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        open_tree(CWD, SCRATCH, flags).map_err(failed(Step::Root, SHARED))
    })
}

/// The user namespace that owns a mount namespace (ioctl_ns(2)).
fn owner(namespace: &OwnedFd) -> io::Result<OwnedFd> {
    // SAFETY: the operation takes no argument and returns a new descriptor.
    let owner = unsafe { libc::ioctl(namespace.as_raw_fd(), NS_GET_USERNS) };
    if owner < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(owner) })
}

/// `NS_GET_USERNS` of linux/nsfs.h.
const NS_GET_USERNS: libc::Ioctl = 0xb701;

/// Runs `get` in a forked process, which can enter namespaces that this one must not enter, and returns its
/// descriptor.
fn in_new_process(get: impl FnOnce() -> Result<OwnedFd, Failure>) -> Result<OwnedFd, Failure> {
    let lost = || failed(Step::Fork, "the process that enters shared scratch space");
    let (ours, theirs) = UnixStream::pair().map_err(lost())?;
    let (ours, theirs) =
        (File::from(private(&ours).map_err(lost())?), File::from(private(&theirs).map_err(lost())?));
    let parent = getpid();
    // SAFETY: this process has one thread, so the copy can continue like the original.
    match unsafe { libc::fork() } {
        -1 => Err(lost()(io::Error::last_os_error())),
        0 => {
            let _ = send_result(&theirs, die_with(Some(parent)).and_then(|()| get()));
            // SAFETY: ends the process without running destructors or handlers, which is the intention.
            unsafe { libc::_exit(0) }
        }
        other => {
            drop(theirs);
            let answer = control::receive_with::<_, Result<(), Failure>>(&ours, &ours);
            // SAFETY: reaps the process that was just forked, without its status.
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

//! Namespaces: separate user, process, network, IPC, host name, control group and mount namespaces for the
//! child.
//!
//! `root` fills the new root; `init` is the first process of the new process namespace.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{getegid, geteuid};
use rustix::system::sethostname;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::exec::Executable;
use super::root::{self, Extras};
use crate::error::failed;
use crate::{Failure, Policy, Profile, Step};

/// All of them, with their names for failures and the probe.
pub(super) const ALL: [(&str, UnshareFlags); 7] = [
    ("user namespace", UnshareFlags::NEWUSER),
    ("mount namespace", UnshareFlags::NEWNS),
    ("process namespace", UnshareFlags::NEWPID),
    ("network namespace", UnshareFlags::NEWNET),
    ("IPC namespace", UnshareFlags::NEWIPC),
    ("host name namespace", UnshareFlags::NEWUTS),
    ("control group namespace", UnshareFlags::NEWCGROUP),
];

/// Builds the root of the new namespaces from the policy's grants. Called in the first process of the process
/// namespace.
pub(super) fn furnish(
    policy: &Policy,
    executable: &Executable,
    shared: Option<OwnedFd>,
) -> Result<(), Failure> {
    let mounts = root::plan(policy, executable);
    let processes = policy.profile == Profile::Build;
    root::replace(&mounts, Extras { scratch: policy.scratch, shared, processes })?;
    root::canary(&mounts)
}

/// Moves this process, which has one thread, into new namespaces and maps its user and group to themselves.
/// The process namespace takes effect at the next fork.
pub(super) fn separate() -> Result<(), Failure> {
    leave(&ALL)?;
    // Hides the host name.
    sethostname(b"sandbox").map_err(failed(Step::Namespaces, "the host name"))
}

/// Like [`separate`], but only the user and mount namespaces, which mounts need.
pub(super) fn separate_files() -> Result<(), Failure> {
    leave(&[ALL[0], ALL[1]])
}

fn leave(namespaces: &[(&str, UnshareFlags)]) -> Result<(), Failure> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // One after the other, so that a failure has a name. A single call is not measurably faster.
    for &(name, flag) in namespaces {
        // SAFETY: none of the flags shares or unshares descriptors or memory.
        unsafe { unshare_unsafe(flag) }.map_err(failed(Step::Namespaces, name))?;
        if flag == UnshareFlags::NEWUSER {
            // A group map requires giving up the right to change groups first (user_namespaces(7)).
            write("setgroups", "deny")?;
            write("uid_map", &format!("{user} {user} 1"))?;
            write("gid_map", &format!("{group} {group} 1"))?;
        }
    }
    Ok(())
}

fn write(name: &str, text: &str) -> Result<(), Failure> {
    let path = format!("/proc/self/{name}");
    fs::write(&path, text).map_err(failed(Step::Namespaces, path))
}

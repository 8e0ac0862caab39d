//! Namespaces: a user, process, network, IPC, host name, control group and mount namespace of the child's own.
//!
//! Leaves what is in the new root to `root`, and the first process of the new process namespace to `init`.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::process::{getegid, geteuid};
use rustix::system::sethostname;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::exec::Executable;
use super::root::{self, Extras};
use crate::error::failed;
use crate::{Failure, Policy, Profile, Step};

/// All of them, with the names under which a failure and the probe speak of them.
pub(super) const ALL: [(&str, UnshareFlags); 7] = [
    ("user namespace", UnshareFlags::NEWUSER),
    ("mount namespace", UnshareFlags::NEWNS),
    ("process namespace", UnshareFlags::NEWPID),
    ("network namespace", UnshareFlags::NEWNET),
    ("IPC namespace", UnshareFlags::NEWIPC),
    ("host name namespace", UnshareFlags::NEWUTS),
    ("control group namespace", UnshareFlags::NEWCGROUP),
];

/// Gives the new namespaces a root with what the policy grants. Called in the first process of the process namespace.
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

/// Takes this process, which has one thread, into new namespaces, where it is who it was. The process namespace begins with
/// the next fork.
pub(super) fn separate() -> Result<(), Failure> {
    leave(&ALL)?;
    // The name of the host is nobody's business.
    sethostname(b"sandbox").map_err(failed(Step::Namespaces, "the host name"))
}

/// The same for what mounts need: a user and a mount namespace.
pub(super) fn separate_files() -> Result<(), Failure> {
    leave(&[ALL[0], ALL[1]])
}

fn leave(namespaces: &[(&str, UnshareFlags)]) -> Result<(), Failure> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    // One after the other, so that a failure has a name; together they are not measurably faster.
    for &(name, flag) in namespaces {
        // SAFETY: none of the flags shares or unshares descriptors or memory.
        unsafe { unshare_unsafe(flag) }.map_err(failed(Step::Namespaces, name))?;
        if flag == UnshareFlags::NEWUSER {
            // A group map needs the right to change groups given up first (user_namespaces(7)).
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

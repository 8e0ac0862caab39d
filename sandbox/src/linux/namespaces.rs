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
    separate_ahead()?;
    separate_rest()
}

/// The part of [`separate`] that may come before the policy is known: afterwards, the files are still those of the host,
/// but a host that is root has lost its rights over files of other users.
pub(super) fn separate_ahead() -> Result<(), Failure> {
    let [user, _, processes, network, ipc, host_name, _] = ALL;
    leave(&[user, processes, network, ipc, host_name])?;
    // Hides the host name.
    sethostname(b"sandbox").map_err(failed(Step::Namespaces, "the host name"))
}

/// The rest of [`separate`]. The mounts and the control group are copied now, not earlier: until a helper has its
/// policy, both may change.
pub(super) fn separate_rest() -> Result<(), Failure> {
    let [_, mounts, .., control_group] = ALL;
    leave(&[mounts, control_group])
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

//! Namespaces: separate user, process, network, IPC, host name, control group and mount namespaces for the
//! child.
//!
//! `root` fills the new root; `init` is the first process of the new process namespace.

use std::os::fd::{AsRawFd, OwnedFd};
use std::{fs, io};

use rustix::net::{AddressFamily, SocketType};
use rustix::process::{getegid, geteuid};
use rustix::system::sethostname;
use rustix::thread::{UnshareFlags, unshare_unsafe};

use super::exec::Executable;
use super::root::{self, Extras, Processes};
use crate::error::failed;
use crate::{Failure, Network, Policy, Profile, Step};

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
    let processes = match policy.profile {
        Profile::Program | Profile::Compiler => Processes::None,
        Profile::Build => Processes::Own,
        Profile::Server => Processes::OwnAndMachine,
    };
    let memory = &policy.memory_folders;
    root::replace(&mounts, Extras { scratch: policy.scratch, shared, memory, processes })?;
    root::canary(&mounts)
}

/// The first kernel on which each process namespace has a `pid_max` of its own. Earlier, it is that of the machine, and
/// root may write it from within a namespace.
const OWN_PID_MAX: [u32; 2] = [6, 14];

/// Numbers below this are given to processes only once in a namespace (`RESERVED_PIDS`, kernel/pid.c).
const FIRST_NUMBER: u64 = 300;

/// Limits the processes and threads of this process namespace to the command and so many `more`, for root too. Called in its
/// first process, while /proc is still the host's.
///
/// Neither every kernel nor every container allows this, and on machines with dozens of processors the smallest
/// `pid_max` is higher. A failure is ignored: the number is also limited in other ways (`limits`, `oversight`, `cgroup`).
pub(super) fn limit_tasks(more: u64) {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    if version(&release).is_some_and(|version| version >= OWN_PID_MAX) {
        let end = FIRST_NUMBER.saturating_add(1).saturating_add(more);
        let limited = fs::write("/proc/sys/kernel/pid_max", end.to_string());
        // The command's number is the first one that is given again.
        let _ =
            limited.and_then(|()| fs::write("/proc/sys/kernel/ns_last_pid", (FIRST_NUMBER - 1).to_string()));
    }
}

/// The first two numbers of a kernel's release (uname(2)), such as `6.12.0-rc1`.
fn version(release: &str) -> Option<[u32; 2]> {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit());
    Some([numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?])
}

/// Moves this process, which has one thread, into new namespaces and maps its user and group to themselves.
/// The process namespace takes effect at the next fork.
pub(super) fn separate(network: Network) -> Result<(), Failure> {
    match network {
        Network::Full => separate_but_network()?,
        Network::None | Network::Loopback => separate_ahead()?,
    }
    if network == Network::Loopback {
        raise_loopback().map_err(failed(Step::Namespaces, "the loopback interface"))?;
    }
    separate_rest()
}

/// Brings up the loopback interface of this network namespace (netdevice(7)).
fn raise_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    // SAFETY: the structure is plain data; all zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short;
    // SAFETY: the kernel reads the request, which outlives the call.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as libc::Ioctl, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The part of [`separate`] that may come before the policy is known: afterwards, the files are still those of the host,
/// but a host that is root has lost its rights over files of other users.
pub(super) fn separate_ahead() -> Result<(), Failure> {
    separate_but_network()?;
    leave(&[ALL[3]])
}

fn separate_but_network() -> Result<(), Failure> {
    let [user, _, processes, _, ipc, host_name, _] = ALL;
    leave(&[user, processes, ipc, host_name])?;
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

#[cfg(test)]
mod tests {
    use super::{OWN_PID_MAX, version};

    #[test]
    fn only_newer_kernels_have_a_limit_for_each_namespace() {
        for (release, has_own) in [
            ("6.14.0", true),
            ("6.18.44-fc-v595", true),
            ("7.0-rc1", true),
            ("6.13.12", false),
            ("6.1.0-50-amd64", false),
            ("5.15.0", false),
            ("", false),
            ("linux", false),
        ] {
            let is_newer = version(release).is_some_and(|version| version >= OWN_PID_MAX);
            assert_eq!(is_newer, has_own, "{release}");
        }
    }
}

//! What this machine offers, asked of the kernel itself: whether the calls exist, and for namespaces whether a helper can
//! really go into them and change its root.
//!
//! Leaves applying anything to the layers.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::process::{WaitOptions, wait};

use super::control::{self, HANDOVER_TIMEOUT, PROBE_NAME};
use super::descriptors::private;
use super::root::{self, Extras};
use super::spawner::{self, OWN_EXECUTABLE};
use super::{cgroup, namespaces};
use crate::error::failed;
use crate::report::NOT_TRIED;
use crate::{Failure, Layers, Mechanism, Step, Support};

/// From this ABI on, Landlock keeps signals inside the confined process (Linux 6.12).
pub(super) const ABI_SCOPES: u32 = 6;

/// What this machine offers, by a helper that is this very executable. Found out once in the life of a process, which
/// takes about 2 ms.
#[must_use]
pub fn probe() -> Support {
    probe_with(Path::new(OWN_EXECUTABLE))
}

/// What this machine offers, by this helper.
pub(super) fn probe_with(helper: &Path) -> Support {
    static FOUND: Mutex<BTreeMap<PathBuf, Support>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = found.get(helper) {
        return found.clone();
    }
    let (support, is_final) = ask(helper);
    if is_final {
        found.insert(helper.to_owned(), support.clone());
    }
    support
}

/// What the machine lacked at the moment, and may have at the next try (`unshare(2)`, `fork(2)`).
const PASSING: [i32; 4] = [libc::EAGAIN, libc::ENOMEM, libc::EMFILE, libc::ENFILE];

/// What there is, and whether that will not change.
fn ask(helper: &Path) -> (Support, bool) {
    let landlock = landlock_abi();
    let landlock_abi = *landlock.as_ref().unwrap_or(&0);
    let mut mechanisms = vec![
        landlock_mechanism(landlock),
        seccomp_mechanism("seccomp", libc::SECCOMP_RET_KILL_PROCESS, "use Linux 4.14 or newer"),
        seccomp_mechanism("seccomp notify", libc::SECCOMP_RET_USER_NOTIF, "use Linux 5.0 or newer"),
    ];
    let seccomp = mechanisms[1].available;
    let namespaces = try_namespaces(helper);
    mechanisms.extend(namespace_mechanisms(&namespaces));
    mechanisms.push(cgroup_mechanism());
    let layers = Layers { namespaces: namespaces.is_ok(), landlock: landlock_abi > 0, seccomp };
    let is_final = namespaces.err().is_none_or(|failure| !PASSING.contains(&failure.errno));
    (Support { mechanisms, layers, landlock_abi }, is_final)
}

fn there(name: &'static str, answer: impl Into<String>) -> Mechanism {
    Mechanism { name, available: true, answer: answer.into(), advice: None }
}

fn missing(name: &'static str, answer: impl Into<String>, advice: &str) -> Mechanism {
    Mechanism { name, available: false, answer: answer.into(), advice: Some(advice.to_owned()) }
}

/// Landlock's ABI, at least 1.
pub(super) fn landlock_abi() -> io::Result<u32> {
    // SAFETY: with a null attribute, size 0 and this flag the call only returns a number (landlock_create_ruleset(2)).
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    match u32::try_from(answer) {
        Ok(abi) if abi > 0 => Ok(abi),
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// `LANDLOCK_CREATE_RULESET_VERSION` of linux/landlock.h.
const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;

fn landlock_mechanism(abi: io::Result<u32>) -> Mechanism {
    match abi {
        Ok(abi) => there("landlock", format!("ABI {abi}")),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => missing(
            "landlock",
            "built into this kernel but not enabled",
            "add `landlock` to the `lsm=` list on the kernel's command line",
        ),
        Err(error) => missing(
            "landlock",
            error.to_string(),
            "use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK, outside containers that forbid it",
        ),
    }
}

fn seccomp_mechanism(name: &'static str, action: u32, advice: &str) -> Mechanism {
    // SAFETY: the operation reads one u32 through the pointer (seccomp(2), SECCOMP_GET_ACTION_AVAIL).
    let answer =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) };
    if answer == 0 {
        return there(name, "available");
    }
    let advice = format!("{advice} with CONFIG_SECCOMP_FILTER, outside containers that forbid it");
    missing(name, io::Error::last_os_error().to_string(), &advice)
}

/// The name under which the child's root is probed.
const ROOT: &str = "root of its own";

/// One mechanism for each namespace and one for the root: those before the first failure work, those after it are not known.
fn namespace_mechanisms(tried: &Result<(), Failure>) -> Vec<Mechanism> {
    let names = namespaces::ALL.iter().map(|(name, _)| *name).chain([ROOT]);
    let Err(failure) = tried else { return names.map(|name| there(name, "works")).collect() };
    // What has no name of its own belongs to the user namespace: its maps, or the helper itself.
    let known = names.clone().find(|name| *name == failure.subject);
    let culprit = known.unwrap_or(if failure.step == Step::Root { ROOT } else { namespaces::ALL[0].0 });
    let mut before = true;
    names
        .map(|name| {
            if name == culprit {
                before = false;
                let answer = if known.is_some() { failure.reason() } else { failure.explanation() };
                return missing(name, answer, namespace_advice());
            }
            if before { there(name, "works") } else { missing(name, NOT_TRIED, namespace_advice()) }
        })
        .collect()
}

/// The settings of distributions that keep user namespaces from ordinary users, with the line that lifts each.
const RESTRICTIONS: [(&str, &str, &str); 3] = [
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=10000"),
];

fn namespace_advice() -> &'static str {
    let is_set = |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    RESTRICTIONS.iter().find(|(path, value, _)| is_set(path, value)).map_or(
        "use Linux 5.12 or newer; in a container allow `unshare` and `mount`, or run outside",
        |(_, _, line)| line,
    )
}

fn cgroup_mechanism() -> Mechanism {
    match cgroup::place() {
        Ok(place) => there("control groups", format!("memory and pids in {}", place.display())),
        Err(reason) => missing(
            "control groups",
            reason,
            "start through `systemd-run --user --scope -p Delegate=yes`, or leave memory and tasks to the limits of each process",
        ),
    }
}

/// Starts a helper that tries.
fn try_namespaces(helper: &Path) -> Result<(), Failure> {
    let failed = || failed(Step::Namespaces, "the helper that tries them");
    let (ours, theirs) = UnixStream::pair().map_err(failed())?;
    ours.set_read_timeout(Some(HANDOVER_TIMEOUT)).map_err(failed())?;
    let mut process = spawner::start(helper, PROBE_NAME, [], theirs).map_err(failed())?;
    let answer = control::receive::<Result<(), Failure>>(&ours);
    let _ = process.kill();
    let _ = process.wait();
    match answer.map_err(failed())? {
        Some(answer) => answer,
        None => Err(Failure::new(Step::Namespaces, "the helper that tries them, which did not answer", 0)),
    }
}

/// The helper's side: goes into namespaces, changes its root, starts a process there, and says how that went.
pub(super) fn answer() -> io::Result<()> {
    let mut channel = File::from(private(&io::stdin())?);
    let tried = namespaces::separate().and_then(|()| start_one());
    channel.write_all(&control::frame(&tried)?)
}

/// A first process, which makes a root with everything that one can have.
fn start_one() -> Result<(), Failure> {
    let (mut answer, mut question) = io::pipe().map_err(failed(Step::Namespaces, "a pipe"))?;
    // SAFETY: this process has one thread; the copy ends without running destructors or handlers.
    match unsafe { libc::fork() } {
        -1 => Err(failed(Step::Namespaces, namespaces::ALL[2].0)(io::Error::last_os_error())),
        0 => {
            let made =
                root::replace(&[], Extras { scratch: Some(1 << 20), processes: true, ..Extras::default() });
            let _ = control::frame(&made).and_then(|frame| question.write_all(&frame));
            unsafe { libc::_exit(0) }
        }
        _ => {
            drop(question);
            let made =
                control::receive(&mut answer).map_err(failed(Step::Root, "the process that makes it"))?;
            let _ = wait(WaitOptions::empty());
            made.unwrap_or_else(|| Err(Failure::new(Step::Root, "the process that makes it, which ended", 0)))
        }
    }
}

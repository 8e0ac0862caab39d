//! Probes what this machine supports by asking the kernel: whether the calls exist, and whether a helper can
//! enter namespaces and change its root.
//!
//! Applies nothing.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::process::{WaitOptions, wait};
use serde::{Deserialize, Serialize};

use super::control::{self, HANDOVER_TIMEOUT, PROBE_NAME};
use super::descriptors::private;
use super::root::{self, Extras, Processes};
use super::{cgroup, namespaces, spawner};
use crate::error::failed;
use crate::report::NOT_TRIED;
use crate::{BUILD, Failure, Layers, Mechanism, Network, Step, Support};

/// From this ABI on, Landlock keeps signals inside the confined process (Linux 6.12).
pub(super) const ABI_SCOPES: u32 = 6;

/// The machine's support, probed with this helper. Determined once per process, in about 2 ms.
pub(super) fn probe_with(helper: &Path) -> Support {
    probed(helper).support
}

/// Whether this executable is a helper of the same build.
pub(super) fn is_of_this_build(helper: &Path) -> bool {
    probed(helper).is_of_this_build
}

/// The contents of a helper's answer.
#[derive(Clone)]
struct Probed {
    support: Support,
    is_of_this_build: bool,
}

fn probed(helper: &Path) -> Probed {
    static FOUND: Mutex<BTreeMap<PathBuf, Probed>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = found.get(helper) {
        return found.clone();
    }
    let (probed, is_final) = probe_now(helper);
    if is_final {
        found.insert(helper.to_owned(), probed.clone());
    }
    probed
}

/// Temporary shortages, after which another try may succeed (`unshare(2)`, `fork(2)`).
const TEMPORARY: [i32; 4] = [libc::EAGAIN, libc::ENOMEM, libc::EMFILE, libc::ENFILE];

/// Probes the machine. Also returns whether the result is final.
fn probe_now(helper: &Path) -> (Probed, bool) {
    let landlock = landlock_abi();
    let landlock_abi = *landlock.as_ref().unwrap_or(&0);
    let mut mechanisms = vec![
        landlock_mechanism(landlock),
        seccomp_mechanism("seccomp", libc::SECCOMP_RET_KILL_PROCESS, "use Linux 4.14 or newer"),
        seccomp_mechanism("seccomp notify", libc::SECCOMP_RET_USER_NOTIF, "use Linux 5.0 or newer"),
    ];
    let seccomp = mechanisms[1].available;
    let answer = ask(helper);
    let is_of_this_build = answer.as_ref().is_ok_and(|answer| answer.build == BUILD);
    let namespaces = answer.and_then(|answer| answer.namespaces);
    mechanisms.extend(namespace_mechanisms(&namespaces));
    mechanisms.push(cgroup_mechanism());
    let layers = Layers { namespaces: namespaces.is_ok(), landlock: landlock_abi > 0, seccomp };
    let is_final = namespaces.err().is_none_or(|failure| !TEMPORARY.contains(&failure.errno));
    (Probed { support: Support { mechanisms, layers, landlock_abi }, is_of_this_build }, is_final)
}

fn present(name: &'static str, answer: impl Into<String>) -> Mechanism {
    Mechanism { name, available: true, answer: answer.into(), advice: None }
}

fn missing(name: &'static str, answer: impl Into<String>, advice: &str) -> Mechanism {
    Mechanism { name, available: false, answer: answer.into(), advice: Some(advice.to_owned()) }
}

/// Landlock's ABI, at least 1.
pub(super) fn landlock_abi() -> io::Result<u32> {
    // SAFETY: with a null attribute, size 0 and this flag the call only returns a number (landlock_create_ruleset(2)).
    let result = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    match u32::try_from(result) {
        Ok(abi) if abi > 0 => Ok(abi),
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// `LANDLOCK_CREATE_RULESET_VERSION` of linux/landlock.h.
const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;

fn landlock_mechanism(abi: io::Result<u32>) -> Mechanism {
    match abi {
        Ok(abi) => present("landlock", format!("ABI {abi}")),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => missing(
            "landlock",
            "built into this kernel but not enabled",
            "add `landlock` to the `lsm=` list on the kernel's command line",
        ),
        Err(error) => missing(
            "landlock",
            error.to_string(),
            "use Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK; in a container, let its seccomp profile allow \
             landlock_create_ruleset, landlock_add_rule and landlock_restrict_self",
        ),
    }
}

fn seccomp_mechanism(name: &'static str, action: u32, advice: &str) -> Mechanism {
    // SAFETY: the operation reads one u32 through the pointer (seccomp(2), SECCOMP_GET_ACTION_AVAIL).
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, &raw const action) };
    if result == 0 {
        return present(name, "available");
    }
    let advice =
        format!("{advice} with CONFIG_SECCOMP_FILTER; in a container, let its seccomp profile allow seccomp");
    missing(name, io::Error::last_os_error().to_string(), &advice)
}

/// The name of the probed root.
const ROOT: &str = "private root";

/// One mechanism for each namespace and one for the root. Those before the first failure work, those after it
/// are not tried.
fn namespace_mechanisms(tried: &Result<(), Failure>) -> Vec<Mechanism> {
    let names = namespaces::ALL.iter().map(|(name, _)| *name).chain([ROOT]);
    let Err(failure) = tried else { return names.map(|name| present(name, "works")).collect() };
    // Other subjects belong to the user namespace: its maps, or the helper itself.
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
            if before { present(name, "works") } else { missing(name, NOT_TRIED, namespace_advice()) }
        })
        .collect()
}

/// Settings of distributions that deny user namespaces to ordinary users, each with the command that allows
/// them.
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
    RESTRICTIONS
        .iter()
        .find(|(path, value, _)| fs::read_to_string(path).is_ok_and(|text| text.trim() == *value))
        .map_or(
            "use Linux 5.12 or newer; in a container, docs/container.md says which options allow it",
            |(_, _, line)| line,
        )
}

fn cgroup_mechanism() -> Mechanism {
    match cgroup::place() {
        Ok(place) => present("control groups", format!("memory and pids in {}", place.display())),
        Err(reason) => missing(
            "control groups",
            reason,
            "start through `systemd-run --user --scope -p Delegate=yes`; otherwise only the limits of each process apply, \
             and for root the number of threads is not limited",
        ),
    }
}

/// The answer of a helper that probes the machine.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    /// The helper's [`BUILD`].
    build: String,
    /// Whether it could enter namespaces and change its root.
    namespaces: Result<(), Failure>,
}

/// Starts a helper that tries namespaces.
fn ask(helper: &Path) -> Result<Answer, Failure> {
    let failed = || failed(Step::Namespaces, "the probe helper");
    let (ours, theirs) = UnixStream::pair().map_err(failed())?;
    ours.set_read_timeout(Some(HANDOVER_TIMEOUT)).map_err(failed())?;
    let mut process = spawner::start(helper, PROBE_NAME, [], theirs).map_err(failed())?;
    let answer = control::receive::<Answer>(&ours);
    let _ = process.kill();
    let _ = process.wait();
    answer
        .map_err(failed())?
        .ok_or_else(|| Failure::new(Step::Namespaces, "the probe helper, which did not answer", 0))
}

/// The helper's side: enters namespaces, changes its root, starts a process there and reports the result.
pub(super) fn answer() -> io::Result<()> {
    let mut channel = File::from(private(&io::stdin())?);
    let namespaces = namespaces::separate(Network::None).and_then(|()| start_one());
    channel.write_all(&control::frame(&Answer { build: BUILD.to_owned(), namespaces })?)
}

/// Starts the first process of the namespace, which builds a root with all extras.
fn start_one() -> Result<(), Failure> {
    let (mut answer, mut writer) = io::pipe().map_err(failed(Step::Namespaces, "a pipe"))?;
    // SAFETY: this process has one thread; the copy ends without running destructors or handlers.
    match unsafe { libc::fork() } {
        -1 => Err(failed(Step::Namespaces, namespaces::ALL[2].0)(io::Error::last_os_error())),
        0 => {
            let made = root::replace(
                &[],
                Extras { scratch: Some(1 << 20), processes: Processes::Own, ..Extras::default() },
            );
            let _ = control::frame(&made).and_then(|frame| writer.write_all(&frame));
            unsafe { libc::_exit(0) }
        }
        _ => {
            drop(writer);
            let made =
                control::receive(&mut answer).map_err(failed(Step::Root, "the process that builds it"))?;
            let _ = wait(WaitOptions::empty());
            made.unwrap_or_else(|| {
                Err(Failure::new(Step::Root, "the process that builds it, which ended", 0))
            })
        }
    }
}

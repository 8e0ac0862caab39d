//! Reports: what the machine supports, what was enforced on a child, and which calls the child was refused.
//!
//! Plain data for outcomes and diagnostics. The platform's modules collect it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
#[cfg(target_arch = "aarch64")]
use syscalls::aarch64::Sysno;
#[cfg(not(target_arch = "aarch64"))]
use syscalls::x86_64::Sysno;

use crate::Layers;

/// The layers enforced on one child, as its helper reported just before executing the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The name of the tier ([`Layers::name`]).
    pub tier: String,
    /// The layers in the order of their application.
    pub layers: Vec<String>,
    /// Landlock's ABI as reported by the kernel, or 0 if Landlock was not applied. From ABI 3 on, truncation
    /// is denied by Landlock as well as by seccomp; from 4 TCP, from 5 device controls, from 6 signals and
    /// abstract sockets.
    pub landlock_abi: u32,
}

/// The kernel's report about a child. Known when the child has ended, and independent of what the child says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The refused system calls of a program, by their numbers on this architecture. Empty for compilers, and if the kernel
    /// accepts no listener because another process already has one.
    pub refused: BTreeSet<u32>,
    /// The system call for which a program was ended.
    pub fatal: Option<u32>,
    /// Whether the kernel ended a process because all of them together exceeded
    /// [`Limits::total_memory`](crate::Limits).
    pub out_of_memory: bool,
    /// Whether starting a thread or process failed because of [`Limits::total_tasks`](crate::Limits), or a program was ended
    /// because it had more threads than [`Limits::processes`](crate::Limits).
    pub out_of_tasks: bool,
    /// The processor time of all its processes, in user mode and in the kernel (getrusage(2)), including a few
    /// milliseconds of confining them, and the time in which the supervisor refused their calls. Zero if another process
    /// killed the supervisor.
    pub processor_time: Duration,
}

/// Something that a server tried in a trial ([`Policy::records`](crate::Policy)) and that is not within its grants. It may
/// have failed anyway, because there is no such path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Attempt {
    /// Reading a path.
    Read(PathBuf),
    /// Creating or changing a path.
    Write(PathBuf),
    /// Connecting to an address of the internet.
    Connect(SocketAddr),
    /// Connecting to a UNIX socket with a path.
    Socket(PathBuf),
    /// A refused system call, by its number, with its first argument.
    Call(u32, u64),
}

impl Attempt {
    /// The attempt to connect to an address in the kernel's form (`struct sockaddr` of sockaddr(3type)).
    pub(crate) fn connect(address: &[u8]) -> Option<Self> {
        const UNIX: u16 = 1;
        const INTERNET: u16 = 2;
        const INTERNET_6: u16 = 10;
        let family = u16::from_ne_bytes(address.get(..2)?.try_into().ok()?);
        let port = || Some(u16::from_be_bytes(address.get(2..4)?.try_into().ok()?));
        let ip: IpAddr = match family {
            UNIX => {
                let path = address[2..].split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
                return Some(Attempt::Socket(PathBuf::from(OsStr::from_bytes(path))));
            }
            INTERNET => <[u8; 4]>::try_from(address.get(4..8)?).ok()?.into(),
            INTERNET_6 => <[u8; 16]>::try_from(address.get(8..24)?).ok()?.into(),
            _ => return None,
        };
        Some(Attempt::Connect(SocketAddr::new(ip, port()?)))
    }
}

/// The name of a system call by its number on this architecture, for example `openat`. `None` for an unknown number.
#[must_use]
pub fn system_call_name(number: u32) -> Option<&'static str> {
    Sysno::new(number as usize).map(|call| call.name())
}

/// A mechanism that the sandbox uses, with the machine's support for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mechanism {
    /// Its name: `landlock`, `seccomp`, `user namespace`, …
    pub name: &'static str,
    /// Whether it is present and works.
    pub available: bool,
    /// The result of the probe.
    pub answer: String,
    /// The remedy if it is missing: a command, if there is one.
    pub advice: Option<String>,
}

/// The result for a mechanism that was not probed because an earlier one failed.
pub(crate) const NOT_TRIED: &str = "not tried";

/// The machine's support.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Support {
    /// Everything that was probed.
    pub mechanisms: Vec<Mechanism>,
    /// The layers that can be applied.
    pub layers: Layers,
    /// Landlock's ABI, or 0 if Landlock is missing.
    pub landlock_abi: u32,
}

impl Support {
    /// The best tier, if it is at least `minimum`.
    ///
    /// # Errors
    /// Returns [`Unsupported`] with the missing mechanisms, and what to do.
    pub fn choose(&self, minimum: Layers) -> Result<Layers, Unsupported> {
        let best = Layers::TIERS.into_iter().find(|tier| self.layers.include(*tier));
        if let Some(best) = best.filter(|best| best.include(minimum)) {
            return Ok(best);
        }
        let is_required = |name: &str| match name {
            "landlock" => minimum.landlock,
            "seccomp" => minimum.seccomp,
            name => minimum.namespaces && (name.ends_with("namespace") || name.ends_with("root")),
        };
        let missing = self.mechanisms.iter().filter(|mechanism| {
            !mechanism.available && mechanism.answer != NOT_TRIED && is_required(mechanism.name)
        });
        let (missing, mut advice): (Vec<_>, Vec<_>) = missing
            .map(|mechanism| {
                let missing = format!("{} ({})", mechanism.name, mechanism.answer);
                (missing, mechanism.advice.clone().unwrap_or_default())
            })
            .unzip();
        // Advice for one namespace applies to all.
        advice.dedup();
        Err(Unsupported {
            missing: format!("the tier `{minimum}` is required and lacks {}", missing.join(", ")),
            advice: advice.join("; "),
        })
    }
}

/// This machine cannot confine a process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this machine cannot run confined processes: {missing}; {advice}")]
pub struct Unsupported {
    /// The missing mechanisms.
    pub missing: String,
    /// The remedy.
    pub advice: String,
}

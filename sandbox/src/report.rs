//! What the machine offers, what was enforced on a child, and what the child was refused.
//!
//! Leaves finding out to the platform: these are plain data for outcomes and diagnostics.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Layers;

/// What was enforced on one child, as its helper reported just before it executed the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The name of the tier ([`Layers::name`]).
    pub tier: String,
    /// The layers in the order in which they were applied.
    pub layers: Vec<String>,
    /// Landlock's ABI as the kernel stated it, 0 where Landlock was not applied. From 3 truncation, from 4 TCP,
    /// from 5 device controls and from 6 signals and abstract sockets are held by Landlock as well as by seccomp.
    pub landlock_abi: u32,
}

/// What a child met with, known when it has ended. The kernel's word, not the child's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The system calls that a program was refused, by number (x86_64). Empty for compilers, and where the kernel lets no
    /// other listener stand beside one that exists.
    pub refused: BTreeSet<u32>,
    /// The system call that a program was ended for.
    pub fatal: Option<u32>,
    /// Whether the kernel ended a process because all of them together were over [`Limits::total_memory`](crate::Limits).
    pub out_of_memory: bool,
    /// Whether a thread or process was refused because of [`Limits::total_tasks`](crate::Limits).
    pub out_of_tasks: bool,
}

/// The name of an x86_64 system call, such as `openat`; `None` for a number that has none.
#[must_use]
pub fn system_call_name(number: u32) -> Option<&'static str> {
    syscalls::x86_64::Sysno::new(number as usize).map(|call| call.name())
}

/// One thing that the sandbox is built from, with the machine's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mechanism {
    /// Its name: `landlock`, `seccomp`, `user namespace`, …
    pub name: &'static str,
    /// Whether it is there and works.
    pub available: bool,
    /// What the probe answered.
    pub answer: String,
    /// What to do to get it, where it is missing: a line to type, where there is one.
    pub advice: Option<String>,
}

/// The answer of a mechanism that needs another one, which is missing.
pub(crate) const NOT_TRIED: &str = "not tried";

/// What this machine offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Support {
    /// Everything that was probed.
    pub mechanisms: Vec<Mechanism>,
    /// The layers that can be applied.
    pub layers: Layers,
    /// Landlock's ABI, 0 where it is missing.
    pub landlock_abi: u32,
}

impl Support {
    /// The best tier, if it is at least `minimum`.
    ///
    /// # Errors
    /// [`Unsupported`] names what is missing, and what to do.
    pub fn choose(&self, minimum: Layers) -> Result<Layers, Unsupported> {
        let best = Layers::TIERS.into_iter().find(|tier| self.layers.include(*tier));
        if let Some(best) = best.filter(|best| best.include(minimum)) {
            return Ok(best);
        }
        let wanted = |name: &str| match name {
            "landlock" => minimum.landlock,
            "seccomp" => minimum.seccomp,
            name => minimum.namespaces && (name.ends_with("namespace") || name.starts_with("root")),
        };
        let missing = self.mechanisms.iter().filter(|mechanism| {
            !mechanism.available && mechanism.answer != NOT_TRIED && wanted(mechanism.name)
        });
        let (missing, mut advice): (Vec<_>, Vec<_>) = missing
            .map(|mechanism| {
                let missing = format!("{} ({})", mechanism.name, mechanism.answer);
                (missing, mechanism.advice.clone().unwrap_or_default())
            })
            .unzip();
        // What helps one namespace helps all.
        advice.dedup();
        Err(Unsupported {
            missing: format!("the tier `{minimum}` is wanted and lacks {}", missing.join(", ")),
            advice: advice.join("; "),
        })
    }
}

/// This machine cannot confine a process.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("this machine cannot run confined processes: {missing}; {advice}")]
pub struct Unsupported {
    /// What is missing.
    pub missing: String,
    /// What to do about it.
    pub advice: String,
}

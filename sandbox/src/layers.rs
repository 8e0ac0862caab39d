//! The three layers that hold a child, and the names of their combinations.
//!
//! Leaves what always holds (capabilities, `no_new_privs`, descriptors, resource limits) and what only adds
//! (control groups) to the report of a child.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which of the layers are applied. A combination that a user may ask for by name is a *tier*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// User, mount, process, network, IPC, host name and control group namespaces, with a root that holds the granted
    /// paths and nothing else (`namespaces(7)`).
    pub namespaces: bool,
    /// Landlock at the kernel's ABI (`landlock(7)`).
    pub landlock: bool,
    /// System call filters (`seccomp(2)`).
    pub seccomp: bool,
}

impl Layers {
    /// The tier `full`: all three.
    pub const FULL: Self = Self { namespaces: true, landlock: true, seccomp: true };
    /// The tier `landlock+seccomp`: where user namespaces are restricted, as on Ubuntu from 24.04 on and in most containers.
    pub const LANDLOCK_SECCOMP: Self = Self { namespaces: false, ..Self::FULL };
    /// The tier `namespaces+seccomp`: where the kernel has no Landlock.
    pub const NAMESPACES_SECCOMP: Self = Self { landlock: false, ..Self::FULL };
    /// The tier `off`: no layer. The environment, the descriptors, the resource limits and the dropped capabilities remain.
    pub const OFF: Self = Self { namespaces: false, landlock: false, seccomp: false };

    /// The tiers that confine, the best first.
    pub const TIERS: [Self; 3] = [Self::FULL, Self::LANDLOCK_SECCOMP, Self::NAMESPACES_SECCOMP];

    /// Whether these are at least those of `minimum`.
    #[must_use]
    pub fn include(self, minimum: Self) -> bool {
        self.namespaces >= minimum.namespaces
            && self.landlock >= minimum.landlock
            && self.seccomp >= minimum.seccomp
    }

    /// The name: of the tier, else of the single layers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self.namespaces, self.landlock, self.seccomp) {
            (true, true, true) => "full",
            (false, true, true) => "landlock+seccomp",
            (true, false, true) => "namespaces+seccomp",
            (true, true, false) => "namespaces+landlock",
            (true, false, false) => "namespaces",
            (false, true, false) => "landlock",
            (false, false, true) => "seccomp",
            (false, false, false) => "off",
        }
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A name that is none of a tier that confines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no tier of the sandbox: full, landlock+seccomp or namespaces+seccomp")]
pub struct UnknownTier(String);

impl FromStr for Layers {
    type Err = UnknownTier;

    fn from_str(name: &str) -> Result<Self, UnknownTier> {
        let mut tiers = Self::TIERS.into_iter();
        tiers.find(|tier| tier.name() == name).ok_or_else(|| UnknownTier(name.to_owned()))
    }
}

/// How the layers of a child are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confinement {
    /// The best tier that this machine offers; one that offers less than this starts nothing.
    AtLeast(Layers),
    /// These, and no others. With [`Layers::OFF`] the command can read, change and send what the user can.
    Exactly(Layers),
}

impl Default for Confinement {
    fn default() -> Self {
        Self::AtLeast(Layers::LANDLOCK_SECCOMP)
    }
}

//! The three layers that confine a child, and the names of their combinations.
//!
//! Measures that always apply (capabilities, `no_new_privs`, descriptors, resource limits) and optional ones
//! (control groups) are in a child's report.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The layers to apply. A combination that users can select by name is a *tier*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// User, mount, process, network, IPC, host name and control group namespaces, with a root that contains
    /// only the granted paths (`namespaces(7)`).
    pub namespaces: bool,
    /// Landlock at the kernel's ABI (`landlock(7)`).
    pub landlock: bool,
    /// System call filters (`seccomp(2)`).
    pub seccomp: bool,
}

impl Layers {
    /// The tier `full`: all three layers.
    pub const FULL: Self = Self { namespaces: true, landlock: true, seccomp: true };
    /// The tier `landlock+seccomp`, for machines that restrict user namespaces, like Ubuntu from 24.04 on and
    /// most containers.
    pub const LANDLOCK_SECCOMP: Self = Self { namespaces: false, ..Self::FULL };
    /// The tier `namespaces+seccomp`, for kernels without Landlock.
    pub const NAMESPACES_SECCOMP: Self = Self { landlock: false, ..Self::FULL };
    /// The tier `off`: no layers. The environment, descriptors, resource limits and dropped capabilities
    /// still apply.
    pub const OFF: Self = Self { namespaces: false, landlock: false, seccomp: false };

    /// The confining tiers, best first.
    pub const TIERS: [Self; 3] = [Self::FULL, Self::LANDLOCK_SECCOMP, Self::NAMESPACES_SECCOMP];

    /// Whether all layers of `minimum` are included.
    #[must_use]
    pub fn include(self, minimum: Self) -> bool {
        self.namespaces >= minimum.namespaces
            && self.landlock >= minimum.landlock
            && self.seccomp >= minimum.seccomp
    }

    /// The name of the tier, or of the combination.
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

/// An unknown tier name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a sandbox tier: use full, landlock+seccomp or namespaces+seccomp")]
pub struct UnknownTier(String);

impl FromStr for Layers {
    type Err = UnknownTier;

    fn from_str(name: &str) -> Result<Self, UnknownTier> {
        let mut tiers = Self::TIERS.into_iter();
        tiers.find(|tier| tier.name() == name).ok_or_else(|| UnknownTier(name.to_owned()))
    }
}

/// The choice of the layers of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confinement {
    /// The best tier that this machine supports. If that is below this minimum, nothing starts.
    AtLeast(Layers),
    /// Exactly these layers. With [`Layers::OFF`], the command can read, change and send everything the user
    /// can.
    Exactly(Layers),
}

impl Default for Confinement {
    fn default() -> Self {
        Self::AtLeast(Layers::LANDLOCK_SECCOMP)
    }
}

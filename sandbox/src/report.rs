//! What the machine offers, and what was enforced on a child.
//!
//! Leaves finding out to the platform: these are plain data for outcomes and diagnostics.

use serde::{Deserialize, Serialize};

/// What was enforced on one child, as its helper reported just before it executed the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The name of the tier: `landlock+seccomp`.
    pub tier: String,
    /// The layers in the order in which they were applied.
    pub layers: Vec<String>,
    /// Landlock's ABI as the kernel stated it. From 3 truncation, from 4 TCP, from 5 device controls and
    /// from 6 signals and abstract sockets are held by Landlock as well as by seccomp.
    pub landlock_abi: u32,
}

/// What this kernel offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Support {
    /// The tier that a child will reach.
    pub tier: String,
    /// Landlock's ABI, at least 1.
    pub landlock_abi: u32,
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

//! Errors in policies.

use std::path::PathBuf;

use crate::Layers;

/// An error in a policy, or in the command that it is for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// Some grants need namespaces, which the chosen layers lack.
    #[error("{grants} need a tier with namespaces, but this is `{layers}`")]
    WithoutNamespaces {
        /// The grants.
        grants: &'static str,
        /// The chosen layers.
        layers: Layers,
    },
    /// A path is relative.
    #[error("the {what} {} is not absolute", path.display())]
    NotAbsolute {
        /// The role of the path.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The scratch space has no size.
    #[error("the scratch space has 0 bytes")]
    NoScratchSpace,
    /// An environment variable can't be passed to a process.
    #[error("the environment variable {0:?} has an empty name, a `=` in its name or a NUL byte")]
    Variable(String),
    /// Only servers have the machine's network.
    #[error("programs and compilers can't have the network `full`")]
    Network,
    /// A program's limit of open files is missing.
    #[error("limits.open_files must be set for a program: it protects the executed file")]
    NoOpenFiles,
    /// A program's limit of open files is out of range.
    #[error("limits.open_files is {0}; a program needs 8 to {MAXIMUM_PROGRAM_FILES}")]
    OpenFiles(u64),
    /// The command can't be passed to execve(2).
    #[error("the program or an argument contains a NUL byte")]
    Nul,
    /// The policy can't be sent to the helper.
    #[error("it can't be sent to the helper: {0}")]
    Unsendable(String),
}

/// The executed file has a descriptor above the limit, which must fit under common hard limits (4096 on old
/// systems).
pub(crate) const MAXIMUM_PROGRAM_FILES: u64 = 4000;

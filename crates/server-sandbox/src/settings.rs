//! The settings of one server's sandbox.

use std::path::PathBuf;

use sandbox::Network;

/// The grants of a server beyond its own installation and its working folder, which it reads. The default is what
/// `sandbox: true` means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Absolute paths that it may read, including everything below.
    pub read: Vec<PathBuf>,
    /// Absolute paths that it may read and write, including everything below, except the files that other programs obey
    /// ([`runner::ObeyedFiles`]).
    pub write: Vec<PathBuf>,
    /// Its network (default: the machine's).
    pub network: Network,
    /// Variables that it inherits, by name.
    pub env: Vec<String>,
    /// Maximum processes and threads besides the first (default 512).
    pub processes: u64,
    /// Maximum memory of each process in bytes, and of all together where control groups are delegated (default 4 GiB).
    pub memory: u64,
}

impl Settings {
    /// The default of [`Settings::processes`].
    pub const PROCESSES: u64 = 512;
    /// The default of [`Settings::memory`].
    pub const MEMORY: u64 = 4 << 30;
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            read: Vec::new(),
            write: Vec::new(),
            network: Network::Full,
            env: Vec::new(),
            processes: Self::PROCESSES,
            memory: Self::MEMORY,
        }
    }
}

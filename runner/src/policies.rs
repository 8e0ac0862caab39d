//! What compilers and programs may do, in terms of the sandbox.

use std::path::Path;

use sandbox::{Access, Policy};

use crate::toolchain::Toolchain;

/// Folders where the dynamic libraries of the system lie, by distribution.
const SYSTEM_LIBRARIES: [&str; 5] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"];

/// rustc and its linker: they read the toolchain and `read`, and write to `output`, where they also run.
pub(crate) fn compiler(toolchain: &Toolchain, read: &[&Path], output: &Path) -> Policy {
    let mut policy = Policy::compiler()
        .grant(&toolchain.rustc, Access::ReadExecute)
        .grant(&toolchain.linker, Access::ReadExecute)
        .grant(toolchain.sysroot.join("lib"), Access::Read)
        .grant_if_exists("/lib64/ld-linux-x86-64.so.2", Access::ReadExecute)
        .grant("/dev/null", Access::Write)
        .grant(output, Access::Write)
        .working_folder(output)
        .variable("TMPDIR", output.to_string_lossy())
        .variable("LC_ALL", "C")
        // Without /proc the loader can't resolve `$ORIGIN`.
        .variable("LD_LIBRARY_PATH", toolchain.sysroot.join("lib").to_string_lossy());
    for folder in SYSTEM_LIBRARIES {
        policy = policy.grant_if_exists(folder, Access::Read);
    }
    for path in read {
        policy = policy.grant(*path, Access::Read);
    }
    policy
}

/// `cargo build`, with build scripts and the system's own linker for procedural macros.
pub(crate) fn build(toolchain: &Toolchain, cargo_home: &Path, output: &Path) -> Policy {
    let mut policy = Policy::build()
        .grant(&toolchain.sysroot, Access::ReadExecute)
        .grant(cargo_home, Access::Read)
        .grant("/dev/null", Access::Write)
        .grant(output, Access::Write)
        // Build scripts run where they are built.
        .grant(output, Access::ReadExecute)
        .working_folder(output)
        .variable("PATH", "/usr/local/bin:/usr/bin:/bin")
        .variable("HOME", output.to_string_lossy())
        .variable("TMPDIR", output.to_string_lossy())
        .variable("LC_ALL", "C")
        .variable("CARGO_HOME", cargo_home.to_string_lossy())
        .variable("RUSTC", toolchain.rustc.to_string_lossy())
        .variable("LD_LIBRARY_PATH", toolchain.sysroot.join("lib").to_string_lossy());
    for folder in ["/usr", "/lib", "/lib64", "/bin", "/etc/alternatives"] {
        policy = policy.grant_if_exists(folder, Access::ReadExecute);
    }
    policy.grant_if_exists("/etc/ld.so.cache", Access::Read)
}

/// What a program may use; each value stands in the outcome when it is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of address space (default 512 MiB).
    pub memory: u64,
    /// Seconds of processor time (default 60).
    pub cpu_seconds: u64,
    /// Threads beyond the first (default 64).
    pub threads: u64,
    /// Bytes that it may print, to each of standard output and standard error (default 8 MiB).
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { memory: 512 << 20, cpu_seconds: 60, threads: 64, output: 8 << 20 }
    }
}

/// A snippet's program.
pub(crate) fn program(limits: &Limits) -> Policy {
    Policy::program().limits(|set| {
        set.address_space = Some(limits.memory);
        set.cpu_seconds = Some(limits.cpu_seconds);
        set.processes = Some(limits.threads);
    })
}

//! The sandbox policies of compilers and programs.

use std::path::{Path, PathBuf};

use sandbox::niceness::NICENESS;
use sandbox::{Access, Policy, Scratch};

use crate::error::{Error, ErrorKind, Result};
use crate::obeyed_files::ObeyedFiles;
use crate::protected::{self, Protected};
use crate::toolchain::Toolchain;

/// Folders of the system's dynamic libraries, by distribution. The first two are Debian's.
#[cfg(not(target_arch = "aarch64"))]
pub(crate) const SYSTEM_LIBRARIES: [&str; 5] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"];
#[cfg(target_arch = "aarch64")]
pub(crate) const SYSTEM_LIBRARIES: [&str; 5] =
    ["/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64", "/usr/lib64", "/usr/lib"];

/// The dynamic loader of the GNU C library, by the name that its ABI sets.
const LOADER: &str =
    if cfg!(target_arch = "aarch64") { "/lib/ld-linux-aarch64.so.1" } else { "/lib64/ld-linux-x86-64.so.2" };

/// The policy of rustc and its linker: they read the toolchain and `read`, and write to `output`, their working folder.
pub(crate) fn compiler(toolchain: &Toolchain, read: &[&Path], output: &Path) -> Policy {
    let mut policy = Policy::compiler()
        .grant(&toolchain.rustc, Access::ReadExecute)
        .grant(&toolchain.linker, Access::ReadExecute)
        .grant(toolchain.sysroot.join("lib"), Access::Read)
        .grant_if_exists(LOADER, Access::ReadExecute)
        .grant("/dev/null", Access::Write)
        .grant(output, Access::Write)
        .working_folder(output)
        .variable("TMPDIR", output.to_string_lossy())
        .variable("LC_ALL", "C")
        // Without /proc, the loader can't resolve `$ORIGIN`.
        .variable("LD_LIBRARY_PATH", toolchain.sysroot.join("lib").to_string_lossy());
    for folder in SYSTEM_LIBRARIES {
        policy = policy.grant_if_exists(folder, Access::Read);
    }
    for path in read {
        policy = policy.grant(*path, Access::Read);
    }
    policy
}

/// Memory limit of a compiler, in bytes: that of one process, because rustc waits while its linker runs.
pub(crate) fn compiler_memory() -> u64 {
    Policy::compiler().limits.address_space.unwrap_or(0)
}

/// The search path of builds, for the system's own linker.
pub(crate) const BUILD_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The policy of `cargo build`, with build scripts and the system's own linker for procedural macros.
pub(crate) fn build(toolchain: &Toolchain, cargo_home: &Path, output: &Path) -> Policy {
    let mut policy = Policy::build()
        .grant(&toolchain.sysroot, Access::ReadExecute)
        .grant(cargo_home, Access::Read)
        .grant("/dev/null", Access::Write)
        .grant(output, Access::Write)
        // Build scripts run where they are built.
        .grant(output, Access::ReadExecute)
        .working_folder(output)
        .variable("PATH", BUILD_PATH)
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

/// Resource limits of a program; the outcome reports a limit that was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Maximum address space in bytes (default 512 MiB).
    pub memory: u64,
    /// Maximum processor time in seconds (default 60).
    pub cpu_seconds: u64,
    /// Maximum number of threads beyond the first (default 64).
    pub threads: u64,
    /// The number of threads that compete with other work (default: as many as there are processors). If there are
    /// more, all of them together get as much processor time as so many.
    pub processors: Option<u64>,
    /// The niceness, by which it yields to other work: 0 not at all, 19 uses only idle processor time (default 5).
    pub niceness: u8,
    /// Maximum size in bytes of each of standard output and standard error (default 8 MiB).
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory: 512 << 20,
            cpu_seconds: 60,
            threads: 64,
            processors: None,
            niceness: NICENESS,
            output: 8 << 20,
        }
    }
}

/// The files a program may access: none by default. Needs a tier with namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grants {
    /// Size in bytes of an empty file system of its own: its working folder, which is removed with it.
    pub scratch: Option<u64>,
    /// Instead, a file system shared by all executions with the same value: files persist from one execution to the
    /// next, and concurrent executions see each other's files.
    pub shared_scratch: Option<Scratch>,
    /// Absolute paths that it may read, including everything below.
    pub read: Vec<PathBuf>,
    /// Absolute paths that it may read and write, including everything below, except the files that other programs obey
    /// ([`ObeyedFiles`]).
    pub write: Vec<PathBuf>,
    /// Additional places that `write` may not touch, besides those of the machine.
    pub protected: Vec<Protected>,
}

/// Maximum size of a file that a program writes to a granted path, in bytes (1 GiB). In scratch space, the space is the
/// limit.
pub const FILE_SIZE: u64 = 1 << 30;

impl Grants {
    /// Refuses write access to what is protected: on this machine, with the cache in `cache` and the toolchain in
    /// `sysroot`, and by [`Grants::protected`]. Links are resolved in their current state, so this is checked for each
    /// execution.
    ///
    /// # Errors
    /// The refused path, and the protected place.
    pub fn check(&self, cache: &Path, sysroot: Option<&Path>) -> Result<()> {
        let Some(touched) = protected::touched(&self.write, cache, sysroot, &self.protected) else {
            return Ok(());
        };
        let message = format!("programs may not write to {touched}");
        let hint = "grant a narrower path in codeMode.sandbox.write, apart from it";
        Err(Error::new(ErrorKind::Sandbox, message).hint(hint))
    }

    /// Maximum file size; 0 if there is nothing to write to. Scratch space is full before this is reached.
    fn file_size(&self) -> u64 {
        let granted = if self.write.is_empty() { 0 } else { FILE_SIZE };
        granted.max(self.scratch_bytes().saturating_mul(2))
    }

    /// Size of scratch space in bytes, private or shared.
    fn scratch_bytes(&self) -> u64 {
        self.shared_scratch.as_ref().map(Scratch::bytes).or(self.scratch).unwrap_or(0)
    }
}

/// Threads of each program that wait most of the time: the first one for the snippet's, and the one that reads from the
/// host.
const WAITING_THREADS: u64 = 2;

/// The processors that this process may use.
fn processors() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u64)
}

/// The policy of a snippet's program. Searches what is granted for writing, which may take 20 ms. `base` is the size in
/// bytes of what a base adds to its address space; it does not count against the program's memory.
pub(crate) fn program(limits: &Limits, grants: &Grants, base: u64) -> Policy {
    let mut policy = Policy::program().limits(|set| {
        // Memory for other processes in the program's control group, and for scratch space, which the group counts as
        // memory.
        let overhead = set.total_memory.zip(set.address_space).map_or(0, |(total, own)| total - own);
        set.total_memory = Some(limits.memory + overhead + grants.scratch_bytes());
        set.total_tasks = set.total_tasks.zip(set.processes).map(|(total, own)| total - own + limits.threads);
        set.address_space = Some(limits.memory.saturating_add(base));
        set.cpu_seconds = Some(limits.cpu_seconds);
        set.processes = Some(limits.threads);
        let processors = limits.processors.unwrap_or_else(processors);
        set.competing_threads = Some(processors.saturating_add(WAITING_THREADS));
        set.niceness = limits.niceness;
        set.file_size = Some(grants.file_size());
    });
    for path in &grants.read {
        policy = policy.grant(path, Access::Read);
    }
    for path in &grants.write {
        policy = policy.grant(path, Access::Write);
    }
    policy.read_only.extend(ObeyedFiles::beneath_all(&grants.write));
    match (&grants.shared_scratch, grants.scratch) {
        (Some(shared), _) => policy.shared_scratch(shared),
        (None, Some(bytes)) => policy.scratch(bytes),
        (None, None) => policy,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_threads_compete_as_there_are_processors() {
        let competing = |processors| {
            let limits = Limits { processors, ..Limits::default() };
            program(&limits, &Grants::default(), 0).limits.competing_threads
        };
        assert_eq!(competing(Some(1)), Some(1 + WAITING_THREADS));
        assert_eq!(competing(None), Some(processors() + WAITING_THREADS));
    }
}

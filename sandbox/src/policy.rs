//! Policies: what a child may do. Plain data with documented defaults, sent to the helper as JSON.
//!
//! The platform's modules apply it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::niceness::NICENESS;
use crate::{Confinement, Layers, Scratch};

const MIB: u64 = 1 << 20;

/// The kind of child: which system calls it may make, and how its processes are kept together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Profile {
    /// One static executable that computes and communicates through its descriptors: an allow-list of system
    /// calls. No socket, no fork, no second exec, no executable memory, so a dynamically linked program
    /// cannot even load. No paths either, unless the policy has grants or scratch space. These need
    /// namespaces, and add the system calls that open, list, rename and remove, but none that execute, link,
    /// or change owners and times.
    Program,
    /// A compiler and its linker: a deny-list (network, other processes, kernel interfaces, changing the
    /// mode, owner or times of a path), with Landlock for the file system. Its processes may fork and execute
    /// granted files.
    Compiler,
    /// A build with build scripts, archivers and system linkers: like [`Profile::Compiler`], but it may
    /// change modes and times of paths, which linkers and build tools need (Landlock does not cover them).
    Build,
    /// A server that runs for as long as its client wants: a tree of processes like [`Profile::Compiler`], which may also
    /// use sockets ([`Policy::network`]) and the `/proc` of its own processes. Its namespaces contain what a compiler is
    /// denied, such as sessions, owners and times of paths; without namespaces, it is denied to a server too.
    Server,
}

impl Profile {
    /// Whether the child is a tree of processes that start each other by path.
    pub(crate) fn is_tree(self) -> bool {
        self != Self::Program
    }
}

/// The access allowed under a path. Grants of the same path add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// Read files, list folders.
    Read,
    /// [`Access::Read`], and execute files.
    ReadExecute,
    /// [`Access::Read`], and write, create, rename, link and remove files, folders, symbolic links and pipes.
    Write,
}

/// The network of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Network {
    /// None. UNIX sockets reach its own processes.
    #[default]
    None,
    /// A loopback interface of its own, which only its own processes share. Needs namespaces.
    Loopback,
    /// The machine's. Only for servers.
    Full,
}

/// An empty folder in memory, gone with the child. It may execute files there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFolder {
    /// An absolute path. Grants beneath it are visible in it.
    pub path: PathBuf,
    /// Its maximum size, in bytes.
    pub bytes: u64,
}

/// A path (a file, or a folder with its contents) and the access allowed there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// An absolute path. Symbolic links are resolved when the child starts.
    pub path: PathBuf,
    /// The allowed access.
    pub access: Access,
    /// If the path does not exist: `true` skips the grant, `false` fails the start.
    pub optional: bool,
}

/// Resource limits (`setrlimit(2)`) of each process. `None` keeps the limit of the parent.
///
/// Core dumps, locked memory and message queues are always 0. A value above the parent's hard limit is
/// lowered to it, except [`Limits::open_files`] of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum address space, in bytes (`RLIMIT_AS`).
    pub address_space: Option<u64>,
    /// Maximum writable private memory, in bytes (`RLIMIT_DATA`).
    pub data: Option<u64>,
    /// Maximum stack of the main thread, in bytes (`RLIMIT_STACK`).
    pub stack: Option<u64>,
    /// Maximum processor time, in seconds. SIGXCPU at the limit, SIGKILL one second later (`RLIMIT_CPU`). The time in which
    /// its supervisor refuses system calls counts too.
    pub cpu_seconds: Option<u64>,
    /// Maximum size of a written file, in bytes (`RLIMIT_FSIZE`). Beyond it, a program's write fails (EFBIG)
    /// and a compiler is ended (SIGXFSZ). Pipes and sockets do not count.
    pub file_size: Option<u64>,
    /// Maximum number of descriptors (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Maximum number of threads and processes in addition to the first.
    ///
    /// Since Linux 6.14, each process namespace has its own limit, beyond which starting one fails (`pid_max`). Everywhere,
    /// a supervisor ends a program that has more threads, within a fraction of a second. As an ordinary user, a child and its
    /// processes are also limited to so many beyond those on the machine at the start (`RLIMIT_NPROC`).
    pub processes: Option<u64>,
    /// The number of a program's threads that compete with other work. If it has more, their niceness rises until all
    /// of them together get as much processor time as so many. `None`: each thread competes.
    pub competing_threads: Option<u64>,
    /// Maximum memory of all processes of the child together, in bytes, if groups are delegated
    /// (`memory.max`).
    pub total_memory: Option<u64>,
    /// Maximum number of threads and processes of the child together, if groups are delegated (`pids.max`).
    /// Applies to root as well.
    pub total_tasks: Option<u64>,
    /// The degree to which the child, its supervisor and its session yield to other work (`nice(2)`, `sched(7)`), and
    /// its control group if groups are delegated (`cpu.weight.nice`): 0 not at all, 19 uses only idle processor time.
    /// Where the kernel refuses to change the session's at once, it is changed later.
    pub niceness: u8,
}

/// Everything that a child may do. It includes the complete environment and the working folder: nothing is
/// inherited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// The system calls.
    pub profile: Profile,
    /// The paths. The executed file itself is always granted (read and execute), except in the root of a server, whose
    /// grants must contain it.
    pub grants: Vec<Grant>,
    /// Absolute paths within a grant for writing that are only read, and stay where they are: the folders on the way to
    /// them cannot be renamed either. Only namespaces keep them, because Landlock only adds rights; a program gets no
    /// grants without them. Paths that do not exist are skipped: a child may create them.
    pub read_only: Vec<PathBuf>,
    /// The resource limits.
    pub limits: Limits,
    /// The complete environment.
    pub environment: Vec<(String, String)>,
    /// The working folder, `/` by default.
    pub working_folder: PathBuf,
    /// Size in bytes of the child's own empty file system at [`SCRATCH`], in memory and gone with the child.
    pub scratch: Option<u64>,
    /// Shared scratch space, which replaces the child's own.
    #[serde(skip)]
    pub(crate) shared_scratch: Option<Scratch>,
    /// Folders in memory. Only for servers. Need namespaces.
    pub memory_folders: Vec<MemoryFolder>,
    /// The network.
    pub network: Network,
    /// Whether the supervisor reports what is tried outside the grants ([`Lifeline::attempts`](crate::Lifeline)). Only for
    /// servers. Each call with a path then takes several times as long.
    pub records: bool,
    /// The choice of the layers. The default is the best tier, and at least `landlock+seccomp`.
    pub confinement: Confinement,
}

/// The path of a child's scratch space.
pub const SCRATCH: &str = "/scratch";

/// The lowest address of a program's segments and mappings. Below it is the path with which its own exec is allowed, so
/// a program can place none there.
pub const LOWEST_PROGRAM_ADDRESS: u64 = 0x10_0000;

/// Maximum number of files in scratch space, because its size does not count their kernel structures.
pub const SCRATCH_FILES: usize = 65_536;

impl Policy {
    /// For one static program: no grants, empty environment; 512 MiB of address space (544 MiB of memory,
    /// including its supervisor), 8 MiB of stack, 30 s of processor time, no written files (size 0), 64
    /// descriptors, 64 threads, and lower priority than this process.
    #[must_use]
    pub fn program() -> Self {
        Self::with(
            Profile::Program,
            Limits {
                address_space: Some(512 * MIB),
                data: None,
                stack: Some(8 * MIB),
                cpu_seconds: Some(30),
                file_size: Some(0),
                open_files: Some(64),
                processes: Some(64),
                competing_threads: None,
                total_memory: Some((512 + SUPERVISOR_MEMORY) * MIB),
                total_tasks: Some(64 + SUPERVISOR_TASKS),
                niceness: NICENESS,
            },
        )
    }

    /// For a compiler that starts its own linker: no grants (the caller adds them), empty environment; 3 GiB
    /// of address space (rustc needs 640 MB), no limit on data (below 192 MB rustc hangs without using
    /// processor time), 30 s of processor time, files up to 256 MiB, 256 descriptors, 512 threads and
    /// processes; 4 GiB of memory for all of them together; lower priority than this process.
    #[must_use]
    pub fn compiler() -> Self {
        Self::with(
            Profile::Compiler,
            Limits {
                address_space: Some(3072 * MIB),
                data: None,
                stack: Some(8 * MIB),
                cpu_seconds: Some(30),
                file_size: Some(256 * MIB),
                open_files: Some(256),
                processes: Some(512),
                competing_threads: None,
                total_memory: Some(4096 * MIB),
                total_tasks: Some(512 + SUPERVISOR_TASKS),
                niceness: NICENESS,
            },
        )
    }

    /// For a whole build with build scripts and the system's linker: like [`Policy::compiler`] with
    /// [`Profile::Build`], 6 GiB of address space (8 GiB of memory together), 600 s of processor time per
    /// process, files up to 1 GiB and 1024 descriptors.
    #[must_use]
    pub fn build() -> Self {
        let mut policy = Self::compiler();
        policy.profile = Profile::Build;
        policy.limits.address_space = Some(6 * 1024 * MIB);
        policy.limits.total_memory = Some(8 * 1024 * MIB);
        policy.limits.cpu_seconds = Some(600);
        policy.limits.file_size = Some(1024 * MIB);
        policy.limits.open_files = Some(1024);
        policy
    }

    /// For a server: no grants, empty environment, no network; 4 GiB of memory (each process, and all together), no limit
    /// on address space, processor time and files, 512 threads and processes, and the priority of this process.
    #[must_use]
    pub fn server() -> Self {
        Self::with(
            Profile::Server,
            Limits {
                // Runtimes that compile reserve far more than they use.
                address_space: None,
                data: Some(4096 * MIB),
                stack: None,
                cpu_seconds: None,
                file_size: None,
                open_files: None,
                processes: Some(512),
                competing_threads: None,
                total_memory: Some((4096 + SUPERVISOR_MEMORY) * MIB),
                total_tasks: Some(512 + SUPERVISOR_TASKS),
                niceness: 0,
            },
        )
    }

    fn with(profile: Profile, limits: Limits) -> Self {
        Self {
            profile,
            grants: Vec::new(),
            read_only: Vec::new(),
            limits,
            environment: Vec::new(),
            working_folder: PathBuf::from("/"),
            scratch: None,
            shared_scratch: None,
            memory_folders: Vec::new(),
            network: Network::None,
            records: false,
            confinement: Confinement::default(),
        }
    }

    /// Grants a path that must exist.
    #[must_use]
    pub fn grant(mut self, path: impl Into<PathBuf>, access: Access) -> Self {
        self.grants.push(Grant { path: path.into(), access, optional: false });
        self
    }

    /// Grants a path if it exists.
    #[must_use]
    pub fn grant_if_exists(mut self, path: impl Into<PathBuf>, access: Access) -> Self {
        self.grants.push(Grant { path: path.into(), access, optional: true });
        self
    }

    /// Keeps a path within a grant for writing as it is; see [`Policy::read_only`].
    #[must_use]
    pub fn read_only(mut self, path: impl Into<PathBuf>) -> Self {
        self.read_only.push(path.into());
        self
    }

    /// Adds an empty folder in memory.
    #[must_use]
    pub fn memory_folder(mut self, path: impl Into<PathBuf>, bytes: u64) -> Self {
        self.memory_folders.push(MemoryFolder { path: path.into(), bytes });
        self
    }

    /// Sets the network.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Has the supervisor report what is tried outside the grants.
    #[must_use]
    pub fn record(mut self) -> Self {
        self.records = true;
        self
    }

    /// Adds one variable to the environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Sets the working folder.
    #[must_use]
    pub fn working_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.working_folder = folder.into();
        self
    }

    /// Adds scratch space of this size, and makes it the working folder. Needs namespaces.
    #[must_use]
    pub fn scratch(mut self, bytes: u64) -> Self {
        self.scratch = Some(bytes);
        self.shared_scratch = None;
        self.working_folder = PathBuf::from(SCRATCH);
        self
    }

    /// Adds scratch space that is shared with all children that get the same one, also while they run, and
    /// makes it the working folder. Needs namespaces.
    #[must_use]
    pub fn shared_scratch(mut self, scratch: &Scratch) -> Self {
        self = self.scratch(scratch.bytes());
        self.shared_scratch = Some(scratch.clone());
        self
    }

    /// Sets how the layers are chosen.
    #[must_use]
    pub fn confinement(mut self, confinement: Confinement) -> Self {
        self.confinement = confinement;
        self
    }

    /// Changes limits: `policy.limits(|limits| limits.cpu_seconds = Some(5))`.
    #[must_use]
    pub fn limits(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Whether a program may access paths, and so gets the system calls for them.
    pub(crate) fn has_paths(&self) -> bool {
        self.scratch.is_some() || !self.grants.is_empty()
    }

    /// Checks the policy under the chosen layers. The error describes the problem.
    pub(crate) fn check_with(&self, layers: Layers) -> Result<(), PolicyError> {
        if layers.namespaces || layers == Layers::OFF && self.scratch.is_none() {
            return Ok(());
        }
        // Landlock does not cover `stat`, modes and times, so paths require the child's own root.
        let grants = match (self.scratch, self.profile) {
            (Some(_), _) => "grants of scratch space",
            (None, Profile::Program) if self.has_paths() => "a program's grants of paths",
            // Landlock can't take away what a folder's grant allows.
            (None, _) if !self.read_only.is_empty() => "files that stay read-only in a folder for writing",
            (None, _) if !self.memory_folders.is_empty() => "folders in memory",
            (None, _) if self.network == Network::Loopback => "network interfaces of its own (`loopback`)",
            _ => return Ok(()),
        };
        Err(PolicyError::WithoutNamespaces { grants, layers })
    }

    /// Checks the policy before anything is started. The error describes the problem.
    pub(crate) fn check(&self) -> Result<(), PolicyError> {
        let granted = self.grants.iter().map(|grant| ("granted path", &grant.path));
        let kept = self.read_only.iter().map(|path| ("read-only path", path));
        let memory = self.memory_folders.iter().map(|folder| ("folder in memory", &folder.path));
        if let Some((what, path)) = granted.chain(kept).chain(memory).find(|(_, path)| !path.is_absolute()) {
            return Err(PolicyError::NotAbsolute { what, path: path.clone() });
        }
        if !self.working_folder.is_absolute() {
            let path = self.working_folder.clone();
            return Err(PolicyError::NotAbsolute { what: "working folder", path });
        }
        if self.scratch == Some(0) {
            return Err(PolicyError::NoScratchSpace);
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(PolicyError::Variable(name.clone()));
            }
        }
        if self.profile != Profile::Server && self.network == Network::Full {
            return Err(PolicyError::Network);
        }
        match (self.profile, self.limits.open_files) {
            (Profile::Program, None) => Err(PolicyError::NoOpenFiles),
            (Profile::Program, Some(count)) if !(8..=MAXIMUM_PROGRAM_FILES).contains(&count) => {
                Err(PolicyError::OpenFiles(count))
            }
            _ => Ok(()),
        }
    }
}

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

/// Memory (in MiB) and number of the other processes in the command's control group: the supervisor and the
/// init process.
const SUPERVISOR_MEMORY: u64 = 32;
const SUPERVISOR_TASKS: u64 = 2;

/// The executed file has a descriptor above the limit, which must fit under common hard limits (4096 on old
/// systems).
const MAXIMUM_PROGRAM_FILES: u64 = 4000;

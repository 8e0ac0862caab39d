//! What a child may do: plain data with documented defaults, carried to the helper as JSON.
//!
//! Leaves applying it to the platform's modules.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Confinement, Layers, Scratch};

const MIB: u64 = 1 << 20;

/// Which family of system calls a child may make, and how it is held together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Profile {
    /// One static executable that computes and talks over descriptors that it has: an allow-list of system
    /// calls. No socket, no fork, no second exec, no executable memory, so a dynamically linked program cannot even
    /// load. No path either, unless the policy has grants or scratch space: these need namespaces, and bring the
    /// system calls that open, list, rename and remove, but none that executes, links, or changes owners and times.
    Program,
    /// A compiler and its linker: a deny-list (network, other processes, kernel interfaces, changing the mode,
    /// owner or times of a path), with Landlock for the file system. Its processes may fork and execute what is granted.
    Compiler,
    /// A build with build scripts, archivers and linkers of the system: [`Profile::Compiler`], but the mode and the times
    /// of a path can be changed (Landlock does not cover them), which linkers and build tools need.
    Build,
}

impl Profile {
    /// Whether it stands for a tree of processes, which start each other by path.
    pub(crate) fn is_tree(self) -> bool {
        self != Self::Program
    }
}

/// What may be done beneath a path. Grants of the same path add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// Read files, list folders.
    Read,
    /// [`Access::Read`], and execute files.
    ReadExecute,
    /// [`Access::Read`], and write, create, rename, link and remove files, folders, symbolic links and pipes.
    Write,
}

/// A path (a file, or a folder with all beneath it) and what may be done there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// An absolute path. Symbolic links are resolved when the child starts.
    pub path: PathBuf,
    /// What may be done.
    pub access: Access,
    /// If the path does not exist: `true` skips the grant, `false` refuses to start.
    pub optional: bool,
}

/// Resource limits (`setrlimit(2)`) of each process. `None` leaves the limit of the parent.
///
/// Core dumps, locked memory and message queues are always 0. A value above the hard limit of the parent is
/// lowered to it, but for [`Limits::open_files`] of a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of address space (`RLIMIT_AS`).
    pub address_space: Option<u64>,
    /// Bytes of writable private memory (`RLIMIT_DATA`).
    pub data: Option<u64>,
    /// Bytes of the main thread's stack (`RLIMIT_STACK`).
    pub stack: Option<u64>,
    /// Seconds of processor time; SIGXCPU at the limit, SIGKILL one second later (`RLIMIT_CPU`).
    pub cpu_seconds: Option<u64>,
    /// Bytes of any file written (`RLIMIT_FSIZE`), beyond which a program's write fails (EFBIG) and a
    /// compiler is ended (SIGXFSZ); pipes and sockets do not count.
    pub file_size: Option<u64>,
    /// Descriptors (`RLIMIT_NOFILE`).
    pub open_files: Option<u64>,
    /// Threads and processes beyond those that exist on the machine at the start (`RLIMIT_NPROC`). The kernel
    /// counts all of the user's, wherever they were started, and exempts root: for root this bounds nothing, and
    /// threads are bounded by [`Limits::address_space`] alone.
    pub processes: Option<u64>,
    /// Bytes of memory of all processes of the child together, where a control group can be made (`memory.max`).
    pub total_memory: Option<u64>,
    /// Threads and processes of the child together, where a control group can be made (`pids.max`). Holds for root as well.
    pub total_tasks: Option<u64>,
    /// By how much other work comes first (`nice(2)`): 0 not at all, 19 only what nobody else wants is used.
    pub niceness: u8,
}

/// Everything that a child may do. Its complete environment and working folder are part of it: nothing is inherited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Which system calls.
    pub profile: Profile,
    /// Which paths. The executed file itself is always granted (read and execute).
    pub grants: Vec<Grant>,
    /// How much.
    pub limits: Limits,
    /// The complete environment.
    pub environment: Vec<(String, String)>,
    /// The working folder, `/` by default.
    pub working_folder: PathBuf,
    /// Bytes of an empty file system of the child's own at [`SCRATCH`], in memory and gone with the child.
    pub scratch: Option<u64>,
    /// The file system that it has there instead, if it shares one with others.
    #[serde(skip)]
    pub(crate) shared_scratch: Option<Scratch>,
    /// How the layers are chosen; by default the best tier, and at least `landlock+seccomp`.
    pub confinement: Confinement,
}

/// Where a child finds its scratch space.
pub const SCRATCH: &str = "/scratch";

impl Policy {
    /// For one static program: no grant, empty environment; 512 MiB of address space (of memory, with its supervisor,
    /// 544 MiB), 8 MiB of stack, 30 s of processor time, no files (size 0), 64 descriptors, 64 threads.
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
                total_memory: Some((512 + SUPERVISOR_MEMORY) * MIB),
                total_tasks: Some(64 + SUPERVISOR_TASKS),
                niceness: 0,
            },
        )
    }

    /// For a compiler that starts its own linker: no grant (the caller adds them), empty environment; 3 GiB of
    /// address space (rustc needs 640 MB), no limit on data (below 192 MB rustc hangs without using processor time),
    /// 30 s of processor time, files up to 256 MiB, 256 descriptors, 512 threads and processes; 4 GiB for all of them together.
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
                total_memory: Some(4096 * MIB),
                total_tasks: Some(512 + SUPERVISOR_TASKS),
                niceness: 0,
            },
        )
    }

    /// For a whole build with build scripts and the system's linker: as [`Policy::compiler`] with
    /// [`Profile::Build`], 6 GiB of address space (8 GiB together), 600 s of processor time for each process, files up to 1 GiB and 1024 descriptors.
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

    fn with(profile: Profile, limits: Limits) -> Self {
        Self {
            profile,
            grants: Vec::new(),
            limits,
            environment: Vec::new(),
            working_folder: PathBuf::from("/"),
            scratch: None,
            shared_scratch: None,
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

    /// Gives scratch space of this many bytes, and makes it the working folder. Needs namespaces.
    #[must_use]
    pub fn scratch(mut self, bytes: u64) -> Self {
        self.scratch = Some(bytes);
        self.shared_scratch = None;
        self.working_folder = PathBuf::from(SCRATCH);
        self
    }

    /// Gives scratch space that it shares with all children that are given the same, also while they run. It is the working
    /// folder. Needs namespaces.
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

    /// Whether a program has paths of its own, and so the system calls for them.
    pub(crate) fn has_paths(&self) -> bool {
        self.scratch.is_some() || !self.grants.is_empty()
    }

    /// What is wrong with the policy under the chosen layers.
    pub(crate) fn check_with(&self, layers: Layers) -> Result<(), String> {
        if layers.namespaces || layers == Layers::OFF && self.scratch.is_none() {
            return Ok(());
        }
        // Landlock does not see `stat`, modes and times, so paths are for a root of the child's own.
        let wanted = match (self.scratch, self.profile) {
            (Some(_), _) => "grants of scratch space",
            (None, Profile::Program) if self.has_paths() => "a program's grants of paths",
            _ => return Ok(()),
        };
        Err(format!("{wanted} need a tier with namespaces, and this is `{layers}`"))
    }

    /// What is wrong with the policy as data, before anything is started.
    pub(crate) fn check(&self) -> Result<(), String> {
        if let Some(grant) = self.grants.iter().find(|grant| !grant.path.is_absolute()) {
            return Err(format!("the granted path {} is not absolute", grant.path.display()));
        }
        if !self.working_folder.is_absolute() {
            return Err(format!("the working folder {} is not absolute", self.working_folder.display()));
        }
        if self.scratch == Some(0) {
            return Err("scratch space of 0 bytes".to_owned());
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return Err(format!(
                    "the environment variable {name:?} has an empty name, a `=` in its name or a NUL byte"
                ));
            }
        }
        match (self.profile, self.limits.open_files) {
            (Profile::Program, None) => {
                Err("limits.open_files must be set for a program: it keeps the executed file out of reach"
                    .to_owned())
            }
            (Profile::Program, Some(count)) if !(8..=MAXIMUM_PROGRAM_FILES).contains(&count) => {
                Err(format!("limits.open_files is {count}, a program needs 8 to {MAXIMUM_PROGRAM_FILES}"))
            }
            _ => Ok(()),
        }
    }
}

/// MiB of memory, and processes, that stand beside the command in its control group: the supervisor and the init process.
const SUPERVISOR_MEMORY: u64 = 32;
const SUPERVISOR_TASKS: u64 = 2;

/// The executed file is kept at a descriptor above the limit, which must fit under common hard limits (4096 on old systems).
const MAXIMUM_PROGRAM_FILES: u64 = 4000;

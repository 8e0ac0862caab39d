//! A policy and a command in, a confined process out (Linux on x86_64 and arm64).
//!
//! Not in this crate: reading the child's output, wall-clock limits, and everything about the child's
//! computation. It knows nothing about compilers, protocols or event loops.
//!
//! # How it works
//!
//! [`Sandbox::spawn`] starts the calling executable again, or a small program beside it ([`use_helper`]), by
//! `posix_spawn`, so that no code runs between fork and exec. [`entry`], the first call in `main`, turns that second
//! process into the helper. The helper reads the policy from a socket, enters new namespaces and forks. The forked process builds a root with the
//! granted paths, applies every other layer to itself and executes the command. The helper stays as its
//! supervisor. If a layer cannot be applied, everything ends and [`Sandbox::spawn`] returns a [`SpawnError`]
//! that names the step. No child ever runs with less than its policy.
//!
//! The machine decides which [`Layers`] are available: a [`Policy`] states the minimum that it accepts
//! ([`Confinement`]), [`probe`] reports what is supported, and [`Child::report`] what was enforced.
//!
//! ```no_run
//! use sandbox::{Command, Policy, Sandbox};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     sandbox::entry();
//!     let sandbox = Sandbox::new(Policy::program());
//!     let mut child = sandbox.spawn(Command::new("/path/to/static-program"))?;
//!     let status = child.wait()?;
//!     println!("{status}, confined by {}", child.report().tier);
//!     Ok(())
//! }
//! ```
//!
//! # Three kinds of child
//! - [`Profile::Program`]: one static executable; no socket, fork or second exec, and only granted paths. A call that
//!   its filter does not allow goes to the supervisor, which refuses and records it: [`Child::evidence`].
//! - [`Profile::Compiler`] and [`Profile::Build`]: a tree of processes that works on granted paths.
//! - [`Profile::Server`]: such a tree with sockets, which another part of the caller reads, ends and reaps
//!   ([`Child::into_server`]).
//!
//! When the first process ends, when [`Child`] is dropped or when this process dies, the supervisor kills and
//! reaps all processes: through the process namespace, or through a process group that they cannot leave.
//!
//! # What is not confined
//! - A compiler without namespaces: it sees which paths exist and their `stat`. Before Linux 6.12 it can signal
//!   other processes of the same user with `tgkill`.
//! - A tree without a control group: its total memory and processor time (limits apply to each process), and for root,
//!   before Linux 6.14 or without namespaces, the number of its processes.
//! - A program without namespaces: before Linux 6.12, `abort` in a thread other than the first ends with SIGSEGV instead
//!   of SIGABRT, because the thread may not signal itself by `tkill`.
//! - Side channels, and wall-clock time: the caller polls [`Child`]'s descriptor and kills the child.

#![cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    allow(dead_code, reason = "other platforms never start a child")
)]

/// A hash of this crate's sources (`build.rs`). A program and a helper of different builds may not understand each other.
pub const BUILD: &str = env!("SANDBOX_BUILD");

mod command;
mod error;
mod layers;
pub mod niceness;
mod policy;
mod policy_error;
mod report;

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[path = "linux/mod.rs"]
#[allow(unsafe_code, reason = "system calls without a safe function: fork, exec, namespaces, filters")]
mod platform;
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
#[path = "unsupported.rs"]
mod platform;

pub use command::Command;
pub use error::{Failure, SpawnError, Step};
pub use layers::{Confinement, Layers, UnknownTier};
pub use platform::{
    Child, Lifeline, Sandbox, Scratch, Server, available_memory, end_waiting_helper, entry, has_helper,
    helper_beside, hide_from_others, probe, tasks_on_machine, use_helper,
};
#[cfg(all(
    feature = "timings",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub use platform::{Reading, now};
pub use policy::{
    Access, Grant, LOWEST_PROGRAM_ADDRESS, Limits, MemoryFolder, Network, Policy, Profile, SCRATCH,
    SCRATCH_FILES,
};
pub use policy_error::PolicyError;
pub use report::{Attempt, Evidence, Mechanism, Report, Support, Unsupported, system_call_name};

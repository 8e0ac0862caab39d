//! A policy and a command in, a confined process out (Linux x86_64).
//!
//! Leaves to others: reading the child's output, wall clocks, and everything about what the
//! child computes. The crate knows nothing of compilers, protocols or event loops.
//!
//! # How it works
//! [`Sandbox::spawn`] starts the calling executable again (`posix_spawn`, nothing runs between fork and
//! exec), and [`entry`], called first thing in `main`, turns that second process into the helper: it reads
//! the policy from a socket, goes into namespaces of its own, and forks. What it forks makes a root with the granted
//! paths, applies every other layer to itself and executes the command; the helper stays as its supervisor. A layer that
//! cannot be applied ends all of it, and [`Sandbox::spawn`] returns a [`SpawnError`] that names the step; there is no
//! way to a child that runs with less than its policy.
//!
//! Which [`Layers`] there are is the machine's business: a [`Policy`] states the least that it accepts
//! ([`Confinement`]), [`probe`] tells what there is, and [`Child::report`] what was enforced.
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
//! # Two kinds of child
//! - [`Profile::Program`]: one static executable; no socket, fork or second exec, and no path but for what is granted. What
//!   its filter does not allow is brought before the supervisor, which refuses it and remembers it: [`Child::evidence`].
//! - [`Profile::Compiler`] and [`Profile::Build`]: a tree of processes that works on granted paths.
//!
//! The supervisor kills and reaps all of it when the first process ends, when [`Child`] is dropped, or when this process
//! dies: by the end of the process namespace, or by a process group that the tree cannot leave.
//!
//! # What is not confined
//! - Without namespaces, for a compiler: whether paths exist and their `stat`, and before Linux 6.12 signals by `tgkill` to
//!   other processes of the same user.
//! - Without a control group: memory and processor time of a tree as a whole (the limits hold for each process), and for root
//!   the number of threads.
//! - For a program without namespaces: on Linux before 6.12 `abort` in a thread other than the first ends with SIGSEGV instead
//!   of SIGABRT, because the thread may not signal itself by `tkill`.
//! - Side channels, and time on the clock: the caller polls [`Child`]'s pidfd and kills.

#![cfg_attr(
    not(all(target_os = "linux", target_arch = "x86_64")),
    allow(dead_code, reason = "elsewhere nothing is ever started")
)]

mod command;
mod error;
mod layers;
mod policy;
mod report;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "linux/mod.rs"]
mod platform;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
#[path = "unsupported.rs"]
mod platform;

pub use command::Command;
pub use error::{Failure, SpawnError, Step};
pub use layers::{Confinement, Layers, UnknownTier};
pub use platform::{Child, Sandbox, Scratch, available_memory, entry, hide_from_others, probe};
pub use policy::{Access, Grant, Limits, Policy, Profile, SCRATCH};
pub use report::{Evidence, Mechanism, Report, Support, Unsupported, system_call_name};

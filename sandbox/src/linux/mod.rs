//! Linux x86_64: the parent's side (`spawn`, `spawner`), the helper's side (`helper` and the layers it
//! applies), and what both share (`control`, `probe`).
//!
//! Leaves the plain data to the crate's root.

mod cgroup;
mod control;
mod exec;
mod filesystem;
mod helper;
mod init;
mod limits;
mod listener;
mod memory;
mod namespaces;
mod privileges;
mod probe;
mod root;
mod scratch;
mod seccomp;
mod spawn;
mod spawner;
mod supervise;

pub use helper::entry;
pub use memory::available_memory;
pub use privileges::hide_from_others;
pub use probe::probe;
pub use scratch::Scratch;
pub use spawn::{Child, Sandbox};

/// `argv[0]` of a helper, by which `entry` knows it. The command and its arguments follow.
const HELPER_NAME: &str = "sandbox-helper:confine";

/// `argv[0]` of a helper that only tries what the machine allows.
const PROBE_NAME: &str = "sandbox-helper:probe";

/// `argv[0]` of a helper that only makes scratch space.
const SCRATCH_NAME: &str = "sandbox-helper:scratch";

/// The child's number for the descriptor passed on.
const BROKER_DESCRIPTOR: i32 = 3;

/// Descriptors that only the helper uses stand at or above this number, clear of the child's own.
const FIRST_PRIVATE_DESCRIPTOR: i32 = 10;

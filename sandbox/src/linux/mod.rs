//! The implementation for Linux on x86_64 and arm64: the parent's side (`spawn`, `child`, `spawner`), the helper's side
//! (`helper` and the layers it applies), and shared parts (`control`, `probe`).
//!
//! Plain data types are in the crate's root.

mod cgroup;
mod child;
mod control;
mod descriptors;
mod exec;
mod executable;
mod filesystem;
mod helper;
mod init;
mod limits;
mod listener;
mod memory;
mod namespaces;
mod oversight;
mod parent;
mod privileges;
mod probe;
mod processor_time;
mod recorder;
mod root;
mod scratch;
mod seccomp;
mod spawn;
mod spawner;
mod supervise;
mod timings;
mod waiting;

pub use child::{Child, Lifeline, Server};
pub use executable::{has_helper, helper_beside, probe, use_helper};
pub use helper::entry;
pub use limits::tasks_on_machine;
pub use memory::available_memory;
pub use privileges::hide_from_others;
pub use scratch::Scratch;
pub use spawn::Sandbox;
pub use waiting::end_waiting_helper;
#[cfg(feature = "timings")]
pub use {control::Reading, timings::now};

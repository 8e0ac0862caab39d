//! An execution from its request to its end, for commands and for clients ([`Execution`]), and the process that it runs
//! in: its configuration, its relation to other processes, and the events of subagents.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

#[cfg(feature = "process")]
pub mod debug;
mod execution;
#[cfg_attr(not(feature = "history"), path = "not_kept.rs")]
mod kept;
#[cfg(feature = "process")]
pub mod process;
#[cfg(feature = "process")]
pub mod setup;
#[cfg(feature = "process")]
pub mod subagent_log;
mod text;

pub use execution::{Execution, NewExecution, Recorded, Tools};
pub use kept::Kept;

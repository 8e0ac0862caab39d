//! An execution from its request to its end, for commands and for clients ([`Execution`]), and the process that it runs
//! in: its configuration, its relation to other processes, and the events of subagents.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod debug;
mod execution;
pub mod process;
pub mod setup;
pub mod subagent_log;

pub use execution::{Execution, Kept, NewExecution, Recorded, Tools};

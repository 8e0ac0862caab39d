//! Code shared by several test programs.

#![forbid(unsafe_code)]

pub mod browser;
pub mod checks;
pub mod fault_proxy;
pub mod hard_inputs;
pub mod models;
pub mod processes;
pub mod recording_server;
pub mod reductions;
pub mod s3_server;

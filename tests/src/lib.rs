//! Code shared by several test programs.

#![forbid(unsafe_code)]

pub mod api_server;
pub mod browser;
pub mod cache;
pub mod checks;
pub mod fault_proxy;
pub mod hard_inputs;
pub mod harness;
pub mod models;
pub mod page;
pub mod processes;
pub mod protected_server;
pub mod recording_server;
pub mod reductions;
pub mod s3_server;
pub mod scripted;
pub mod services;
pub mod serving;
pub mod tiers;

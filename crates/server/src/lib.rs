//! The MCP server over all configured servers, over stdio and HTTP, with audit log, traces and the events of subagents.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod approval;
pub mod caller;
pub mod catalog_watcher;
pub mod client_host;
pub mod client_tasks;
pub mod definitions;
mod execute;
pub mod execution_slots;
#[cfg(test)]
mod fixtures;
mod handshake;
mod helper_ahead;
pub mod http;
pub mod in_process;
mod instructions;
mod journal;
pub mod json_size;
mod kept_outputs;
pub mod level;
mod line_transport;
mod message;
mod metrics;
pub mod multi_round_trip;
pub mod open_questions;
mod optimize;
pub mod options;
pub mod output_store;
mod page_prompt;
mod peer_address;
mod pending;
pub mod pipes;
mod precompile;
mod programs;
mod progress;
pub mod protocol_types;
mod proxy;
mod pulse;
mod quota;
pub mod recorder;
mod refusal;
pub mod reload;
mod resource;
pub mod resources_and_prompts;
pub mod runtime;
mod scrape;
pub mod serve;
pub mod server_log;
pub mod service;
pub mod session;
mod settings_in_force;
mod shared_sessions;
mod shared_state;
pub mod shares;
pub mod shutdown;
mod sinks;
pub mod snapshot;
mod spare_compilers;
mod standard_streams;
pub mod state;
mod subject_usage;
mod subject_views;
mod tool_forms;
pub mod tool_result_files;
pub mod upstreams;

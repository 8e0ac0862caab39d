//! The MCP server over all configured servers, over stdio and HTTP, and subagents as one tool; with audit log, traces
//! and the events of subagents.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod answer;
pub mod answer_shapes;
mod approval;
pub mod assistant;
mod audit;
pub mod caller;
pub mod catalog_watcher;
pub mod check;
pub mod client_host;
pub mod client_profile;
pub mod conversations;
pub mod definitions;
mod execute;
mod execution_slots;
#[cfg(test)]
mod fixtures;
mod handshake;
mod helper_ahead;
pub mod http;
mod identity;
mod in_process;
mod instructions;
mod journal;
mod json_size;
mod kept_outputs;
mod level;
mod line_transport;
mod message;
mod metrics;
mod multi_round_trip;
pub mod open_questions;
mod optimize;
pub mod options;
pub mod output_store;
mod page_prompt;
mod peer_address;
mod pending;
mod pipes;
mod precompile;
mod programs;
mod progress;
mod protocol_types;
mod proxy;
mod pulse;
mod quota;
mod refusal;
pub mod reload;
mod resource;
mod resources_and_prompts;
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
mod shutdown;
mod sinks;
pub mod snapshot;
mod spare_compilers;
mod standard_streams;
mod state;
pub mod subagent;
mod subject_usage;
mod subject_views;
mod telemetry;
mod tool_forms;
pub mod tool_result_files;
mod upstreams;

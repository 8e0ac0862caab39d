//! Connects programs to servers: the available tools, their descriptions for models, permissions, and the sessions
//! that carry calls.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod audience;
pub mod browser;
#[cfg(feature = "remote-cache")]
pub mod cache;
mod call_guard;
pub mod calls;
pub mod catalog;
pub mod config_secrets;
pub mod direct;
pub mod discovery;
pub mod exit_code;
pub mod failure;
pub mod first_start;
#[doc(hidden)]
pub mod fuzzing;
pub mod login_hook;
pub mod observed;
pub mod outcome_text;
pub mod permission;
pub mod pins;
pub mod program_crate;
pub mod propagation;
pub mod recording;
pub mod reference;
pub mod resource_address;
pub mod resources;
pub mod saved_programs;
pub mod server_skills;
pub mod session_host;
pub mod sessions;
pub mod terminal_host;
pub mod terminal_prompter;
pub mod tool_count;
pub mod tool_list;
pub mod tool_rows;
pub mod unavailable;
pub mod unmatched;
mod view_mark;
mod waiting;

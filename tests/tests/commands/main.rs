//! The commands of `toolsmith` from end to end: configuration, clients, logins, console, and what they print.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod asking;
mod bundle;
mod cache;
mod cache_budget;
mod cached_results;
mod clients;
mod clients_adopted;
mod clients_checked;
mod clients_found;
mod codegen;
mod command_line;
mod commands;
mod compaction;
mod configuration;
mod confined_servers;
mod consent;
mod console;
mod conversations;
mod doctor;
mod documentation;
mod examples;
mod first_use;
mod history;
mod keyring;
mod layers;
mod logins;
mod missing;
mod mistakes;
mod observed;
mod other_users;
mod permissions;
mod pinning;
mod pins_of_layers;
mod readme;
mod remembered;
mod remote;
mod resources;
mod state;
mod statistics;
mod texts;
mod tls_and_proxies;
mod toolchain;
mod update;
mod waits;

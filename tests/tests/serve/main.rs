//! `toolsmith serve` and `toolsmith mcp serve` from end to end, as their clients see them.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod ahead;
mod answers;
mod apps;
mod audit;
mod clients;
mod compilers;
mod confined;
mod content_blocks;
mod event_loop;
mod floods;
mod flows;
mod forwarded;
mod going_on;
mod heads;
mod helper;
mod http;
mod http_shutdown;
mod identities;
mod killed;
mod memory;
mod metrics;
mod offered;
mod permission;
mod pipes;
mod progress;
mod questions;
mod recursion;
mod reload;
mod replicas;
mod revisions;
mod scratch;
mod skills;
mod spares;
mod spares_http;
mod stateless;
mod stateless_servers;
mod subagents;
mod tasks;
mod thousand;
mod traces;
mod turns;

//! `toolsmith run` from end to end: the real binary, real compilers, real servers.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod adversity;
mod asking;
mod broker;
mod cache;
mod cancel;
mod clients;
mod codegen;
mod commands;
mod configuration;
mod confinement;
mod diagnostics;
mod doctor;
mod endings;
mod forms;
mod grants;
mod harness;
mod helpers;
mod hints;
mod hostile;
mod layers;
mod logins;
mod lookups;
mod observed;
mod outcome;
mod permissions;
mod pinning;
mod pseudoterminal;
mod reading;
mod remote;
mod repairs;
mod resources;
mod results;
mod serve_http;
mod serve_pipes;
mod serve_reload;
mod serve_stateless;
mod servers;
mod services;
mod serving;
mod toolchain;
mod transit;
mod ways;

//! `toolsmith run` from end to end: the real binary, real compilers, real servers.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod adversarial;
mod adversity;
mod argument_forms;
mod arguments;
mod broken;
mod broker;
mod call_forms;
mod cancel;
mod confinement;
mod diagnostics;
mod endings;
mod escapes;
mod forms;
mod grants;
mod helpers;
mod hints;
mod hostile;
mod linking;
mod lookups;
mod openapi;
mod optimized;
mod outcome;
mod reading;
mod remote_cache;
mod repairs;
mod results;
mod sandbox_helper;
mod servers;
mod snippets;
mod values;

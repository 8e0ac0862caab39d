//! Every golden file as a module: that this compiles is the test.

#![deny(warnings)]

#[path = "golden/demo.rs"]
pub mod demo;
#[path = "golden/everything.rs"]
pub mod everything;
#[path = "golden/fetch.rs"]
pub mod fetch;
#[path = "golden/filesystem.rs"]
pub mod filesystem;
#[path = "golden/git.rs"]
pub mod git;
#[path = "golden/memory.rs"]
pub mod memory;
#[path = "golden/nasty.rs"]
pub mod nasty;
#[path = "golden/sequential_thinking.rs"]
pub mod sequential_thinking;
#[path = "golden/time.rs"]
pub mod time;

//! Every golden file as a module: that this compiles is the test.

#![deny(warnings)]

#[rustfmt::skip]
#[path = "golden/demo.rs"]
pub mod demo;
#[rustfmt::skip]
#[path = "golden/everything.rs"]
pub mod everything;
#[rustfmt::skip]
#[path = "golden/fetch.rs"]
pub mod fetch;
#[rustfmt::skip]
#[path = "golden/filesystem.rs"]
pub mod filesystem;
#[rustfmt::skip]
#[path = "golden/git.rs"]
pub mod git;
#[rustfmt::skip]
#[path = "golden/memory.rs"]
pub mod memory;
#[rustfmt::skip]
#[path = "golden/nasty.rs"]
pub mod nasty;
#[rustfmt::skip]
#[path = "golden/sequential_thinking.rs"]
pub mod sequential_thinking;
#[rustfmt::skip]
#[path = "golden/time.rs"]
pub mod time;

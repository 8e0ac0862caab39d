//! Saved programs, and the local page of `toolsmith ui`, from end to end.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod programs;
mod ui;
mod ui_actions;

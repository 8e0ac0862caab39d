//! The servers that other tests put behind the product, spoken to line by line, so that a fault of theirs is no riddle.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod catalog;
mod conformance;
mod talk;

//! Models behind the wire formats of their providers: what is sent, heard, replayed, tried again, given up.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod answers;
mod failures;
mod fixture;
mod replays;

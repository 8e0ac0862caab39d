//! Models behind their providers' wire formats: requests, streaming, replays, retries and failures.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod answers;
mod failures;
mod fixture;
mod replays;

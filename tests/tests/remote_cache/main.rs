//! The remote cache against an S3 server, a folder and an HTTP server: entries, attacks on them, leases and faults.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod entries;
mod faults;
mod fixture;
mod leases;
mod stores;

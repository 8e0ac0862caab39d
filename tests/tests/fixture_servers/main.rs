//! Direct tests of the servers that other tests put behind the product, so that their own faults are found here.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod catalog;
mod conformance;
mod talk;

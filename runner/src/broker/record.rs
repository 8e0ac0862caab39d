//! The acts of a program, as recorded by its execution.

use bridge::wire::{Finish, Warning};
use serde_json::value::RawValue;

use crate::outcome::CallRecord;
use crate::refused::CallsRefused;

/// Maximum number of calls listed in an outcome; the rest are only counted.
pub const CALLS_KEPT: usize = 1000;

/// The acts of a program so far; outlives a broker that is dropped early.
#[derive(Debug, Default)]
pub(crate) struct ProgramRecord {
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) calls_total: u64,
    pub(crate) refused: CallsRefused,
    pub(crate) content: Vec<Box<RawValue>>,
    pub(super) content_bytes: usize,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) finish: Option<Finish>,
}

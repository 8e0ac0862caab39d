//! What a program has done, as its execution keeps it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bridge::wire::{Finish, Warning};
use serde_json::value::RawValue;

use crate::outcome::CallRecord;
use crate::refused::CallsRefused;

/// Calls that an outcome names one by one; the rest is only counted.
pub const CALLS_KEPT: usize = 1000;

/// What a program has done so far; outlives a broker that is dropped in the middle.
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

/// A panic while the lock is held leaves nothing half done here.
pub(crate) fn lock(ledger: &Mutex<ProgramRecord>) -> MutexGuard<'_, ProgramRecord> {
    ledger.lock().unwrap_or_else(PoisonError::into_inner)
}

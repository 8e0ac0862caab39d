//! Counters of calls.

use std::collections::BTreeMap;

use super::histogram::Histogram;

/// Counters by day (since 1970), server and tool.
pub(super) type Pending = BTreeMap<(i64, String, String), Tally>;

/// The counters of one tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Tally {
    pub(super) calls: u64,
    pub(super) failures: u64,
    pub(super) cached: u64,
    /// Total and longest duration of calls that were made, in milliseconds.
    pub(super) ms: f64,
    pub(super) longest_ms: f64,
    /// Size of the results, in bytes.
    pub(super) bytes: u64,
    /// The durations of calls that were made.
    pub(super) durations: Histogram,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Tally) {
        self.calls += other.calls;
        self.failures += other.failures;
        self.cached += other.cached;
        self.ms += other.ms;
        self.longest_ms = self.longest_ms.max(other.longest_ms);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.durations.add(&other.durations);
    }
}

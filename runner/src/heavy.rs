//! The queue of programs whose runs used much processor time.
//!
//! `optimize` compiles them again.

use std::collections::VecDeque;
use std::time::Duration;

use parking_lot::Mutex;

use crate::cache::Entry;
use crate::holder::Holder;

/// Processor time of a run, with the few milliseconds of its confinement, above which its program is compiled again. It
/// is far less than a compilation takes, because the compiler works after the answer, and each repetition gains.
pub(crate) const OPTIMIZE_AFTER: Duration = Duration::from_millis(15);

/// Maximum number of programs in the queue. Each keeps a descriptor open, and the next run of a program that was left
/// out queues it again.
pub(crate) const MAX_QUEUED: usize = 16;

/// A program that is not optimized.
#[derive(Debug, Clone)]
pub(crate) struct HeavyProgram {
    /// Its key in the cache.
    pub(crate) key: String,
    /// Its entry in the cache.
    pub(crate) entry: Entry,
    /// The identities of the tools that it can call.
    pub(crate) manifest: Vec<String>,
    /// Whom its last run was for.
    pub(crate) holder: Holder,
    /// The processor time of its run.
    pub(crate) processor_time: Duration,
}

/// The programs to be compiled again.
#[derive(Debug, Default)]
pub(crate) struct HeavyQueue(Mutex<VecDeque<HeavyProgram>>);

impl HeavyQueue {
    fn with<T>(&self, act: impl FnOnce(&mut VecDeque<HeavyProgram>) -> T) -> T {
        act(&mut self.0.lock())
    }

    /// Adds a program if its run used much processor time and there is room.
    pub(crate) fn add(&self, program: HeavyProgram) {
        // If the program is too large for the cache, the optimized one probably is too. Its source is not kept either.
        let is_available = program.entry.is_kept() && program.entry.is_in_place();
        if program.processor_time <= OPTIMIZE_AFTER || !is_available {
            return;
        }
        self.with(|queue| {
            if queue.len() < MAX_QUEUED && queue.iter().all(|other| other.key != program.key) {
                queue.push_back(program);
            }
        });
    }

    /// The number of programs.
    pub(crate) fn len(&self) -> usize {
        self.with(|queue| queue.len())
    }

    /// The first program, which stays in the queue.
    pub(crate) fn first(&self) -> Option<HeavyProgram> {
        self.with(|queue| queue.front().cloned())
    }

    /// Removes the program `key`.
    pub(crate) fn remove(&self, key: &str) {
        self.with(|queue| queue.retain(|program| program.key != key));
    }

    /// Takes all programs.
    pub(crate) fn take(&self) -> VecDeque<HeavyProgram> {
        self.with(std::mem::take)
    }
}

//! Whose execution it is: takes turns for compilers, waits for them only so long, and their processor time is counted.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cache::{Key, OWNER};

/// Whom an execution is for.
#[derive(Debug, Clone, Default)]
pub struct Holder {
    /// Distinguishes holders, in any form: those that wait for a compiler take turns.
    pub key: String,
    /// A subject whose programs are not those of others: otherwise, the time that a text takes would tell whether somebody
    /// else has run it.
    pub subject: Option<String>,
    /// The longest wait for a compiler; unlimited if `None`.
    pub longest_wait: Option<Duration>,
    /// Receives the processor time of the execution's compilers.
    pub compiler_time: CompilerTime,
}

impl Holder {
    /// A key of the cache that is the subject's own, if there is one.
    pub(crate) fn own(&self, key: Key) -> Key {
        self.subject.iter().fold(key, Key::part)
    }

    /// Records in the folder of a program whose it is, so that it counts against the share of its subject.
    ///
    /// # Errors
    /// If the folder can't be written to.
    pub(crate) fn mark(&self, folder: &Path) -> std::io::Result<()> {
        let Some(subject) = &self.subject else { return Ok(()) };
        fs_err::write(folder.join(format!("{OWNER}{}", Key::new("owner 1").part(subject).finish())), "")
    }
}

/// Processor time of compilers, in user mode and in the kernel. A compiler's time is added when it has ended, which may
/// be a moment after the execution. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct CompilerTime(Arc<Sum>);

#[derive(Debug, Default)]
struct Sum {
    nanoseconds: AtomicU64,
    /// The time that this one is a part of.
    whole: Option<CompilerTime>,
}

impl CompilerTime {
    /// A time that is also added to `whole`.
    #[must_use]
    pub fn part_of(whole: &CompilerTime) -> Self {
        CompilerTime(Arc::new(Sum { nanoseconds: AtomicU64::new(0), whole: Some(whole.clone()) }))
    }

    /// The time so far.
    #[must_use]
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.0.nanoseconds.load(Ordering::Relaxed))
    }

    /// The time so far, which then starts again from zero.
    #[must_use]
    pub fn take(&self) -> Duration {
        Duration::from_nanos(self.0.nanoseconds.swap(0, Ordering::Relaxed))
    }

    /// Whether others may still add to it.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Adds the time of a compiler that has ended.
    pub fn add(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        if let Some(whole) = &self.0.whole {
            whole.add(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_also_added_to_the_whole() {
        let whole = CompilerTime::default();
        let [one, other] = [(), ()].map(|()| CompilerTime::part_of(&whole));
        one.add(Duration::from_secs(2));
        other.add(Duration::from_secs(3));
        assert!(whole.is_shared());
        assert_eq!(
            (one.total(), other.take(), other.total()),
            (Duration::from_secs(2), Duration::from_secs(3), Duration::ZERO)
        );
        drop((one, other));
        assert_eq!(whole.take(), Duration::from_secs(5));
        assert!(!whole.is_shared());
    }
}

//! Whether the machine has enough memory for further executions.

use std::sync::atomic::{AtomicU64, Ordering};

/// The available memory that further executions need.
#[derive(Debug)]
pub(super) struct Memory {
    /// In bytes; 0 for no limit.
    needed: AtomicU64,
    /// The available memory in bytes, if it is known.
    available: fn() -> Option<u64>,
}

impl Default for Memory {
    fn default() -> Self {
        Memory { needed: AtomicU64::new(0), available: sandbox::available_memory }
    }
}

impl Memory {
    #[cfg(test)]
    pub(super) fn reading(available: fn() -> Option<u64>) -> Self {
        Memory { available, ..Memory::default() }
    }

    /// Changes the limit.
    pub(super) fn require(&self, bytes: u64) {
        self.needed.store(bytes, Ordering::Relaxed);
    }

    /// Whether there is a limit.
    pub(super) fn has_limit(&self) -> bool {
        self.needed.load(Ordering::Relaxed) > 0
    }

    /// Whether less is available than needed. If it is unknown, that is no reason to wait.
    pub(super) fn is_short(&self) -> bool {
        let needed = self.needed.load(Ordering::Relaxed);
        needed > 0 && (self.available)().is_some_and(|available| available < needed)
    }
}

//! Limits a server's responses in memory before they are taken: beyond the limit, its connection is not read.
//!
//! A server with more to send then waits, as for any slow reader. So responses are never dropped, and the memory of a
//! session does not depend on the number of pending calls.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

/// Limit on responses that wait to be taken before the connection is no longer read, in bytes (4 MiB). One more may be
/// added: the one that was already being read.
pub const MAX_UNTAKEN_BYTES: usize = 4 * 1024 * 1024;

/// Minimum size of a large message, in bytes (256 KiB); of these, one at a time is read.
const LARGE_BYTES: usize = 256 * 1024;

/// Limit on all small HTTP messages that are read at the same time, in bytes (4 MiB). A message that does not fit is
/// read like a large one: one at a time.
const MAX_SMALL_BYTES: usize = 4 * 1024 * 1024;

/// Messages up to this size need no permit, in bytes (4 KiB), so that a quiet stream blocks no other.
pub(crate) const FREE_BYTES: usize = 4 * 1024;

/// The size of one permit for small messages, in bytes.
const PERMIT_BYTES: usize = 1024;

/// The memory budget of one session.
pub(crate) struct MemoryBudget {
    untaken: watch::Sender<usize>,
    /// Incremented while the budget is exhausted: request deadlines are paused then.
    waits: watch::Sender<usize>,
    large: Arc<Semaphore>,
    small: Arc<Semaphore>,
}

/// A response that has not been taken yet.
pub(crate) struct AnswerPermit {
    room: Arc<MemoryBudget>,
    bytes: usize,
}

/// A share of the budget for small messages, returned when dropped.
pub(crate) struct SmallPermit {
    bytes: usize,
    permit: OwnedSemaphorePermit,
}

/// The permit to read a large message. Dropping it allows the next one.
pub(crate) struct LargePermit {
    _permit: Option<OwnedSemaphorePermit>,
}

impl MemoryBudget {
    /// An empty budget; `waits` counts what pauses the deadlines of requests.
    pub(crate) fn new(waits: watch::Sender<usize>) -> Arc<Self> {
        Arc::new(Self {
            untaken: watch::Sender::new(0),
            waits,
            large: Arc::new(Semaphore::new(1)),
            small: Arc::new(Semaphore::new(MAX_SMALL_BYTES / PERMIT_BYTES)),
        })
    }

    /// Counts a response until the permit is dropped.
    pub(crate) fn hold(self: &Arc<Self>, bytes: usize) -> AnswerPermit {
        self.change(|untaken| *untaken += bytes);
        AnswerPermit { room: Arc::clone(self), bytes }
    }

    /// Waits until the next message may be read.
    pub(crate) async fn free(&self) {
        // The sender is part of `self`.
        let _ = self.untaken.subscribe().wait_for(|untaken| *untaken < MAX_UNTAKEN_BYTES).await;
    }

    /// Waits until a large message may be read: one at a time, and within the budget.
    pub(crate) async fn enter(&self) -> LargePermit {
        // The semaphore is never closed.
        let permit = Arc::clone(&self.large).acquire_owned().await.ok();
        self.free().await;
        LargePermit { _permit: permit }
    }

    /// Grows a share to the size of a message; returns false if the budget is exhausted or the message is large.
    pub(crate) fn admit(&self, share: &mut Option<SmallPermit>, bytes: usize) -> bool {
        if bytes > LARGE_BYTES {
            return false;
        }
        let known = share.as_ref().map_or(0, |share| share.bytes);
        let permits = bytes.saturating_sub(known).div_ceil(PERMIT_BYTES);
        if permits == 0 || bytes <= FREE_BYTES {
            return true;
        }
        let permits = u32::try_from(permits).unwrap_or(u32::MAX);
        let Ok(permit) = Arc::clone(&self.small).try_acquire_many_owned(permits) else { return false };
        let more = permit.num_permits() * PERMIT_BYTES;
        match share {
            Some(share) => {
                share.bytes += more;
                share.permit.merge(permit);
            }
            None => *share = Some(SmallPermit { bytes: more, permit }),
        }
        true
    }

    fn change(&self, change: impl FnOnce(&mut usize)) {
        let mut crossed = (false, false);
        self.untaken.send_modify(|untaken| {
            crossed.0 = *untaken >= MAX_UNTAKEN_BYTES;
            change(untaken);
            crossed.1 = *untaken >= MAX_UNTAKEN_BYTES;
        });
        match crossed {
            (false, true) => self.waits.send_modify(|waits| *waits += 1),
            (true, false) => self.waits.send_modify(|waits| *waits -= 1),
            _ => {}
        }
    }
}

impl Drop for AnswerPermit {
    fn drop(&mut self) {
        let bytes = self.bytes;
        self.room.change(|untaken| *untaken -= bytes);
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, poll};

    use super::*;

    #[tokio::test]
    async fn untaken_responses_block_the_next_read() {
        let waits = watch::Sender::new(0);
        let room = MemoryBudget::new(waits.clone());
        let small = room.hold(MAX_UNTAKEN_BYTES - 1);
        assert!(room.free().now_or_never().is_some());
        let last = room.hold(1);
        let mut waiting = Box::pin(room.free());
        assert!(poll!(waiting.as_mut()).is_pending());
        assert_eq!(*waits.borrow(), 1);
        drop(small);
        waiting.await;
        assert_eq!(*waits.borrow(), 0);
        drop(last);
        assert_eq!(*room.untaken.borrow(), 0);
    }

    #[tokio::test]
    async fn small_messages_share_a_budget_and_return_it() {
        let room = MemoryBudget::new(watch::Sender::new(0));
        let mut first = None;
        assert!(room.admit(&mut first, FREE_BYTES + 1) && room.admit(&mut first, LARGE_BYTES));
        assert!(!room.admit(&mut first, LARGE_BYTES + 1), "it is large");
        let mut others = Vec::new();
        for _ in 1..MAX_SMALL_BYTES / LARGE_BYTES {
            let mut other = None;
            assert!(room.admit(&mut other, LARGE_BYTES));
            others.push(other);
        }
        let mut last = None;
        assert!(room.admit(&mut last, FREE_BYTES) && !room.admit(&mut last, FREE_BYTES + 1));
        drop(first);
        assert!(room.admit(&mut last, LARGE_BYTES));
    }

    #[tokio::test]
    async fn large_messages_are_read_one_at_a_time() {
        let room = MemoryBudget::new(watch::Sender::new(0));
        let first = room.enter().await;
        let mut second = Box::pin(room.enter());
        assert!(poll!(second.as_mut()).is_pending());
        drop(first);
        second.await;
    }
}

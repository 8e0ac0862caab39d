//! Bounded queues between a writer that may flood and a reader that may be slow.
//!
//! A [`bounded`] queue holds a limited number of bytes and items. New items push out the oldest, and the reader learns
//! how many items it missed. So memory stays within the bounds even if nothing is read. Items that must arrive
//! (results, program output) belong here only if something else bounds them: see [`Sender::keep`].

#![forbid(unsafe_code)]

mod broadcast;
mod shortened;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex, MutexGuard};
use tokio::sync::Notify;

pub use broadcast::Broadcast;
pub use shortened::shortened;

/// Limits on the droppable items of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of all items together.
    pub bytes: usize,
    /// Number of items.
    pub items: usize,
}

/// An item as the reader gets it.
#[derive(Debug, PartialEq, Eq)]
pub struct Received<T> {
    /// Number of items dropped since the previously received one.
    pub missed: u64,
    /// The item; `None` if the most recent items were all dropped.
    pub item: Option<T>,
}

/// The writing end. Clones write into the same queue.
pub struct Sender<T>(Arc<Shared<T>>);

/// The reading end.
pub struct Receiver<T>(Arc<Shared<T>>);

struct Shared<T> {
    bounds: Bounds,
    state: Mutex<State<T>>,
    /// Wakes a thread that waits in [`Receiver::receive_blocking`].
    for_thread: Condvar,
    /// Wakes a task that waits in [`Receiver::receive`].
    for_task: Notify,
}

struct State<T> {
    /// Sequence number of the last item.
    next: u64,
    /// Items that may be dropped, oldest first, with their sequence numbers and sizes.
    droppable: VecDeque<(u64, usize, T)>,
    /// Total size of `droppable`.
    bytes: usize,
    /// Items that are never dropped, oldest first, with their sequence numbers.
    kept: VecDeque<(u64, T)>,
    missed: u64,
    senders: usize,
    has_receiver: bool,
}

/// A queue that holds at most `bounds`.
#[must_use]
pub fn bounded<T>(bounds: Bounds) -> (Sender<T>, Receiver<T>) {
    let state = State {
        next: 0,
        droppable: VecDeque::new(),
        bytes: 0,
        kept: VecDeque::new(),
        missed: 0,
        senders: 1,
        has_receiver: true,
    };
    let shared =
        Shared { bounds, state: Mutex::new(state), for_thread: Condvar::new(), for_task: Notify::new() };
    let shared = Arc::new(shared);
    (Sender(shared.clone()), Receiver(shared))
}

impl<T> Sender<T> {
    /// Appends an item that counts as `bytes`, dropping the oldest items to make room. An item larger than the whole
    /// queue is itself dropped. Never waits.
    pub fn push(&self, item: T, bytes: usize) {
        let mut state = self.0.state();
        if !state.has_receiver {
            return;
        }
        state.push(item, bytes, self.0.bounds);
        self.0.wake(state);
    }

    /// Like [`Sender::push`], but replaces the last item of the queue if that one `is_outdated`.
    pub fn push_or_replace(&self, item: T, bytes: usize, is_outdated: impl FnOnce(&T) -> bool) {
        let mut state = self.0.state();
        if !state.has_receiver {
            return;
        }
        state.remove_last(is_outdated);
        state.push(item, bytes, self.0.bounds);
        self.0.wake(state);
    }

    /// Whether the receiver is gone.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.0.state().has_receiver
    }

    /// Appends an item that is never dropped and does not count towards the bounds: a command to the reader, or an item
    /// that something else bounds.
    pub fn keep(&self, item: T) {
        self.keep_or_merge(item, |_, item| Some(item));
    }

    /// Like [`Sender::keep`], but `merge` may merge the item into the last one in the queue, if that one is kept as
    /// well. It returns the item if it cannot be merged.
    pub fn keep_or_merge(&self, item: T, merge: impl FnOnce(&mut T, T) -> Option<T>) {
        let mut state = self.0.state();
        if !state.has_receiver {
            return;
        }
        state.keep(item, merge);
        self.0.wake(state);
    }
}

impl<T> Receiver<T> {
    /// Returns the next item; `None` once all senders are gone and the queue is empty. Cancel safe.
    pub async fn receive(&mut self) -> Option<Received<T>> {
        loop {
            // `Notify` stores one permit, so an item that arrives between the two is not missed.
            if let Some(received) = self.try_next() {
                return received;
            }
            self.0.for_task.notified().await;
        }
    }

    /// Like [`Receiver::receive`], but blocks the thread.
    pub fn receive_blocking(&mut self) -> Option<Received<T>> {
        let mut state = self.0.state();
        loop {
            if let Some(received) = state.take() {
                return received;
            }
            self.0.for_thread.wait(&mut state);
        }
    }

    /// Returns the next item if one is available.
    pub fn try_receive(&mut self) -> Option<Received<T>> {
        self.try_next().flatten()
    }

    /// Returns the next item, or `Some(None)` at the end; `None` while the queue is empty.
    fn try_next(&mut self) -> Option<Option<Received<T>>> {
        self.0.state().take()
    }
}

impl<T> State<T> {
    fn push(&mut self, item: T, bytes: usize, bounds: Bounds) {
        if bytes > bounds.bytes || bounds.items == 0 {
            self.missed += 1;
            return;
        }
        while self.bytes + bytes > bounds.bytes || self.droppable.len() >= bounds.items {
            let Some((_, freed, _)) = self.droppable.pop_front() else { break };
            self.bytes -= freed;
            self.missed += 1;
        }
        self.bytes += bytes;
        let place = self.place();
        self.droppable.push_back((place, bytes, item));
    }

    /// Removes the last item if it may be dropped and `is_outdated`.
    fn remove_last(&mut self, is_outdated: impl FnOnce(&T) -> bool) {
        let place = self.next;
        if let Some((_, bytes, _)) =
            self.droppable.pop_back_if(|(last, _, item)| *last == place && is_outdated(item))
        {
            self.bytes -= bytes;
        }
    }

    fn keep(&mut self, item: T, merge: impl FnOnce(&mut T, T) -> Option<T>) {
        let is_last = |place: u64| self.droppable.back().is_none_or(|(other, ..)| *other < place);
        let item = match self.kept.back_mut() {
            Some((place, last)) if is_last(*place) => merge(last, item),
            _ => Some(item),
        };
        if let Some(item) = item {
            let place = self.place();
            self.kept.push_back((place, item));
        }
    }

    fn place(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Returns the next item, or `Some(None)` at the end; `None` while the queue is empty.
    fn take(&mut self) -> Option<Option<Received<T>>> {
        let kept = self.kept.front().map(|(place, _)| *place);
        let droppable = self.droppable.front().map(|(place, ..)| *place);
        let item = match (kept, droppable) {
            (Some(kept), Some(droppable)) if kept < droppable => self.take_kept(),
            (_, Some(_)) => self.take_droppable(),
            (Some(_), None) => self.take_kept(),
            (None, None) => None,
        };
        let is_end = item.is_none() && self.missed == 0;
        if is_end {
            return (self.senders == 0).then_some(None);
        }
        Some(Some(Received { missed: std::mem::take(&mut self.missed), item }))
    }

    fn take_kept(&mut self) -> Option<T> {
        self.kept.pop_front().map(|(_, item)| item)
    }

    fn take_droppable(&mut self) -> Option<T> {
        let (_, bytes, item) = self.droppable.pop_front()?;
        self.bytes -= bytes;
        Some(item)
    }
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    fn wake(&self, state: MutexGuard<'_, State<T>>) {
        drop(state);
        self.for_thread.notify_one();
        self.for_task.notify_one();
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.state().senders += 1;
        Sender(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.senders -= 1;
        // Otherwise the receiver would only find out that nothing has changed.
        if state.senders == 0 {
            self.0.wake(state);
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let (droppable, kept) = {
            let mut state = self.0.state();
            (state.has_receiver, state.bytes) = (false, 0);
            (std::mem::take(&mut state.droppable), std::mem::take(&mut state.kept))
        };
        // Outside of the lock: an item may hold a sender of this queue.
        drop((droppable, kept));
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Sender").field("bounds", &self.0.bounds).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Receiver").field("bounds", &self.0.bounds).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};

    use super::*;

    fn queue(bytes: usize, items: usize) -> (Sender<&'static str>, Receiver<&'static str>) {
        bounded(Bounds { bytes, items })
    }

    fn got<T>(missed: u64, item: T) -> Option<Received<T>> {
        Some(Received { missed, item: Some(item) })
    }

    #[test]
    fn the_oldest_items_are_dropped_and_counted() {
        let (sender, mut receiver) = queue(6, 10);
        for item in ["aa", "bb", "cc", "dd", "eee"] {
            sender.push(item, item.len());
        }
        assert_eq!(receiver.try_receive(), got(3, "dd"));
        assert_eq!(receiver.try_receive(), got(0, "eee"));
        assert_eq!(receiver.try_receive(), None);
        let (sender, mut receiver) = queue(100, 2);
        ["a", "b", "c"].iter().for_each(|item| sender.push(item, 1));
        assert_eq!(receiver.try_receive(), got(1, "b"));
    }

    #[test]
    fn an_item_larger_than_the_queue_displaces_nothing() {
        let (sender, mut receiver) = queue(4, 10);
        sender.push("aa", 2);
        sender.push("large", 5);
        assert_eq!(receiver.try_receive(), got(1, "aa"));
        sender.push("large", 5);
        assert_eq!(receiver.try_receive(), Some(Received { missed: 1, item: None }));
        assert_eq!(receiver.try_receive(), None);
    }

    /// Counts how often a task is woken.
    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn of_dropped_senders_only_the_last_wakes_the_receiver() {
        let (sender, mut receiver) = queue(6, 10);
        let wakes = Arc::new(Wakes::default());
        let mut receiving = Box::pin(receiver.receive());
        assert!(receiving.as_mut().poll(&mut Context::from_waker(&wakes.clone().into())).is_pending());
        drop(sender.clone());
        assert_eq!(wakes.0.load(Ordering::Relaxed), 0);
        drop(sender);
        assert_eq!(wakes.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn kept_items_stay_in_order() {
        let (sender, mut receiver) = queue(2, 10);
        sender.push("a", 1);
        sender.keep("kept");
        for item in ["b", "c", "d"] {
            sender.push(item, 1);
        }
        assert_eq!(receiver.try_receive(), got(2, "kept"));
        assert_eq!(receiver.try_receive(), got(0, "c"));
        assert_eq!(receiver.try_receive(), got(0, "d"));
    }

    #[test]
    fn only_the_last_item_is_merged_into() {
        let (sender, mut receiver) = bounded::<String>(Bounds { bytes: 10, items: 10 });
        let merge = |last: &mut String, item: String| {
            last.push_str(&item);
            None
        };
        sender.keep_or_merge("a".to_owned(), merge);
        sender.keep_or_merge("b".to_owned(), merge);
        sender.push("c".to_owned(), 1);
        sender.keep_or_merge("d".to_owned(), merge);
        for expected in ["ab", "c", "d"] {
            assert_eq!(receiver.try_receive(), got(0, expected.to_owned()));
        }
    }

    #[tokio::test]
    async fn a_task_gets_everything_and_then_the_end() {
        let (sender, mut receiver) = queue(10, 10);
        let other = sender.clone();
        let reading = async {
            let mut read = Vec::new();
            while let Some(received) = receiver.receive().await {
                read.extend(received.item);
            }
            read
        };
        let writing = async {
            sender.push("a", 1);
            tokio::task::yield_now().await;
            drop(sender);
            other.push("b", 1);
            tokio::task::yield_now().await;
            drop(other);
        };
        assert_eq!(tokio::join!(reading, writing).0, ["a", "b"]);
    }

    #[test]
    fn a_thread_gets_everything_and_then_the_end() {
        let (sender, mut receiver) = queue(1 << 20, 10_000);
        let reading = std::thread::spawn(move || {
            let mut read = 0;
            while receiver.receive_blocking().is_some() {
                read += 1;
            }
            read
        });
        (0..1_000).for_each(|_| sender.push("x", 1));
        drop(sender);
        assert_eq!(reading.join().unwrap(), 1_000);
    }

    #[test]
    fn without_a_reader_items_are_dropped() {
        let (sender, receiver) = bounded::<Arc<()>>(Bounds { bytes: 10, items: 10 });
        let item = Arc::new(());
        sender.push(item.clone(), 1);
        drop(receiver);
        sender.push(item.clone(), 1);
        sender.keep(item.clone());
        assert_eq!(Arc::strong_count(&item), 1);
    }
}

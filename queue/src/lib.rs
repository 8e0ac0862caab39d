//! Queues between a side that may flood and a side that may not read.
//!
//! A [`bounded`] queue holds a limited number of bytes and items. What does not fit pushes out the oldest, and the reader
//! learns how many items it missed. So a flood costs what the bounds allow, whatever the reader does. What must arrive
//! (results, output of programs) does not belong here unless something else bounds it: see [`Sender::keep`].

mod broadcast;
mod shortened;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

pub use broadcast::Broadcast;
pub use shortened::shortened;

/// How much a queue holds of what may be dropped.
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
    /// How many items were dropped since the one that was received before this one.
    pub missed: u64,
    /// The item; none where the last items of all were dropped.
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
    /// The place in the order of the next item.
    next: u64,
    /// Items that may be dropped, the oldest first, with their places and bytes.
    droppable: VecDeque<(u64, usize, T)>,
    /// Bytes of these.
    bytes: usize,
    /// Items that stay, the oldest first, with their places.
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
    /// Appends an item of so many bytes. The oldest items make room for it. An item that is larger than the whole queue
    /// is dropped itself. Never waits.
    pub fn push(&self, item: T, bytes: usize) {
        let mut state = self.0.state();
        if !state.has_receiver {
            return;
        }
        state.push(item, bytes, self.0.bounds);
        self.0.wake(state);
    }

    /// Whether nobody reads any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.0.state().has_receiver
    }

    /// Appends an item that is never dropped and that no bound counts: an order to the reader, or what something else
    /// bounds.
    pub fn keep(&self, item: T) {
        self.keep_or_merge(item, |_, item| Some(item));
    }

    /// The same, where `merge` may put the item into the last one of the queue, if that one is kept as well. It returns
    /// what does not belong there.
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
    /// The next item; `None` once all senders are gone and nothing is left. Dropping the future loses nothing.
    pub async fn receive(&mut self) -> Option<Received<T>> {
        loop {
            // One permit is stored, so what arrives between the two is not overlooked.
            if let Some(received) = self.try_next() {
                return received;
            }
            self.0.for_task.notified().await;
        }
    }

    /// The same for a thread of its own.
    pub fn receive_blocking(&mut self) -> Option<Received<T>> {
        let mut state = self.0.state();
        loop {
            if let Some(received) = state.take() {
                return received;
            }
            state = self.0.for_thread.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next item, if there is one already.
    pub fn try_receive(&mut self) -> Option<Received<T>> {
        self.try_next().flatten()
    }

    /// The next item, or the end; the outer `None` where neither has come yet.
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

    /// The next item, or the end; the outer `None` where neither has come yet.
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
    /// A panic while the lock is held leaves nothing half done here.
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.0.wake(state);
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
    use super::*;

    fn queue(bytes: usize, items: usize) -> (Sender<&'static str>, Receiver<&'static str>) {
        bounded(Bounds { bytes, items })
    }

    fn got<T>(missed: u64, item: T) -> Option<Received<T>> {
        Some(Received { missed, item: Some(item) })
    }

    #[test]
    fn the_oldest_make_room_and_the_reader_learns_how_many() {
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
    fn what_is_larger_than_the_queue_costs_nobody_else_a_place() {
        let (sender, mut receiver) = queue(4, 10);
        sender.push("aa", 2);
        sender.push("large", 5);
        assert_eq!(receiver.try_receive(), got(1, "aa"));
        sender.push("large", 5);
        assert_eq!(receiver.try_receive(), Some(Received { missed: 1, item: None }));
        assert_eq!(receiver.try_receive(), None);
    }

    #[test]
    fn what_is_kept_stays_in_its_place() {
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
    fn only_the_very_last_item_is_merged_with() {
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
    fn without_a_reader_nothing_is_held() {
        let (sender, receiver) = bounded::<Arc<()>>(Bounds { bytes: 10, items: 10 });
        let item = Arc::new(());
        sender.push(item.clone(), 1);
        drop(receiver);
        sender.push(item.clone(), 1);
        sender.keep(item.clone());
        assert_eq!(Arc::strong_count(&item), 1);
    }
}

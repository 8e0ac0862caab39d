//! Sends each item to any number of readers, each with its own queue.

use std::fmt;

use parking_lot::Mutex;

use crate::{Bounds, Receiver, Sender, bounded};

/// Sends each item to the current subscribers. A subscriber that does not read misses the oldest items and does not
/// slow down the others.
pub struct Broadcast<T> {
    bounds: Bounds,
    subscribers: Mutex<Vec<Sender<T>>>,
}

impl<T: Clone> Broadcast<T> {
    /// Creates a broadcast whose queues hold at most `bounds` each.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Broadcast { bounds, subscribers: Mutex::default() }
    }

    /// Subscribes to the items pushed from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        let (sender, receiver) = bounded(self.bounds);
        self.subscribers.lock().push(sender);
        receiver
    }

    /// Sends an item that counts as `bytes` to every subscriber. Never waits.
    pub fn push(&self, item: &T, bytes: usize) {
        let mut subscribers = self.subscribers.lock();
        subscribers.retain(|subscriber| !subscriber.is_closed());
        subscribers.iter().for_each(|subscriber| subscriber.push(item.clone(), bytes));
    }
}

impl<T> fmt::Debug for Broadcast<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Broadcast").field("bounds", &self.bounds).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Received;

    #[test]
    fn a_reader_that_stops_does_not_affect_the_others() {
        let broadcast = Broadcast::new(Bounds { bytes: 2, items: 10 });
        let (mut active, mut idle) = (broadcast.subscribe(), broadcast.subscribe());
        for item in 0..5 {
            broadcast.push(&item, 1);
            assert_eq!(active.try_receive(), Some(Received { missed: 0, item: Some(item) }));
        }
        assert_eq!(idle.try_receive(), Some(Received { missed: 3, item: Some(3) }));
        drop(idle);
        broadcast.push(&5, 1);
        assert_eq!(broadcast.subscribers.lock().len(), 1);
    }
}

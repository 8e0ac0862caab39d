//! One writer, any number of readers: each has a queue of its own.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use crate::{Bounds, Receiver, Sender, bounded};

/// Gives each item to all who listen at that moment. One who does not read misses the oldest, and costs the others
/// nothing.
pub struct Broadcast<T> {
    bounds: Bounds,
    listeners: Mutex<Vec<Sender<T>>>,
}

impl<T: Clone> Broadcast<T> {
    /// With queues that hold at most `bounds` each.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Broadcast { bounds, listeners: Mutex::default() }
    }

    /// What is told from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        let (sender, receiver) = bounded(self.bounds);
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner).push(sender);
        receiver
    }

    /// Gives an item of so many bytes to all who listen. Never waits.
    pub fn push(&self, item: &T, bytes: usize) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| !listener.is_closed());
        listeners.iter().for_each(|listener| listener.push(item.clone(), bytes));
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
    fn one_who_does_not_read_costs_the_others_nothing() {
        let broadcast = Broadcast::new(Bounds { bytes: 2, items: 10 });
        let (mut reads, mut sleeps) = (broadcast.subscribe(), broadcast.subscribe());
        for item in 0..5 {
            broadcast.push(&item, 1);
            assert_eq!(reads.try_receive(), Some(Received { missed: 0, item: Some(item) }));
        }
        assert_eq!(sleeps.try_receive(), Some(Received { missed: 3, item: Some(3) }));
        drop(sleeps);
        broadcast.push(&5, 1);
        assert_eq!(broadcast.listeners.lock().unwrap().len(), 1);
    }
}

//! Turns of those that wait for one of few places: the holder that has the fewest goes first, and then who came first.

use std::collections::HashMap;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

/// A queue for places, with the number of places of each holder.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    state: Mutex<State>,
    /// Notified when one leaves the queue or a place.
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the next one that waits; numbers increase.
    next: u64,
    waiting: Vec<(u64, String)>,
    /// The places of each holder that has any.
    places: HashMap<String, usize>,
}

/// One that waits. Dropping it leaves the queue.
#[derive(Debug)]
pub(crate) struct Waiting<'a> {
    turns: &'a Turns,
    number: u64,
}

/// A place of a holder. Dropping it gives it back.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    turns: &'a Turns,
    holder: String,
}

impl Turns {
    pub(crate) fn join(&self, holder: &str) -> Waiting<'_> {
        let mut state = self.state();
        let number = state.next;
        state.next += 1;
        state.waiting.push((number, holder.to_owned()));
        Waiting { turns: self, number }
    }

    /// Follows changes of who is next and of what is free, from now on.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    /// Reports that a place may be free.
    pub(crate) fn changed(&self) {
        self.changed.send_replace(());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn first(&self) -> Option<u64> {
        self.waiting
            .iter()
            .min_by_key(|(number, holder)| (self.places.get(holder).copied().unwrap_or_default(), *number))
            .map(|(number, _)| *number)
    }
}

impl<'a> Waiting<'a> {
    pub(crate) fn is_first(&self) -> bool {
        self.turns.state().first() == Some(self.number)
    }

    /// Whether its holder has no place, and another one has more than `share`.
    pub(crate) fn is_crowded_out(&self, share: usize) -> bool {
        let state = self.turns.state();
        let own = state.waiting.iter().find(|(number, _)| *number == self.number);
        let has_none = own.is_some_and(|(_, holder)| !state.places.contains_key(holder));
        has_none && state.places.values().any(|places| *places > share)
    }

    /// Leaves the queue with a place.
    pub(crate) fn take(self) -> Place<'a> {
        let mut state = self.turns.state();
        let found = state.waiting.iter().find(|(number, _)| *number == self.number);
        let holder = found.map(|(_, holder)| holder.clone()).unwrap_or_default();
        *state.places.entry(holder.clone()).or_default() += 1;
        drop(state);
        Place { turns: self.turns, holder }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.turns.state().waiting.retain(|(number, _)| *number != self.number);
        self.turns.changed();
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.state();
        let left = state.places.get(&self.holder).map_or(0, |places| places - 1);
        match left {
            0 => drop(state.places.remove(&self.holder)),
            left => drop(state.places.insert(self.holder.clone(), left)),
        }
        drop(state);
        self.turns.changed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_with_the_fewest_places_goes_first() {
        let turns = Turns::default();
        let of_one = [(); 3].map(|()| turns.join("one"));
        let of_other = [(); 2].map(|()| turns.join("other"));
        let mut waiting: Vec<_> = of_one.into_iter().chain(of_other).collect();
        let mut places = Vec::new();
        while let Some(first) = waiting.iter().position(Waiting::is_first) {
            places.push(waiting.remove(first).take());
        }
        let order: Vec<&str> = places.iter().map(|place| place.holder.as_str()).collect();
        assert_eq!(order, ["one", "other", "one", "other", "one"]);
        drop(places);
        assert!(turns.state().places.is_empty() && turns.state().waiting.is_empty());
    }

    #[test]
    fn one_without_a_place_is_crowded_out_by_one_with_more_than_its_share() {
        let turns = Turns::default();
        let places = [turns.join("one").take(), turns.join("one").take()];
        let (own, other) = (turns.join("one"), turns.join("other"));
        assert!(!own.is_crowded_out(1) && other.is_crowded_out(1) && !other.is_crowded_out(2));
        let _place = turns.join("other").take();
        assert!(!other.is_crowded_out(1));
        drop(places);
    }

    #[tokio::test]
    async fn who_leaves_wakes_the_next() {
        let turns = Turns::default();
        let (first, second) = (turns.join("a"), turns.join("a"));
        assert!(first.is_first() && !second.is_first());
        let mut changes = turns.changes();
        drop(first);
        changes.changed().await.unwrap();
        assert!(second.is_first());
    }
}

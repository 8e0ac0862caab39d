//! Whose turn it is: so many executions run at once, and the clients that wait for more take turns.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

/// Places for executions.
#[derive(Debug)]
pub(crate) struct Slots {
    state: Mutex<State>,
    /// Somebody has given a place back, or no longer waits for one.
    left: Notify,
}

#[derive(Debug)]
struct State {
    /// How many run, and how many may.
    running: usize,
    places: usize,
    /// How many wait, and how many may.
    waiting: usize,
    room: usize,
    /// Those that wait, by client; the next turn is the first client's.
    queues: VecDeque<(String, VecDeque<oneshot::Sender<Slot>>)>,
}

/// A place. Dropping it gives it to the next.
#[derive(Debug)]
pub(crate) struct Slot(Arc<Slots>);

/// There is no place, and no room to wait for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Busy {
    pub(crate) running: usize,
    pub(crate) waiting: usize,
}

impl Slots {
    /// This many places, and room for so many that wait.
    pub(crate) fn new(places: usize, room: usize) -> Arc<Self> {
        let state = State { running: 0, places, waiting: 0, room, queues: VecDeque::new() };
        Arc::new(Slots { state: Mutex::new(state), left: Notify::new() })
    }

    /// From now on, so many.
    pub(crate) fn resize(self: &Arc<Self>, places: usize, room: usize) {
        let mut state = self.state();
        (state.places, state.room) = (places, room);
        drop(state);
        self.admit();
    }

    /// How many run, and how many wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let state = self.state();
        (state.running, state.waiting)
    }

    /// Waits until nothing runs or waits.
    pub(crate) async fn idle(&self) {
        loop {
            let mut left = pin!(self.left.notified());
            left.as_mut().enable();
            if self.load() == (0, 0) {
                return;
            }
            left.await;
        }
    }

    /// A place for `client`, at once or in its turn; `waits` is called where it has to wait.
    pub(crate) async fn take(self: &Arc<Self>, client: &str, waits: impl FnOnce()) -> Result<Slot, Busy> {
        let turn = {
            let mut state = self.state();
            if state.running < state.places && state.waiting == 0 {
                state.running += 1;
                return Ok(Slot(self.clone()));
            }
            if state.waiting >= state.room {
                return Err(Busy { running: state.running, waiting: state.waiting });
            }
            state.waiting += 1;
            let (sender, turn) = oneshot::channel();
            match state.queues.iter_mut().find(|(known, _)| known == client) {
                Some((_, queue)) => queue.push_back(sender),
                None => state.queues.push_back((client.to_owned(), VecDeque::from([sender]))),
            }
            turn
        };
        // Whoever no longer waits drops the receiver: its turn goes to the next, but it counts until then.
        let gone = Leaving(self);
        waits();
        let slot = turn.await;
        std::mem::forget(gone);
        let state = self.state();
        slot.map_err(|_| Busy { running: state.running, waiting: state.waiting })
    }

    /// Gives free places to those that wait, one client after the other.
    fn admit(self: &Arc<Self>) {
        loop {
            let next = {
                let mut state = self.state();
                if state.running >= state.places {
                    return;
                }
                let Some((client, mut queue)) = state.queues.pop_front() else { return };
                let next = queue.pop_front();
                if !queue.is_empty() {
                    state.queues.push_back((client, queue));
                }
                let Some(next) = next else { continue };
                state.waiting -= 1;
                if next.is_closed() {
                    continue;
                }
                state.running += 1;
                next
            };
            // One that left at this very moment gives the place back by dropping it.
            let _ = next.send(Slot(self.clone()));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody leaves the queue: its place in it is not to be waited for.
struct Leaving<'a>(&'a Arc<Slots>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let mut left = 0;
        for (_, queue) in &mut state.queues {
            let before = queue.len();
            queue.retain(|waiting| !waiting.is_closed());
            left += before - queue.len();
        }
        state.queues.retain(|(_, queue)| !queue.is_empty());
        state.waiting -= left;
        drop(state);
        self.0.left.notify_waiters();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.state().running -= 1;
        self.0.admit();
        self.0.left.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn clients_take_turns_and_nobody_waits_beyond_the_room() {
        let slots = Slots::new(1, 3);
        let first = slots.take("a", || ()).await.unwrap();
        let mut of_a = Box::pin(slots.take("a", || ()));
        let mut again = Box::pin(slots.take("a", || ()));
        let mut of_b = Box::pin(slots.take("b", || ()));
        assert!(futures::poll!(of_a.as_mut()).is_pending());
        assert!(futures::poll!(again.as_mut()).is_pending());
        assert!(futures::poll!(of_b.as_mut()).is_pending());
        assert_eq!(slots.take("c", || ()).await.unwrap_err(), Busy { running: 1, waiting: 3 });
        drop(first);
        let second = of_a.await.unwrap();
        assert!(again.as_mut().now_or_never().is_none());
        drop(second);
        let third = of_b.await.unwrap();
        assert!(again.as_mut().now_or_never().is_none(), "b came first");
        drop(third);
        drop(again.await.unwrap());
        assert_eq!(slots.load(), (0, 0));
    }

    #[tokio::test]
    async fn whoever_leaves_is_not_waited_for() {
        let slots = Slots::new(1, 1);
        let first = slots.take("a", || ()).await.unwrap();
        let mut leaving = Box::pin(slots.take("b", || ()));
        assert!(futures::poll!(leaving.as_mut()).is_pending());
        drop(leaving);
        assert_eq!(slots.load(), (1, 0));
        let mut waiting = Box::pin(slots.take("c", || ()));
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        drop(first);
        drop(waiting.await.unwrap());
        assert_eq!(slots.load(), (0, 0));
    }

    #[tokio::test]
    async fn it_is_idle_when_nobody_runs_or_waits() {
        let slots = Slots::new(1, 1);
        slots.idle().await;
        let first = slots.take("a", || ()).await.unwrap();
        let mut waiting = Box::pin(slots.take("b", || ()));
        assert!(futures::poll!(waiting.as_mut()).is_pending());
        let mut idle = Box::pin(slots.idle());
        assert!(futures::poll!(idle.as_mut()).is_pending());
        drop(first);
        assert!(futures::poll!(idle.as_mut()).is_pending());
        drop(waiting.await.unwrap());
        idle.await;
    }

    #[tokio::test]
    async fn more_places_are_taken_at_once_and_fewer_as_they_become_free() {
        let slots = Slots::new(1, 4);
        let first = slots.take("a", || ()).await.unwrap();
        let mut second = Box::pin(slots.take("a", || ()));
        assert!(futures::poll!(second.as_mut()).is_pending());
        slots.resize(2, 4);
        let second = second.await.unwrap();
        slots.resize(1, 4);
        let mut third = Box::pin(slots.take("a", || ()));
        assert!(futures::poll!(third.as_mut()).is_pending());
        drop(first);
        assert!(futures::poll!(third.as_mut()).is_pending());
        drop(second);
        drop(third.await.unwrap());
    }
}

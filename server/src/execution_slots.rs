//! Places for executions: how many run at once, how many wait, and what share of both one client may have.
//!
//! An execution that waits for an answer of its client gives its place back, and takes one again before it goes on. So
//! questions that nobody answers keep no other client from running.

mod lease;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};

pub(crate) use lease::SlotLease;

/// How many executions there may be for each place, those that wait for an answer included: each of them keeps its
/// program, with all its memory.
const STARTED_PER_PLACE: usize = 4;

/// Places for executions.
#[derive(Debug)]
pub(crate) struct Slots {
    state: Mutex<State>,
    /// A place was given back, or an execution no longer waits for one.
    left: Notify,
}

/// Who has an execution run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    /// The session, or the address where there is no session.
    pub(crate) key: String,
    /// Whether this process has no other client: then nothing has to be left for others.
    pub(crate) alone: bool,
}

#[derive(Debug)]
struct State {
    /// How many executions may run at once, and how many may wait for their turn.
    places: usize,
    room: usize,
    /// All executions.
    all: Count,
    /// Those of each client that has any.
    clients: HashMap<Client, Count>,
    /// Those that wait for a place, by client; the next turn is the first client's.
    queues: VecDeque<(Client, Queue)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    /// Those that have a place.
    running: usize,
    /// Those that have given their place back until they are answered.
    paused: usize,
    /// Those that have not begun.
    waiting: usize,
}

/// The executions of one client that wait for a place.
#[derive(Debug, Default)]
struct Queue {
    /// Those that have been answered and go on.
    paused: VecDeque<oneshot::Sender<Slot>>,
    /// Those that have not begun.
    waiting: VecDeque<oneshot::Sender<Slot>>,
}

/// What an execution does to get a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Begins,
    GoesOn,
}

/// A place. Dropping it gives it to the next.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    client: Client,
}

/// There is no place, and no room to wait for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Busy {
    #[error(
        "{running} executions run and {waiting} wait, which is all that this server takes; try again later"
    )]
    Full { running: usize, waiting: usize },
    #[error(
        "{waiting} executions of this client wait for their turn, and one client may have no more of them; try again \
         when one has ended"
    )]
    Share { waiting: usize },
}

impl Count {
    /// Those that have begun and not ended.
    fn started(self) -> usize {
        self.running + self.paused
    }
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.paused.is_empty() && self.waiting.is_empty()
    }
}

/// The part of `all` that one client may have where there are others: a quarter is left to them, at least one.
fn share(all: usize) -> usize {
    all.saturating_sub((all / 4).max(1)).max(1)
}

impl State {
    fn of(&self, client: &Client) -> Count {
        self.clients.get(client).copied().unwrap_or_default()
    }

    /// Changes the counts of all and of one client.
    fn count(&mut self, client: &Client, change: impl Fn(&mut Count)) {
        change(&mut self.all);
        let own = self.clients.entry(client.clone()).or_default();
        change(own);
        if *own == Count::default() {
            self.clients.remove(client);
        }
    }

    /// Whether an execution of this client may have a place now.
    fn admits(&self, client: &Client, kind: Kind) -> bool {
        let own = self.of(client);
        let places = if client.alone { self.places } else { share(self.places) };
        if self.all.running >= self.places || own.running >= places {
            return false;
        }
        let started = self.places.saturating_mul(STARTED_PER_PLACE);
        // Half of them, so that one client's questions leave as many to all others.
        let of_client = if client.alone { started } else { started / 2 };
        kind == Kind::GoesOn || (self.all.started() < started && own.started() < of_client)
    }

    /// Why no further execution of this client may wait.
    fn busy(&self, client: &Client) -> Option<Busy> {
        let own = self.of(client).waiting;
        if self.all.waiting >= self.room {
            let (running, waiting) = (self.all.started(), self.all.waiting);
            return Some(Busy::Full { running, waiting });
        }
        (!client.alone && own >= share(self.room)).then_some(Busy::Share { waiting: own })
    }

    fn enqueue(&mut self, client: &Client, kind: Kind, sender: oneshot::Sender<Slot>) {
        let index = self.queues.iter().position(|(known, _)| known == client).unwrap_or_else(|| {
            self.queues.push_back((client.clone(), Queue::default()));
            self.queues.len() - 1
        });
        let Some((_, queue)) = self.queues.get_mut(index) else { return };
        match kind {
            Kind::GoesOn => queue.paused.push_back(sender),
            Kind::Begins => {
                queue.waiting.push_back(sender);
                self.count(client, |count| count.waiting += 1);
            }
        }
    }

    /// The next one that may have a place. Its client's next turn comes after those of all others.
    fn next(&mut self) -> Option<(Client, Kind, oneshot::Sender<Slot>)> {
        for index in 0..self.queues.len() {
            let (client, queue) = self.queues.get(index)?;
            let goes_on = !queue.paused.is_empty() && self.admits(client, Kind::GoesOn);
            let begins = !goes_on && !queue.waiting.is_empty() && self.admits(client, Kind::Begins);
            if !goes_on && !begins {
                continue;
            }
            let (client, mut queue) = self.queues.remove(index)?;
            let (kind, list) = match goes_on {
                true => (Kind::GoesOn, &mut queue.paused),
                false => (Kind::Begins, &mut queue.waiting),
            };
            let next = list.pop_front();
            if !queue.is_empty() {
                self.queues.push_back((client.clone(), queue));
            }
            return Some((client, kind, next?));
        }
        None
    }
}

impl Slots {
    /// This many places, and room for so many that wait.
    pub(crate) fn new(places: usize, room: usize) -> Arc<Self> {
        let (all, clients, queues) = (Count::default(), HashMap::new(), VecDeque::new());
        Arc::new(Slots {
            state: Mutex::new(State { places, room, all, clients, queues }),
            left: Notify::new(),
        })
    }

    /// From now on, so many.
    pub(crate) fn resize(self: &Arc<Self>, places: usize, room: usize) {
        let mut state = self.state();
        (state.places, state.room) = (places, room);
        drop(state);
        self.admit();
    }

    /// How many run, those that wait for an answer included, and how many wait for their turn.
    pub(crate) fn load(&self) -> (usize, usize) {
        let all = self.state().all;
        (all.started(), all.waiting)
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

    /// A place, at once or in turn. One that goes on is never refused: it was let in before.
    async fn slot(self: &Arc<Self>, client: &Client, kind: Kind, waits: impl FnOnce()) -> Result<Slot, Busy> {
        let mut turn = {
            let mut state = self.state();
            let (sender, turn) = oneshot::channel();
            let is_busy = (kind == Kind::Begins).then(|| state.busy(client)).flatten();
            if let Some(busy) = is_busy {
                // A free place needs no room to wait. Those that wait may not have it, or they would.
                if !state.admits(client, kind) {
                    return Err(busy);
                }
            }
            state.enqueue(client, kind, sender);
            turn
        };
        // A future that is dropped drops its receiver first, and then leaves the queue.
        let leaving = Leaving(self);
        self.admit();
        if let Ok(slot) = turn.try_recv() {
            std::mem::forget(leaving);
            return Ok(slot);
        }
        waits();
        let slot = turn.await;
        std::mem::forget(leaving);
        // The sender goes only with its place in the queue.
        slot.map_err(|_| Busy::Full { running: 0, waiting: 0 })
    }

    /// Gives free places to those that wait, one client after the other.
    fn admit(self: &Arc<Self>) {
        loop {
            let (slot, next) = {
                let mut state = self.state();
                let Some((client, kind, next)) = state.next() else { return };
                let is_wanted = !next.is_closed();
                state.count(&client, |count| {
                    count.waiting -= usize::from(kind == Kind::Begins);
                    count.running += usize::from(is_wanted);
                });
                if !is_wanted {
                    continue;
                }
                (Slot { slots: self.clone(), client }, next)
            };
            // An execution that left at this very moment gives the place back by dropping it.
            let _ = next.send(slot);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An execution leaves the queue without having had its turn.
struct Leaving<'a>(&'a Arc<Slots>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let mut left = Vec::new();
        for (client, queue) in &mut state.queues {
            let before = queue.waiting.len();
            queue.waiting.retain(|waiting| !waiting.is_closed());
            queue.paused.retain(|paused| !paused.is_closed());
            left.push((client.clone(), before - queue.waiting.len()));
        }
        state.queues.retain(|(_, queue)| !queue.is_empty());
        for (client, count) in left.into_iter().filter(|(_, count)| *count > 0) {
            state.count(&client, |counts| counts.waiting -= count);
        }
        drop(state);
        self.0.left.notify_waiters();
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.state().count(&self.client, |count| count.running -= 1);
        self.slots.admit();
        self.slots.left.notify_waiters();
    }
}

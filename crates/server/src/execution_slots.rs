//! Slots for executions: how many run at once, how many wait, and what share one client may have.
//!
//! No execution starts beside others while the machine is short of memory (`memory`). A refusal says after how long another
//! attempt may succeed, from how long executions have lately held their slots.
//!
//! An execution that waits for an answer of its client gives its slot back, and takes another before it continues. So
//! unanswered questions do not keep other clients from running.

mod lease;
mod memory;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use sandbox::niceness::{self, NICENESS};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep};

pub use lease::SlotLease;
use memory::Memory;

/// The number of started executions for each slot, including those that wait for an answer: each keeps its program in
/// memory.
pub(crate) const STARTED_PER_PLACE: usize = 4;

/// Number of one client's executions that compete with those of others for processors.
const COMPETING: u64 = 2;

/// The interval at which a waiting execution checks whether there is enough memory again: nothing notifies it.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Weight of the latest execution in the mean time that executions hold their slots.
const LATEST: f64 = 0.2;

/// Minimum and maximum of the time after which a refused client is advised to try again: the estimate is rough.
const SHORTEST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The slots of this process.
#[derive(Debug)]
pub struct Slots {
    state: Mutex<State>,
    memory: Memory,
    /// Notified when a slot was given back, or an execution left the queue.
    left: Notify,
}

/// The client that an execution belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Client {
    /// The session, or the address if there is no session.
    pub(crate) key: String,
    /// Whether this process has no other client, so that nothing needs to be reserved for others.
    pub(crate) alone: bool,
    /// Whether it is a subject, whose executions have a limit of their own.
    pub(crate) is_subject: bool,
}

impl Client {
    /// The key of its subject, if it is one.
    pub(crate) fn subject(&self) -> Option<&str> {
        self.is_subject.then_some(self.key.as_str())
    }
}

#[derive(Debug)]
struct State {
    /// The number of executions that may run at once, and that may wait.
    places: usize,
    room: usize,
    /// The number of executions of one subject that may run at once.
    of_subject: Option<usize>,
    /// Whether there is too little memory for further executions.
    is_short: bool,
    /// The mean time that executions hold their slots, in seconds; 0 before the first has ended.
    mean: f64,
    /// Counts of all executions.
    all: Count,
    /// Counts by client, for clients that have any.
    clients: HashMap<Client, Count>,
    /// Waiting executions by client; the first client is next.
    queues: VecDeque<(Client, Queue)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    /// Executions that have a slot.
    running: usize,
    /// Executions that gave their slot back until they get an answer.
    paused: usize,
    /// Executions that have not started.
    waiting: usize,
}

/// The executions of one client that wait for a slot.
#[derive(Debug, Default)]
struct Queue {
    /// Executions that got their answer and continue.
    paused: VecDeque<oneshot::Sender<Slot>>,
    /// Executions that have not started.
    waiting: VecDeque<oneshot::Sender<Slot>>,
}

/// The reason why an execution needs a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Starts,
    Resumes,
}

/// A slot. Dropping it passes it to the next execution.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    client: Client,
    taken: Instant,
}

/// There is no slot, and no room to wait for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Busy {
    /// All clients together have reached the limit.
    #[error("{}, the limit of this server; try again later", in_words(*running, *waiting))]
    Full {
        /// The number of running executions.
        running: usize,
        /// The number of waiting executions.
        waiting: usize,
    },
    /// This client has reached its limit.
    #[error(
        "{waiting} executions of this client wait, the limit for one client; try again \
         when one has ended"
    )]
    Share {
        /// The number of the client's waiting executions.
        waiting: usize,
    },
}

/// Writes the numbers of running and waiting executions in words.
pub(crate) fn in_words(running: usize, waiting: usize) -> String {
    counts_in_words("execution", running, waiting)
}

/// Writes the numbers of running and waiting pieces of work of this name in words.
pub(crate) fn counts_in_words(name: &str, running: usize, waiting: usize) -> String {
    let run = if running == 1 { format!("{name} runs") } else { format!("{name}s run") };
    let wait = if waiting == 1 { "waits" } else { "wait" };
    format!("{running} {run} and {waiting} {wait}")
}

impl Count {
    /// Executions that have started and not ended.
    fn started(self) -> usize {
        self.running + self.paused
    }
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.paused.is_empty() && self.waiting.is_empty()
    }
}

/// The part of `all` that one client may have if there are others: a quarter, at least one, is reserved for them.
pub(crate) fn share(all: usize) -> usize {
    all.saturating_sub((all / 4).max(1)).max(1)
}

impl State {
    fn of(&self, client: &Client) -> Count {
        self.clients.get(client).copied().unwrap_or_default()
    }

    /// Changes the total counts and those of one client.
    fn count(&mut self, client: &Client, change: impl Fn(&mut Count)) {
        change(&mut self.all);
        let own = self.clients.entry(client.clone()).or_default();
        change(own);
        if *own == Count::default() {
            self.clients.remove(client);
        }
    }

    /// Whether an execution of this client may have a slot now.
    fn admits(&self, client: &Client, kind: Kind) -> bool {
        let own = self.of(client);
        let places = if client.alone { self.places } else { share(self.places) };
        let limit = self.of_subject.filter(|_| client.is_subject).unwrap_or(places);
        if self.all.running >= self.places || own.running >= places.min(limit) {
            return false;
        }
        if kind == Kind::Starts && self.is_short && self.all.running > 0 {
            return false;
        }
        let started = self.places.saturating_mul(STARTED_PER_PLACE);
        // Half of them, so that one client's questions leave as many to all others.
        let of_client = if client.alone { started } else { started / 2 };
        kind == Kind::Resumes || (self.all.started() < started && own.started() < of_client)
    }

    /// After how long an execution that arrives now would have a slot.
    fn wait(&self) -> Duration {
        let ahead = u32::try_from(self.all.waiting + 1).unwrap_or(u32::MAX);
        let places = u32::try_from(self.places.max(1)).unwrap_or(u32::MAX);
        let wait = Duration::try_from_secs_f64(self.mean * f64::from(ahead) / f64::from(places));
        wait.unwrap_or(LONGEST_WAIT).clamp(SHORTEST_WAIT, LONGEST_WAIT)
    }

    /// Returns the reason why no further execution of this client may wait.
    fn busy(&self, client: &Client) -> Option<Busy> {
        let own = self.of(client).waiting;
        let share = (!client.alone && own >= share(self.room)).then_some(Busy::Share { waiting: own });
        self.full().or(share)
    }

    /// Returns the reason why no further execution of any client may wait.
    fn full(&self) -> Option<Busy> {
        let Count { waiting, .. } = self.all;
        (waiting >= self.room).then(|| Busy::Full { running: self.all.started(), waiting })
    }

    fn enqueue(&mut self, client: &Client, kind: Kind, sender: oneshot::Sender<Slot>) {
        let index = self.queues.iter().position(|(known, _)| known == client).unwrap_or_else(|| {
            self.queues.push_back((client.clone(), Queue::default()));
            self.queues.len() - 1
        });
        let Some((_, queue)) = self.queues.get_mut(index) else { return };
        match kind {
            Kind::Resumes => queue.paused.push_back(sender),
            Kind::Starts => {
                queue.waiting.push_back(sender);
                self.count(client, |count| count.waiting += 1);
            }
        }
    }

    /// Removes the next execution that may have a slot. Its client then queues behind all others.
    fn next(&mut self) -> Option<(Client, Kind, oneshot::Sender<Slot>)> {
        for index in 0..self.queues.len() {
            let (client, queue) = self.queues.get(index)?;
            let resumes = !queue.paused.is_empty() && self.admits(client, Kind::Resumes);
            let starts = !resumes && !queue.waiting.is_empty() && self.admits(client, Kind::Starts);
            if !resumes && !starts {
                continue;
            }
            let (client, mut queue) = self.queues.remove(index)?;
            let (kind, list) = match resumes {
                true => (Kind::Resumes, &mut queue.paused),
                false => (Kind::Starts, &mut queue.waiting),
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
    /// `places` slots, and room for `room` waiting executions. Subjects have no limit of their own, and memory is no
    /// limit.
    pub fn new(places: usize, room: usize) -> Arc<Self> {
        let (of_subject, all, clients, queues) = (None, Count::default(), HashMap::new(), VecDeque::new());
        let (is_short, mean) = (false, 0.0);
        Arc::new(Slots {
            state: Mutex::new(State { places, room, of_subject, is_short, mean, all, clients, queues }),
            memory: Memory::default(),
            left: Notify::new(),
        })
    }

    /// Changes the available memory, in bytes, that further executions need; 0 for no limit.
    pub(crate) fn require_memory(self: &Arc<Self>, bytes: u64) {
        self.memory.require(bytes);
        self.admit();
    }

    /// After how long a refused client may try again.
    pub(crate) fn retry_after(&self) -> Duration {
        self.state().wait()
    }

    /// Changes the limits; `of_subject` is the limit of running executions of one subject.
    pub(crate) fn resize(self: &Arc<Self>, places: usize, room: usize, of_subject: Option<usize>) {
        let mut state = self.state();
        (state.places, state.room, state.of_subject) = (places, room, of_subject);
        drop(state);
        self.admit();
    }

    /// Returns the number of started executions, including those that wait for an answer, and of queued ones.
    pub(crate) fn load(&self) -> (usize, usize) {
        let all = self.state().all;
        (all.started(), all.waiting)
    }

    /// The niceness of an execution of this client that has just taken its slot, and of its servers: all
    /// of the client's executions together get as much processor time as [`COMPETING`], and less than the host, so that
    /// the host can serve others. 0 if there are none.
    pub(crate) fn niceness(&self, client: &Client) -> u8 {
        if client.alone {
            return 0;
        }
        let running = self.state().of(client).running;
        (NICENESS + niceness::levels(running as u64, COMPETING)).min(niceness::MOST)
    }

    /// Returns the reason why an execution of this client would be refused now, before any work is done for it.
    ///
    /// # Errors
    /// If there is neither a slot nor room to wait.
    pub(crate) fn check(&self, client: &Client) -> Result<(), Busy> {
        let state = self.state();
        match state.busy(client) {
            Some(busy) if !state.admits(client, Kind::Starts) => Err(busy),
            _ => Ok(()),
        }
    }

    /// Returns the reason why an execution of any client would be refused now: there is neither a slot nor room to
    /// wait.
    pub(crate) fn full(&self) -> Option<Busy> {
        let state = self.state();
        if state.all.running < state.places { None } else { state.full() }
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

    /// Takes a slot. An execution that continues is never refused, because it was admitted before.
    async fn slot(
        self: &Arc<Self>,
        client: &Client,
        kind: Kind,
        on_wait: impl FnOnce(),
    ) -> Result<Slot, Busy> {
        let mut turn = {
            let mut state = self.state();
            let (sender, turn) = oneshot::channel();
            let is_busy = (kind == Kind::Starts).then(|| state.busy(client)).flatten();
            if let Some(busy) = is_busy {
                self.look_at_memory(&mut state);
                // A free slot needs no room to wait. Executions in the queue may not have it, otherwise they would.
                if !state.admits(client, kind) {
                    return Err(busy);
                }
            }
            state.enqueue(client, kind, sender);
            turn
        };
        // A dropped future drops its receiver first, and then leaves the queue.
        let leaving = Leaving(self);
        self.admit();
        if let Ok(slot) = turn.try_recv() {
            std::mem::forget(leaving);
            return Ok(slot);
        }
        on_wait();
        // Declared after `leaving`, so dropped before it.
        let mut turn = turn;
        let slot = loop {
            tokio::select! {
                slot = &mut turn => break slot,
                () = sleep(LOOK_AGAIN), if self.memory.has_limit() => self.admit(),
            }
        };
        std::mem::forget(leaving);
        // The sender is dropped only with its entry in the queue.
        slot.map_err(|_| Busy::Full { running: 0, waiting: 0 })
    }

    /// Gives free slots to waiting executions, in turn by client.
    fn admit(self: &Arc<Self>) {
        loop {
            let (slot, next) = {
                let mut state = self.state();
                if !state.queues.is_empty() {
                    self.look_at_memory(&mut state);
                }
                let Some((client, kind, next)) = state.next() else { return };
                let is_wanted = !next.is_closed();
                state.count(&client, |count| {
                    count.waiting -= usize::from(kind == Kind::Starts);
                    count.running += usize::from(is_wanted);
                });
                if !is_wanted {
                    continue;
                }
                (Slot { slots: self.clone(), client, taken: Instant::now() }, next)
            };
            // An execution that leaves at this moment returns the slot by dropping it.
            let _ = next.send(slot);
        }
    }

    /// Looks whether there is memory for a further execution. A first one may always run.
    fn look_at_memory(&self, state: &mut State) {
        state.is_short = state.all.running > 0 && self.memory.is_short();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// Removes an execution that leaves the queue before its turn.
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
        let held = self.taken.elapsed().as_secs_f64();
        {
            let mut state = self.slots.state();
            state.mean = if state.mean == 0.0 { held } else { state.mean + LATEST * (held - state.mean) };
            state.count(&self.client, |count| count.running -= 1);
        }
        self.slots.admit();
        self.slots.left.notify_waiters();
    }
}

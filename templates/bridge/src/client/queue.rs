//! Tracks a program's calls: in flight, waiting for room, or to be cancelled. There is no input or output here.
//!
//! Calls without room never leave the program, so the host can always read everything else.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::task::{Context, Poll, Waker};

use crate::wire::{BYTES_IN_FLIGHT, CALLS_IN_FLIGHT, CallFailure, FailureKind};

/// An answer from the host: the JSON of a result.
pub(super) type Answer = Result<String, CallFailure>;

/// All calls without an answer, and answers not yet taken.
#[derive(Default)]
pub(super) struct Calls {
    next_id: u64,
    slots: HashMap<u64, Slot>,
    /// The frames of calls waiting for room, by number.
    waiting: BTreeMap<u64, Vec<u8>>,
    /// Cancelled calls in flight, with their sizes in bytes.
    cancelled: VecDeque<(u64, usize)>,
    count: usize,
    bytes: usize,
    /// The reason why no more answers will arrive.
    ended: Option<String>,
}

struct Slot {
    /// Its size in flight, in bytes.
    bytes: usize,
    state: State,
}

enum State {
    Waiting(Option<Waker>),
    Answered(Answer),
}

/// The next message to send.
pub(super) enum Next {
    /// With its frame.
    Call(u64, Vec<u8>),
    /// With the number of bytes that it releases.
    Cancel(u64, usize),
}

impl Calls {
    /// The number of a new call.
    ///
    /// # Errors
    /// If no more answers will arrive, with the reason.
    pub(super) fn number(&mut self) -> Result<u64, CallFailure> {
        if let Some(reason) = &self.ended {
            return Err(unavailable(reason));
        }
        let id = self.next_id;
        self.next_id += 1;
        Ok(id)
    }

    /// Adds a call of `bytes` bytes, the one with the latest number. Returns whether to send it now; otherwise its
    /// frame waits for room.
    pub(super) fn add(&mut self, id: u64, bytes: usize, frame: &[u8]) -> bool {
        self.slots.insert(id, Slot { bytes, state: State::Waiting(None) });
        // Numbers increase, so no call overtakes those that wait.
        let is_sent = self.waiting.is_empty() && self.has_room(bytes);
        if is_sent {
            self.take_room(bytes);
        } else {
            self.waiting.insert(id, frame.to_owned());
        }
        is_sent
    }

    /// As the host counts: a single call always has room.
    fn has_room(&self, bytes: usize) -> bool {
        self.count == 0 || (self.count < CALLS_IN_FLIGHT && self.bytes + bytes <= BYTES_IN_FLIGHT)
    }

    fn take_room(&mut self, bytes: usize) {
        self.count += 1;
        self.bytes += bytes;
    }

    /// Releases the room of a call that is no longer in flight.
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.count -= 1;
        self.bytes -= bytes;
    }

    /// Whether there is anything to send.
    pub(super) fn has_next(&self) -> bool {
        let first = self.waiting.keys().next().and_then(|id| self.slots.get(id));
        !self.cancelled.is_empty() || first.is_some_and(|slot| self.has_room(slot.bytes))
    }

    /// Returns the next message to send. Cancellations go first, because they make room.
    pub(super) fn next(&mut self) -> Option<Next> {
        if let Some((id, bytes)) = self.cancelled.pop_front() {
            return Some(Next::Cancel(id, bytes));
        }
        if !self.has_next() {
            return None;
        }
        let (id, frame) = self.waiting.pop_first()?;
        self.take_room(self.slots.get(&id)?.bytes);
        Some(Next::Call(id, frame))
    }

    /// Removes a call in flight that could not be sent.
    pub(super) fn forget(&mut self, id: u64) {
        if let Some(slot) = self.slots.remove(&id) {
            self.give_back(slot.bytes);
        }
    }

    /// Stores the answer of a call in flight; returns the waker of the task that waits for it.
    pub(super) fn answer(&mut self, id: u64, answer: Answer) -> Option<Waker> {
        // An unknown number is a call that was cancelled while its answer was on the way; its room is released with the
        // cancellation. A waiting call is not known to the host, and an answered one was.
        let slot = self.slots.get_mut(&id).filter(|_| !self.waiting.contains_key(&id))?;
        let State::Waiting(waker) = &mut slot.state else { return None };
        let (waker, bytes) = (waker.take(), slot.bytes);
        slot.state = State::Answered(answer);
        self.give_back(bytes);
        waker
    }

    /// The answer of a call, if it has arrived.
    pub(super) fn poll(&mut self, id: u64, context: &mut Context<'_>) -> Poll<Answer> {
        match self.slots.remove(&id) {
            Some(Slot { state: State::Answered(answer), .. }) => Poll::Ready(answer),
            Some(Slot { bytes, .. }) if self.ended.is_none() => {
                let state = State::Waiting(Some(context.waker().clone()));
                self.slots.insert(id, Slot { bytes, state });
                Poll::Pending
            }
            _ => {
                let reason = self.ended.as_deref().unwrap_or("the call was cancelled");
                Poll::Ready(Err(unavailable(reason)))
            }
        }
    }

    /// Cancels a call; returns whether there may be something to send.
    pub(super) fn cancel(&mut self, id: u64) -> bool {
        let Some(slot) = self.slots.remove(&id) else { return false };
        if self.waiting.remove(&id).is_some() {
            // The host does not know it, and the next call may need less room.
            return self.has_next();
        }
        let is_in_flight = matches!(slot.state, State::Waiting(_));
        if is_in_flight {
            self.cancelled.push_back((id, slot.bytes));
        }
        is_in_flight
    }

    /// Returns the reason why no more answers will arrive, if there is one.
    pub(super) fn end(&self) -> Option<&str> {
        self.ended.as_deref()
    }

    /// Marks the connection as ended; returns the wakers of waiting tasks.
    pub(super) fn set_end(&mut self, reason: String) -> Vec<Waker> {
        self.ended = Some(reason);
        self.waiting.clear();
        self.cancelled.clear();
        let waiting = self.slots.values_mut().filter_map(|slot| match &mut slot.state {
            State::Waiting(waker) => waker.take(),
            State::Answered(_) => None,
        });
        waiting.collect()
    }
}

/// The failure of a call without an answer.
pub(super) fn unavailable(reason: &str) -> CallFailure {
    CallFailure { kind: FailureKind::Unavailable, message: reason.to_owned() }
}

//! Futures of one type that are driven together.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::turns::Turns;

/// Futures by their numbers, and the outputs of those that have returned.
pub(crate) struct Running<F: Future> {
    slots: Vec<Slot<F>>,
    turns: Turns,
    /// The number of futures that have returned.
    returned: usize,
}

/// A future, then its output.
pub(crate) enum Slot<F: Future> {
    Future(Pin<Box<F>>),
    Output(F::Output),
    Taken,
}

impl<F: Future> Running<F> {
    pub(crate) fn new() -> Self {
        Running { slots: Vec::new(), turns: Turns::default(), returned: 0 }
    }

    pub(crate) fn push(&mut self, future: F) {
        self.slots.push(Slot::Future(Box::pin(future)));
        self.turns.add();
    }

    /// Begins a round of polls.
    pub(crate) fn begin(&mut self, context: &Context<'_>) {
        self.turns.begin(context);
    }

    /// Polls futures in this round until one returns: its number.
    pub(crate) fn next(&mut self) -> Option<usize> {
        while let Some((number, waker)) = self.turns.next() {
            let Some(slot) = self.slots.get_mut(number) else { continue };
            let Slot::Future(future) = slot else { continue };
            if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(waker)) {
                *slot = Slot::Output(output);
                self.returned += 1;
                return Some(number);
            }
        }
        None
    }

    /// Returns the number of futures.
    pub(crate) fn count(&self) -> usize {
        self.slots.len()
    }

    /// Whether all have returned.
    pub(crate) fn are_over(&self) -> bool {
        self.returned == self.slots.len()
    }

    /// The outputs and futures; none are left.
    pub(crate) fn take(&mut self) -> Vec<Slot<F>> {
        self.returned = 0;
        std::mem::take(&mut self.slots)
    }
}

impl<T, E, F: Future<Output = Result<T, E>>> Running<F> {
    /// Returns the output of this future. An error is taken, and cancels all others.
    pub(crate) fn outcome(&mut self, number: usize) -> Option<Result<(), E>> {
        let slot = self.slots.get_mut(number)?;
        match slot {
            Slot::Output(Ok(_)) => Some(Ok(())),
            Slot::Output(Err(_)) => {
                let Slot::Output(Err(error)) = std::mem::replace(slot, Slot::Taken) else { return None };
                self.take();
                Some(Err(error))
            }
            _ => None,
        }
    }

    /// The values, if none has failed.
    pub(crate) fn values(&mut self) -> Vec<T> {
        let mut values = Vec::with_capacity(self.slots.len());
        for slot in self.take() {
            if let Slot::Output(Ok(value)) = slot {
                values.push(value);
            }
        }
        values
    }
}

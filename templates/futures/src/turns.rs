//! Chooses which of several futures are polled next: those that were woken. Nothing here depends on their types.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Wake, Waker};

/// The turns of futures, which have numbers from 0.
#[derive(Default)]
pub(crate) struct Turns {
    woken: Arc<Mutex<Woken>>,
    /// The waker of each future.
    wakers: Vec<Waker>,
    /// The futures still to be polled in this round, the next one last.
    round: Vec<usize>,
}

/// The futures to be polled in the next round.
#[derive(Default)]
struct Woken {
    /// In the order in which they were woken.
    numbers: Vec<usize>,
    /// Whether each future is among them.
    is_woken: Vec<bool>,
    /// Wakes the task that polls them.
    task: Option<Waker>,
}

impl Woken {
    fn add(&mut self, number: usize) {
        if let Some(is_woken @ false) = self.is_woken.get_mut(number) {
            *is_woken = true;
            self.numbers.push(number);
        }
    }
}

/// Wakes one future.
struct Turn {
    number: usize,
    woken: Arc<Mutex<Woken>>,
}

impl Wake for Turn {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut woken = lock(&self.woken);
        woken.add(self.number);
        let task = woken.task.take();
        drop(woken);
        if let Some(task) = task {
            task.wake();
        }
    }
}

fn lock(woken: &Mutex<Woken>) -> MutexGuard<'_, Woken> {
    woken.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Turns {
    /// Adds the next future, to be polled in the next round.
    #[inline(never)]
    pub(crate) fn add(&mut self) {
        let number = self.wakers.len();
        let turn = Turn { number, woken: Arc::clone(&self.woken) };
        self.wakers.push(Waker::from(Arc::new(turn)));
        let mut woken = lock(&self.woken);
        woken.is_woken.push(false);
        woken.add(number);
    }

    /// Begins a round of those that were woken since the last one.
    #[inline(never)]
    pub(crate) fn begin(&mut self, context: &Context<'_>) {
        let mut woken = lock(&self.woken);
        woken.task = Some(context.waker().clone());
        self.round.extend(woken.numbers.drain(..).rev());
        woken.is_woken.fill(false);
    }

    /// The next future of this round, and its waker.
    #[inline(never)]
    pub(crate) fn next(&mut self) -> Option<(usize, &Waker)> {
        let number = self.round.pop()?;
        Some((number, self.wakers.get(number)?))
    }
}

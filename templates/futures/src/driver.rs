//! The crate's joins over erased futures. Its functions are not generic, so a snippet links them.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use original::future::{JoinAll, TryJoinAll, join_all, try_join_all};
use original::stream::{self, Buffered, Iter, TryCollect};
use original::{StreamExt, TryStreamExt};

use crate::erased::{Done, Task, Work};

/// Futures that are driven together.
// With its own `Drop`, a snippet does not compile how the futures are dropped.
pub(crate) struct Driver(ManuallyDrop<State>);

enum State {
    /// Not yet driven.
    Collected(Vec<Task>),
    Join(JoinAll<Task>),
    TryJoin(TryJoinAll<Task>),
    Ordered(TryCollect<Buffered<Iter<Source>>, Vec<Done>>),
    /// The outputs.
    Done(Vec<Done>),
    /// The error.
    Failed(Done),
}

/// Creates the next future.
type Next<'a> = dyn FnMut() -> Option<Pin<Box<dyn Work + 'a>>> + 'a;

/// Creates futures when they are needed.
struct Source(Box<Next<'static>>);

// SAFETY: what contains one has the restrictions of what it contains, as for `Done`.
unsafe impl Send for Source {}
// SAFETY: likewise.
unsafe impl Sync for Source {}

impl Iterator for Source {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        self.0().map(Task::new)
    }
}

impl Driver {
    #[inline(never)]
    pub(crate) fn new() -> Self {
        Driver::of(State::Collected(Vec::new()))
    }

    fn of(state: State) -> Self {
        Driver(ManuallyDrop::new(state))
    }

    /// Adds a future, before they are driven.
    #[inline(never)]
    pub(crate) fn push<'a>(&mut self, work: Pin<Box<dyn Work + 'a>>) {
        if let State::Collected(tasks) = &mut *self.0 {
            tasks.push(Task::new(work));
        }
    }

    /// Drives all to their ends.
    #[inline(never)]
    pub(crate) fn join(&mut self) {
        let tasks = self.tasks();
        *self.0 = State::Join(join_all(tasks));
    }

    /// Drives all to their ends, or to the first error.
    #[inline(never)]
    pub(crate) fn try_join(&mut self) {
        let tasks = self.tasks();
        *self.0 = State::TryJoin(try_join_all(tasks));
    }

    fn tasks(&mut self) -> Vec<Task> {
        match &mut *self.0 {
            State::Collected(tasks) => std::mem::take(tasks),
            _ => Vec::new(),
        }
    }

    /// Drives what `next` creates, at most `limit` at a time, to their ends or to the first error in their order.
    #[inline(never)]
    pub(crate) fn ordered<'a>(limit: usize, next: Box<Next<'a>>) -> Self {
        // SAFETY: only the lifetime differs, and it does not end before what contains the driver.
        let next = unsafe { std::mem::transmute::<Box<Next<'a>>, Box<Next<'static>>>(next) };
        Driver::of(State::Ordered(stream::iter(Source(next)).buffered(limit).try_collect()))
    }

    /// Whether all have returned, and if so, whether that was a success.
    fn drive(&mut self, context: &mut Context<'_>) -> Poll<Result<Vec<Done>, Done>> {
        match &mut *self.0 {
            State::Join(all) => Pin::new(all).poll(context).map(|all| all.into_iter().collect()),
            State::TryJoin(all) => Pin::new(all).poll(context),
            State::Ordered(all) => Pin::new(all).poll(context),
            State::Collected(_) | State::Done(_) | State::Failed(_) => panic!("polled after completion"),
        }
    }

    /// Drives the futures: the number of outputs, or that there is an error.
    #[inline(never)]
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<usize, ()>> {
        let result = ready!(self.drive(context));
        let count = result.as_ref().map(Vec::len).map_err(|_| ());
        *self.0 = match result {
            Ok(done) => State::Done(done),
            Err(done) => State::Failed(done),
        };
        Poll::Ready(count)
    }

    /// The outputs.
    ///
    /// # Safety
    /// `T` is their type, and there are so many.
    pub(crate) unsafe fn outputs<T>(&mut self, count: usize) -> Vec<T> {
        let mut outputs = Vec::<T>::with_capacity(count);
        // SAFETY: so many are written.
        unsafe {
            self.write(outputs.as_mut_ptr().cast(), size_of::<T>());
            outputs.set_len(count);
        }
        outputs
    }

    /// The error.
    ///
    /// # Safety
    /// `E` is its type, and there is one.
    pub(crate) unsafe fn error<E>(&mut self) -> E {
        let mut error = MaybeUninit::<E>::uninit();
        // SAFETY: it is written.
        unsafe {
            self.write(error.as_mut_ptr().cast(), 0);
            error.assume_init()
        }
    }

    /// Moves the outputs, each of `size` bytes, or the error to `place`.
    ///
    /// # Safety
    /// `place` is valid for writes of them.
    #[inline(never)]
    unsafe fn write(&mut self, mut place: *mut u8, size: usize) {
        match std::mem::replace(&mut *self.0, State::Collected(Vec::new())) {
            State::Done(all) => {
                for done in all {
                    // SAFETY: that of the caller.
                    unsafe { done.take(place) };
                    place = place.wrapping_add(size);
                }
            }
            // SAFETY: that of the caller.
            State::Failed(done) => unsafe { done.take(place) },
            _ => unreachable!("outputs are taken after the futures have returned"),
        }
    }
}

impl Drop for Driver {
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: it is not used afterwards.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

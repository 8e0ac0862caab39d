//! Futures without their type, so that code over them is compiled once.
//!
//! An erased future may contain references and may not be `Send`, but its type no longer shows that. So what contains
//! one also contains a `PhantomData` of the future and of its output, and drops it with itself.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use original::future::TryFuture;

/// A future that keeps its output until it is taken.
pub(crate) trait Work {
    /// Whether the output is there, and if so, whether it is a success.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool>;

    /// Moves the output to `place`; of a future that may fail, its value or error.
    ///
    /// # Safety
    /// `place` is valid for a write of the output.
    unsafe fn take(self: Pin<&mut Self>, place: *mut u8);
}

/// A future, then its output.
pub(crate) enum Slot<F: Future> {
    Future(F),
    Output(F::Output),
    Taken,
}

impl<F: Future> Work for Slot<F> {
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        // SAFETY: the future is dropped where it is.
        let slot = unsafe { self.get_unchecked_mut() };
        if let Slot::Future(future) = slot {
            // SAFETY: the slot is pinned.
            let output = ready!(unsafe { Pin::new_unchecked(future) }.poll(context));
            *slot = Slot::Output(output);
        }
        Poll::Ready(true)
    }

    unsafe fn take(self: Pin<&mut Self>, place: *mut u8) {
        // SAFETY: only an output is moved, which is not pinned.
        let slot = unsafe { self.get_unchecked_mut() };
        let Slot::Output(_) = slot else { no_output() };
        let Slot::Output(output) = std::mem::replace(slot, Slot::Taken) else { no_output() };
        // SAFETY: that of the caller.
        unsafe { place.cast::<F::Output>().write(output) };
    }
}

/// A future that may fail, then its value or error.
pub(crate) enum TrySlot<F: TryFuture> {
    Future(F),
    Value(F::Ok),
    Error(F::Error),
    Taken,
}

impl<F: TryFuture> Work for TrySlot<F> {
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        // SAFETY: the future is dropped where it is.
        let slot = unsafe { self.get_unchecked_mut() };
        if let TrySlot::Future(future) = slot {
            // SAFETY: the slot is pinned.
            *slot = match ready!(unsafe { Pin::new_unchecked(future) }.try_poll(context)) {
                Ok(value) => TrySlot::Value(value),
                Err(error) => TrySlot::Error(error),
            };
        }
        Poll::Ready(!matches!(slot, TrySlot::Error(_)))
    }

    unsafe fn take(self: Pin<&mut Self>, place: *mut u8) {
        // SAFETY: only an output is moved, which is not pinned.
        let slot = unsafe { self.get_unchecked_mut() };
        if let TrySlot::Future(_) = slot {
            no_output();
        }
        match std::mem::replace(slot, TrySlot::Taken) {
            // SAFETY: that of the caller.
            TrySlot::Value(value) => unsafe { place.cast::<F::Ok>().write(value) },
            // SAFETY: that of the caller.
            TrySlot::Error(error) => unsafe { place.cast::<F::Error>().write(error) },
            _ => no_output(),
        }
    }
}

#[inline(never)]
fn no_output() -> ! {
    unreachable!("an output is taken once, after its future has returned")
}

/// A future of any type, which returns itself with its output.
pub(crate) struct Task(Option<Done>);

/// A future that has returned.
pub(crate) struct Done(Pin<Box<dyn Work>>);

// SAFETY: what contains one has the future's own restrictions.
unsafe impl Send for Done {}
// SAFETY: likewise.
unsafe impl Sync for Done {}

impl Task {
    pub(crate) fn new<'a>(work: Pin<Box<dyn Work + 'a>>) -> Self {
        // SAFETY: only the lifetime differs, and it does not end before what contains the task.
        let work = unsafe { std::mem::transmute::<Pin<Box<dyn Work + 'a>>, Pin<Box<dyn Work>>>(work) };
        Task(Some(Done(work)))
    }
}

impl Future for Task {
    type Output = Result<Done, Done>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Done, Done>> {
        let Some(work) = &mut self.0 else { no_output() };
        let is_success = ready!(work.0.as_mut().poll(context));
        let Some(done) = self.0.take() else { no_output() };
        Poll::Ready(if is_success { Ok(done) } else { Err(done) })
    }
}

impl Done {
    /// Moves the output to `place`.
    ///
    /// # Safety
    /// `place` is valid for a write of the output.
    pub(crate) unsafe fn take(mut self, place: *mut u8) {
        // SAFETY: that of the caller.
        unsafe { self.0.as_mut().take(place) };
    }
}

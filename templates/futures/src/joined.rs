//! `join_all` and `try_join_all`, with the types of the crate's.

use std::fmt::{self, Debug};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use original::future::{IntoFuture, TryFuture, TryFutureExt};

use crate::running::{Running, Slot};

/// Future for the [`join_all`] function.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct JoinAll<F>
where
    F: Future,
{
    running: Running<F>,
}

/// Creates a future which represents a collection of the outputs of the futures given, in the same order.
///
/// It drives all of them at the same time, and polls only those that were woken.
pub fn join_all<I>(iter: I) -> JoinAll<I::Item>
where
    I: IntoIterator,
    I::Item: Future,
{
    let mut running = Running::new();
    for future in iter {
        running.push(future);
    }
    JoinAll { running }
}

impl<F: Future> Future for JoinAll<F> {
    type Output = Vec<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let running = &mut self.get_mut().running;
        running.begin(context);
        while running.next().is_some() {}
        if !running.are_over() {
            return Poll::Pending;
        }
        let mut outputs = Vec::with_capacity(running.count());
        for slot in running.take() {
            if let Slot::Output(output) = slot {
                outputs.push(output);
            }
        }
        Poll::Ready(outputs)
    }
}

// Each future is pinned in its own box.
impl<F: Future> Unpin for JoinAll<F> {}

impl<F> Debug for JoinAll<F>
where
    F: Future + Debug,
    F::Output: Debug,
{
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("JoinAll").finish_non_exhaustive()
    }
}

impl<F: Future> FromIterator<F> for JoinAll<F> {
    fn from_iter<T: IntoIterator<Item = F>>(iter: T) -> Self {
        join_all(iter)
    }
}

/// Future for the [`try_join_all`] function.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct TryJoinAll<F>
where
    F: TryFuture,
{
    running: Running<IntoFuture<F>>,
}

/// Creates a future which represents either a collection of the results of the futures given, in the same order, or an
/// error.
///
/// If any future returns an error, all other futures are cancelled and the error is returned.
pub fn try_join_all<I>(iter: I) -> TryJoinAll<I::Item>
where
    I: IntoIterator,
    I::Item: TryFuture,
{
    let mut running = Running::new();
    for future in iter {
        running.push(TryFutureExt::into_future(future));
    }
    TryJoinAll { running }
}

impl<F: TryFuture> Future for TryJoinAll<F> {
    type Output = Result<Vec<F::Ok>, F::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let running = &mut self.get_mut().running;
        running.begin(context);
        while let Some(number) = running.next() {
            if let Some(Err(error)) = running.outcome(number) {
                return Poll::Ready(Err(error));
            }
        }
        if running.are_over() { Poll::Ready(Ok(running.values())) } else { Poll::Pending }
    }
}

// Each future is pinned in its own box.
impl<F: TryFuture> Unpin for TryJoinAll<F> {}

impl<F> Debug for TryJoinAll<F>
where
    F: TryFuture + Debug,
    F::Ok: Debug,
    F::Error: Debug,
    F::Output: Debug,
{
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TryJoinAll").finish_non_exhaustive()
    }
}

impl<F: TryFuture> FromIterator<F> for TryJoinAll<F> {
    fn from_iter<T: IntoIterator<Item = F>>(iter: T) -> Self {
        try_join_all(iter)
    }
}

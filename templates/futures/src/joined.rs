//! `join_all` and `try_join_all`, with the types of the crate's.

use std::fmt::{self, Debug};
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use original::future::TryFuture;

use crate::driver::Driver;
use crate::erased::{Slot, TrySlot};

/// Future for the [`join_all`] function.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct JoinAll<F>
where
    F: Future,
{
    driver: Driver,
    of: PhantomData<(F, F::Output)>,
}

/// Creates a future which represents a collection of the outputs of the futures given, in the same order.
///
/// It drives all of them at the same time. If there are many, it polls only those that were woken.
pub fn join_all<I>(iter: I) -> JoinAll<I::Item>
where
    I: IntoIterator,
    I::Item: Future,
{
    let mut driver = Driver::new();
    for future in iter {
        driver.push(Box::pin(Slot::Future(future)));
    }
    driver.join();
    JoinAll { driver, of: PhantomData }
}

impl<F: Future> Future for JoinAll<F> {
    type Output = Vec<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let driver = &mut self.get_mut().driver;
        match driver.poll(context) {
            // SAFETY: all are of the type `F`.
            Poll::Ready(Ok(count)) => Poll::Ready(unsafe { driver.outputs(count) }),
            _ => Poll::Pending,
        }
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
    driver: Driver,
    of: PhantomData<(F, F::Ok, F::Error)>,
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
    let mut driver = Driver::new();
    for future in iter {
        driver.push(Box::pin(TrySlot::Future(future)));
    }
    driver.try_join();
    TryJoinAll { driver, of: PhantomData }
}

impl<F: TryFuture> Future for TryJoinAll<F> {
    type Output = Result<Vec<F::Ok>, F::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let driver = &mut self.get_mut().driver;
        match driver.poll(context) {
            // SAFETY: all are of the type `F`.
            Poll::Ready(Ok(count)) => Poll::Ready(Ok(unsafe { driver.outputs(count) })),
            // SAFETY: likewise.
            Poll::Ready(Err(())) => Poll::Ready(Err(unsafe { driver.error() })),
            Poll::Pending => Poll::Pending,
        }
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

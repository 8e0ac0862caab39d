//! Bounded concurrency in order, for the bridge's `concurrently`.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::driver::Driver;
use crate::erased::{TrySlot, Work};

/// Futures that are created one after another and driven at the same time, as
/// `stream::iter(items.map(work)).buffered(limit).try_collect()` does.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Ordered<I, F, W, T, E> {
    driver: Driver,
    of: PhantomData<(I, F, W, T, E)>,
}

impl<I, F, W, T, E> Ordered<I, F, W, T, E>
where
    I: Iterator,
    F: FnMut(I::Item) -> W,
    W: Future<Output = Result<T, E>>,
{
    /// `work` on `items`, at most `limit` at a time.
    pub fn new(limit: usize, mut items: I, mut work: F) -> Self {
        let next =
            move || items.next().map(|item| Box::pin(TrySlot::Future(work(item))) as Pin<Box<dyn Work>>);
        Ordered { driver: Driver::ordered(limit, Box::new(next)), of: PhantomData }
    }
}

impl<I, F, W, T, E> Future for Ordered<I, F, W, T, E> {
    type Output = Result<Vec<T>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let driver = &mut self.get_mut().driver;
        match driver.poll(context) {
            // SAFETY: all return `Result<T, E>`, see `new`.
            Poll::Ready(Ok(count)) => Poll::Ready(Ok(unsafe { driver.outputs(count) })),
            // SAFETY: likewise.
            Poll::Ready(Err(())) => Poll::Ready(Err(unsafe { driver.error() })),
            Poll::Pending => Poll::Pending,
        }
    }
}

// Each future is pinned in its own box.
impl<I, F, W, T, E> Unpin for Ordered<I, F, W, T, E> {}

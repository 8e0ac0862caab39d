//! Bounded concurrency in order, for the bridge's `concurrently`.

use std::future::Future;
use std::iter::Fuse;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::running::Running;

/// Futures that are created one after another and driven at the same time, as
/// `stream::iter(items.map(work)).buffered(limit).try_collect()` does.
#[must_use = "futures do nothing unless you `.await` or poll them"]
pub struct Ordered<I, F, W: Future> {
    limit: usize,
    items: Fuse<I>,
    work: F,
    running: Running<W>,
    /// The number of the first that has not returned.
    first: usize,
}

impl<I: Iterator, F: FnMut(I::Item) -> W, W: Future> Ordered<I, F, W> {
    /// `work` on `items`, at most `limit` at a time.
    pub fn new(limit: usize, items: I, work: F) -> Self {
        Ordered { limit, items: items.fuse(), work, running: Running::new(), first: 0 }
    }
}

impl<I, F, W, T, E> Future for Ordered<I, F, W>
where
    I: Iterator,
    F: FnMut(I::Item) -> W,
    W: Future<Output = Result<T, E>>,
{
    type Output = Result<Vec<T>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Ordered { limit, items, work, running, first } = self.get_mut();
        loop {
            while running.count() - *first < *limit
                && let Some(item) = items.next()
            {
                running.push(work(item));
            }
            running.begin(context);
            while running.next().is_some() {}
            let before = *first;
            while let Some(returned) = running.outcome(*first) {
                if let Err(error) = returned {
                    return Poll::Ready(Err(error));
                }
                *first += 1;
            }
            if before == *first {
                return if running.are_over() { Poll::Ready(Ok(running.values())) } else { Poll::Pending };
            }
        }
    }
}

// Each future is pinned in its own box, and nothing else is pinned.
impl<I, F, W: Future> Unpin for Ordered<I, F, W> {}

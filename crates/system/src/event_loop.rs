//! Takes long work off the event loop, so that no input makes other clients wait.
//!
//! A command that serves many clients runs one event loop: a runtime with several threads, but one worker. While a task
//! of it works on a long text, another thread takes the worker's place and runs all other tasks. Other commands have a
//! loop that cannot move (`new_current_thread`): there, the work stays where it is.

use std::cell::Cell;
use std::future::poll_fn;
use std::task::Poll;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::Semaphore;
use tokio::task::block_in_place;

/// Texts of up to this size in bytes (64 KiB) are read, checked and written on the loop, in about a millisecond.
pub const BRIEF: usize = 64 << 10;

/// The number of futures of [`poll_off_loop`] that are polled at once; others wait for their turn without a thread. So
/// many requests that arrive together are parsed one after the other, and take neither a thread nor the memory of a
/// parsed text each.
static TURNS: Semaphore = Semaphore::const_new(4);

thread_local! {
    /// Whether this thread has left the loop.
    static IS_OFF: Cell<bool> = const { Cell::new(false) };
}

/// Does work on a text of this size: on the loop if the text is brief, otherwise on this thread without the loop, which
/// another thread continues meanwhile. That costs about 20 µs.
///
/// The caller must hold no lock that other tasks need: they would stop the loop.
pub fn off_loop<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes <= BRIEF || IS_OFF.get() || !can_move() {
        return work();
    }
    block_in_place(|| {
        let _left = Left::new();
        work()
    })
}

/// Drives a future that handles a text of this size. If the text is long, each poll is off the loop.
pub fn poll_off_loop<F: Future>(bytes: usize, future: F) -> impl Future<Output = F::Output> {
    // In a box: the future below would otherwise have room for it more than once, and that adds up where they are nested.
    let mut future = Box::pin(future);
    async move {
        if bytes <= BRIEF || !can_move() {
            return future.await;
        }
        loop {
            // A future within another one has the turn of that one.
            let turn = if IS_OFF.get() { None } else { TURNS.acquire().await.ok() };
            let polled =
                poll_fn(|context| Poll::Ready(off_loop(bytes, || future.as_mut().poll(context)))).await;
            drop(turn);
            match polled {
                Poll::Ready(output) => return output,
                Poll::Pending => woken().await,
            }
        }
    }
}

/// Returns when the task is polled again.
async fn woken() {
    let mut is_first = true;
    poll_fn(|_| if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }).await;
}

/// Whether another thread can take over the loop of this thread.
fn can_move() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// Marks that this thread has left the loop, until it is dropped.
struct Left;

impl Left {
    fn new() -> Self {
        IS_OFF.set(true);
        Left
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        IS_OFF.set(false);
    }
}

#[cfg(test)]
mod tests;

//! Helpers that snippets have in scope.

use std::future::Future;

use futures::private::Ordered;

use crate::client::report;
use crate::wire::{PROGRESS_LIMIT, ToHost};

/// Runs `work` over `items`, at most `limit` at a time (at least one), and collects the results in the order of the
/// items.
///
/// # Errors
/// The first error in the order of the items; work still running is then cancelled. To keep the other results, let the
/// work return `Ok(call.await)`.
pub fn concurrently<I, F, W, T, E>(limit: usize, items: I, work: F) -> impl Future<Output = Result<Vec<T>, E>>
where
    I: IntoIterator,
    F: FnMut(I::Item) -> W,
    W: Future<Output = Result<T, E>>,
{
    Ordered::new(limit.max(1), items.into_iter(), work)
}

/// Reports the program's progress to the host. The message is truncated to 2 KiB.
pub fn progress(done: impl Amount, total: impl Amount, message: impl Into<String>) {
    // JSON has no other numbers, and 0.0 / 0.0 with nothing to do is no reason to fail.
    let finite = |amount: f64| if amount.is_finite() { amount } else { 0.0 };
    let (done, total) = (finite(done.amount()), finite(total.amount()));
    let mut message = message.into();
    message.truncate(message.floor_char_boundary(PROGRESS_LIMIT));
    report(&ToHost::Progress { done, total, message });
}

/// A number of any type, for [`progress`].
pub trait Amount {
    /// The number as a float.
    fn amount(self) -> f64;
}

macro_rules! amounts {
    ($($number:ty),*) => {
        $(impl Amount for $number {
            fn amount(self) -> f64 {
                self as f64
            }
        })*
    };
}
amounts!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, f32, f64);

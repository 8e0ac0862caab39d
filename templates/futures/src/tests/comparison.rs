//! Runs snippets with this crate and with the crate `futures`, and compares their values.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use super::Log;

/// Polls a future to its end. A future that waits must wake itself.
pub(super) fn run<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    for _ in 0..10_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
    panic!("the future does not end");
}

/// Waits for this many polls.
pub(super) async fn wait(polls: usize) {
    let mut left = polls;
    std::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        left = left.saturating_sub(1);
        if left == 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Logs its drop.
pub(super) struct Dropped<'a>(pub(super) usize, pub(super) &'a Log);

impl Drop for Dropped<'_> {
    fn drop(&mut self) {
        self.1.borrow_mut().push(format!("dropped {}", self.0));
    }
}

pub(super) fn send<T: Send>(value: T) -> T {
    value
}

pub(super) fn stays<T: 'static>(value: T) -> T {
    value
}

/// Whether a type is `Send` and `Sync`: the inherent constants precede those of the trait.
pub(super) struct Is<T>(PhantomData<T>);

pub(super) trait Isnt {
    const SEND: bool = false;
    const SYNC: bool = false;
}

impl<T> Isnt for Is<T> {}

impl<T: Send> Is<T> {
    pub(super) const SEND: bool = true;
}

impl<T: Sync> Is<T> {
    pub(super) const SYNC: bool = true;
}

/// Tests that each snippet has the same value with both crates. A snippet calls either `lib`.
macro_rules! same {
    ($($name:ident => $body:block)*) => {
        mod ours {
            use super::*;
            use crate as lib;
            $(pub(super) fn $name() -> String { format!("{:?}", $body) })*
        }
        mod crates {
            use super::*;
            use original as lib;
            $(pub(super) fn $name() -> String { format!("{:?}", $body) })*
        }
        $(
            #[test]
            fn $name() {
                assert_eq!(ours::$name(), crates::$name());
            }
        )*
    };
}

pub(super) use same;

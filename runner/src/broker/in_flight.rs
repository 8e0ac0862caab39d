//! The calls in flight: their limit, their cancellation, and holding back answers from servers.

use std::collections::HashMap;
use std::pin::pin;

use bridge::wire::{BYTES_IN_FLIGHT, CALLS_IN_FLIGHT, CallFailure};
use futures::FutureExt as _;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::{FuturesUnordered, StreamExt as _};
use serde_json::value::RawValue;
use tokio::sync::watch;

/// The answer to a call.
pub(super) type Answered = Result<Box<RawValue>, CallFailure>;

/// A call that is no longer in flight.
pub(super) struct FinishedCall {
    pub(super) id: u64,
    /// The size of its arguments in bytes.
    bytes: usize,
    /// Its answer, unless the program has cancelled it.
    pub(super) answer: Option<Answered>,
}

/// The calls in flight. A cancelled call counts until it has released its arguments.
#[derive(Default)]
pub(super) struct CallsInFlight<'a> {
    running: FuturesUnordered<BoxFuture<'a, FinishedCall>>,
    /// Handles to cancel calls.
    handles: HashMap<u64, AbortHandle>,
    /// The size of all arguments in bytes.
    bytes: usize,
}

impl<'a> CallsInFlight<'a> {
    /// Whether one more call with arguments of `bytes` bytes fits, given `untaken` answers that the program has not yet
    /// read. A single call always fits.
    pub(super) fn has_room(&self, bytes: usize, untaken: usize) -> bool {
        let count = self.running.len() + untaken;
        count == 0 || (count < CALLS_IN_FLIGHT && self.bytes + bytes <= BYTES_IN_FLIGHT)
    }

    pub(super) fn start(&mut self, id: u64, bytes: usize, call: impl Future<Output = Answered> + Send + 'a) {
        let (handle, registration) = AbortHandle::new_pair();
        self.handles.insert(id, handle);
        self.bytes += bytes;
        let call = Abortable::new(call, registration);
        self.running.push(call.map(move |ended| FinishedCall { id, bytes, answer: ended.ok() }).boxed());
    }

    /// Cancels a call if it is in flight: its answer may already be on the way.
    pub(super) fn cancel(&mut self, id: u64) {
        if let Some(handle) = self.handles.remove(&id) {
            handle.abort();
        }
    }

    /// The next call that is no longer in flight.
    pub(super) async fn next(&mut self) -> Option<FinishedCall> {
        let landed = self.running.next().await?;
        self.handles.remove(&landed.id);
        self.bytes -= landed.bytes;
        Some(landed)
    }
}

/// Stops answers from servers while the program reads slowly: as long as it is closed, none is accepted. Other waits of
/// a call, such as for the user's permission, continue.
#[derive(Default)]
pub(super) struct Gate {
    is_closed: watch::Sender<bool>,
}

impl Gate {
    pub(super) fn set_closed(&self, closes: bool) {
        self.is_closed.send_if_modified(|is_closed| std::mem::replace(is_closed, closes) != closes);
    }

    /// Runs work that may return an answer, only while the gate is open.
    pub(super) async fn pass<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut closed = self.is_closed.subscribe();
        loop {
            // The sender is this gate, so it is not dropped.
            let _ = closed.wait_for(|is_closed| !*is_closed).await;
            tokio::select! {
                biased;
                _ = closed.wait_for(|is_closed| *is_closed) => {}
                done = &mut work => return done,
            }
        }
    }
}

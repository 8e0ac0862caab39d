//! The calls in flight: how many there may be, what ends one early, and what keeps their answers with their servers.

use std::collections::HashMap;
use std::pin::pin;

use bridge::wire::{BYTES_IN_FLIGHT, CALLS_IN_FLIGHT, CallFailure};
use futures::FutureExt as _;
use futures::future::{AbortHandle, Abortable, BoxFuture};
use futures::stream::{FuturesUnordered, StreamExt as _};
use serde_json::value::RawValue;
use tokio::sync::watch;

/// What a call was answered with.
pub(super) type Answered = Result<Box<RawValue>, CallFailure>;

/// A call that is no longer in flight.
pub(super) struct FinishedCall {
    pub(super) id: u64,
    /// Bytes of its arguments.
    bytes: usize,
    /// What came of it, unless the program has cancelled it.
    pub(super) answer: Option<Answered>,
}

/// The calls in flight. One that is cancelled counts until it has let go of its arguments.
#[derive(Default)]
pub(super) struct CallsInFlight<'a> {
    running: FuturesUnordered<BoxFuture<'a, FinishedCall>>,
    /// What ends a call early.
    handles: HashMap<u64, AbortHandle>,
    /// Bytes of arguments.
    bytes: usize,
}

impl<'a> CallsInFlight<'a> {
    /// Whether there is room for one more with so many bytes of arguments, beside so many answers that the program has
    /// not yet taken. One alone always has room.
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

    /// Ends a call early, if it is in flight: its answer may be under way already.
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

/// Stands between the servers and a program that reads slowly: while it is closed, no answer is taken from a server.
/// Whatever else a call waits for, such as a person, goes on.
#[derive(Default)]
pub(super) struct Gate {
    is_closed: watch::Sender<bool>,
}

impl Gate {
    pub(super) fn set_closed(&self, closes: bool) {
        self.is_closed.send_if_modified(|is_closed| std::mem::replace(is_closed, closes) != closes);
    }

    /// Does what may bring an answer, in the time when it is open.
    pub(super) async fn pass<T>(&self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        let mut closed = self.is_closed.subscribe();
        loop {
            // The sender is this gate: it does not go away.
            let _ = closed.wait_for(|is_closed| !*is_closed).await;
            tokio::select! {
                biased;
                _ = closed.wait_for(|is_closed| *is_closed) => {}
                done = &mut work => return done,
            }
        }
    }
}

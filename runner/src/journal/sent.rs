//! A request to a server: told before it leaves, and ended in any case.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use bridge::wire::{CallFailure, FailureKind};
use futures::FutureExt as _;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use tracing::Span;

use super::{AnsweredCall, Begin, Inner, Journal, Outgoing, READ, Refused, SentCall, Sink};
use crate::host::Answer;

/// A request whose begin was told. Dropping it tells that it was cancelled.
pub struct JournaledCall<'a> {
    journal: Journal,
    /// The sinks that were told of the begin.
    told: Vec<Arc<dyn Sink>>,
    call: SentCall<'a>,
    outgoing: Outgoing,
    began: Instant,
    is_open: bool,
}

impl Journal {
    /// Tells that a tool is about to be called.
    ///
    /// # Errors
    /// If a sink refuses it; then the call must not be sent.
    pub async fn call<'a>(
        &self,
        server: &'a str,
        tool: &'a str,
        arguments: &RawValue,
    ) -> Result<JournaledCall<'a>, Refused> {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let call = SentCall { number, server, tool, uri: None };
        JournaledCall::begin(self.clone(), call, arguments).await
    }

    /// Tells that a resource is about to be read, which is not counted as a call.
    ///
    /// # Errors
    /// If a sink refuses it; then the resource must not be read.
    pub async fn read<'a>(&self, server: &'a str, uri: &'a str) -> Result<JournaledCall<'a>, Refused> {
        let number = self.0.next.fetch_add(1, Ordering::Relaxed);
        let arguments = to_raw_value(&json!({ "uri": uri })).map_err(|error| Refused {
            kind: FailureKind::Protocol,
            reason: "arguments",
            message: error.to_string(),
        })?;
        let call = SentCall { number, server, tool: READ, uri: Some(uri) };
        JournaledCall::begin(self.clone(), call, &arguments).await
    }
}

impl<'a> JournaledCall<'a> {
    /// Tells the begin. If a sink refuses it, those before it learn of the refusal as the end.
    async fn begin(journal: Journal, call: SentCall<'a>, arguments: &RawValue) -> Result<Self, Refused> {
        let (told, outgoing, began) = (Vec::new(), Outgoing::default(), Instant::now());
        let mut begun = JournaledCall { journal, told, call, outgoing, began, is_open: true };
        for sink in begun.journal.0.sinks().iter() {
            let (call, outgoing) = (&begun.call, &mut begun.outgoing);
            let told = sink.begin(&mut Begin::Call { call, arguments, outgoing }).await;
            if let Err(refused) = told {
                begun.is_open = false;
                let failure = Err(CallFailure::from(refused.clone()));
                // What could refuse it has refused it.
                let _ = begun.hand_over(Some(&failure)).await;
                return Err(refused);
            }
            begun.told.push(sink.clone());
        }
        begun.journal.0.calls.fetch_add(begun.counts(), Ordering::Relaxed);
        begun.began = Instant::now();
        Ok(begun)
    }

    /// Takes the `_meta` of the request (MCP).
    pub fn take_meta(&mut self) -> Map<String, Value> {
        std::mem::take(&mut self.outgoing.meta)
    }

    /// For `Instrument::instrument`.
    #[must_use]
    pub fn span(&self) -> Span {
        self.outgoing.span.clone()
    }

    /// Tells that the answer is about to be handed over. A call that was refused before it left is not counted.
    ///
    /// # Errors
    /// If a sink refuses it; then the answer must be withheld.
    pub async fn end(mut self, answer: &Result<Answer, CallFailure>) -> Result<(), Refused> {
        if matches!(answer, Err(failure) if failure.kind.is_refusal()) {
            self.journal.0.calls.fetch_sub(self.counts(), Ordering::Relaxed);
        }
        self.is_open = false;
        self.hand_over(Some(answer)).await
    }

    /// Returns 1 for a tool call, and 0 for a resource, which is not counted.
    fn counts(&self) -> u64 {
        u64::from(self.call.uri.is_none())
    }

    async fn hand_over(&self, answer: Option<&Result<Answer, CallFailure>>) -> Result<(), Refused> {
        let (call, span, duration) = (&self.call, &self.outgoing.span, self.began.elapsed());
        let answered = AnsweredCall { call, span, answer, duration };
        Inner::hand_over(&self.told, Begin::Answer(&answered)).await
    }
}

impl Drop for JournaledCall<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // Nobody is left to wait for it or to be refused.
            let _ = self.hand_over(None).now_or_never();
        }
    }
}

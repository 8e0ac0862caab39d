//! Notes the start and end of each call in the journal, whatever happens to it. The ledger counts a call and keeps
//! its record only if it was sent: a call refused or cancelled before that was not made.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bridge::wire::CallFailure;
use parking_lot::Mutex;
use serde_json::value::RawValue;

use super::record::{CALLS_KEPT, ProgramRecord};
use crate::host::Answer;
use crate::journal::{CallBegun, Event, Journal, Sink as _};
use crate::outcome::{CallRecord, milliseconds};

/// A call whose start was reported. Dropping it reports that it was cancelled.
pub(super) struct ObservedCall<'a> {
    journal: &'a Journal,
    ledger: &'a Mutex<ProgramRecord>,
    number: u64,
    server: String,
    tool: String,
    began: Instant,
    has_ended: bool,
    is_made: AtomicBool,
}

impl<'a> ObservedCall<'a> {
    /// Reports the start of a tool call; without arguments if it can't be sent.
    pub(super) fn begin(
        journal: &'a Journal,
        ledger: &'a Mutex<ProgramRecord>,
        number: u64,
        server: String,
        tool: String,
        arguments: Option<&RawValue>,
    ) -> Self {
        let arguments = arguments.unwrap_or(RawValue::NULL);
        let call = CallBegun { number, server: &server, tool: &tool, arguments };
        journal.note(&Event::CallBegan(call));
        ObservedCall {
            journal,
            ledger,
            number,
            server,
            tool,
            began: Instant::now(),
            has_ended: false,
            is_made: AtomicBool::new(false),
        }
    }

    /// The call was passed to the server's session.
    pub(super) fn sent(&self) {
        self.is_made.store(true, Ordering::Relaxed);
        self.ledger.lock().calls_total += 1;
        self.journal.note(&Event::CallSent(self.number));
    }

    /// The call was answered or refused.
    pub(super) fn answered(&self, answer: &Result<Answer, CallFailure>) {
        self.journal.note(&Event::CallAnswered(self.number, answer));
    }

    /// The session refused the call before sending it.
    pub(super) fn refused(&self) {
        if self.is_made.swap(false, Ordering::Relaxed) {
            self.ledger.lock().calls_total -= 1;
        }
    }

    /// Reports the result.
    pub(super) fn end(mut self, record: CallRecord) {
        self.keep(record);
    }

    fn keep(&mut self, record: CallRecord) {
        self.has_ended = true;
        self.journal.note(&Event::CallEnded(self.number, &record));
        let mut ledger = self.ledger.lock();
        if self.is_made.load(Ordering::Relaxed) && ledger.calls.len() < CALLS_KEPT {
            ledger.calls.push(record);
        }
    }
}

impl Drop for ObservedCall<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            let (server, tool) = (mem::take(&mut self.server), mem::take(&mut self.tool));
            let ms = milliseconds(self.began);
            self.keep(CallRecord { server, tool, ok: false, ms, bytes: 0, cached: None });
        }
    }
}

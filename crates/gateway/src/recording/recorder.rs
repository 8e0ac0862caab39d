//! Records what an execution requests of its host.

use std::collections::HashMap;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use parking_lot::{Mutex, MutexGuard};
use runner::{AnsweredCall, Begin, CallFailure, Event, Refused, SentCall, Sink};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use system::event_loop::off_loop;
use terminal::Masker;

use super::{RECORDING_LIMIT, RecordedAnswer, RecordedCall, RecordedRequest, Recording};

/// Keeps the requests of an execution with their answers.
#[derive(Debug)]
pub struct Recorder {
    masker: Masker,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The requests without an answer yet, by number.
    open: HashMap<u64, RecordedRequest>,
    calls: Vec<RecordedCall>,
    bytes: usize,
}

impl Recorder {
    /// Records without the secrets of `masker`.
    pub fn new(masker: Masker) -> Self {
        Recorder { masker, kept: Mutex::default() }
    }

    /// Takes the recording; `None` if it is larger than [`RECORDING_LIMIT`].
    pub fn finish(&self) -> Option<Recording> {
        let Kept { calls, bytes, .. } = std::mem::take(&mut *self.kept());
        (bytes <= RECORDING_LIMIT).then_some(Recording { calls })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }

    fn open(&self, call: &SentCall<'_>, arguments: &RawValue) {
        let server = call.server.to_owned();
        let request = match call.uri {
            Some(uri) => RecordedRequest::Resource { server, uri: uri.to_owned() },
            None => {
                let arguments = off_loop(arguments.get().len(), || masked(arguments, &self.masker));
                RecordedRequest::Tool { server, tool: call.tool.to_owned(), arguments }
            }
        };
        self.kept().open.insert(call.number, request);
    }

    fn close(&self, answered: &AnsweredCall<'_>) {
        let request = self.kept().open.remove(&answered.call.number);
        if let (Some(request), Some(answer)) = (request, answered.answer) {
            self.keep(request, answer.as_ref().map(|answer| &*answer.result));
        }
    }

    fn keep(&self, request: RecordedRequest, answer: Result<&RawValue, &CallFailure>) {
        let bytes = answer.map_or_else(|failure| failure.message.len(), |value| value.get().len());
        let answer = off_loop(bytes, || self.masked(answer));
        let bytes = request.key().len()
            + match &answer {
                RecordedAnswer::Value(value) => value.get().len(),
                RecordedAnswer::Failure(failure) => failure.message.len(),
            };
        let mut kept = self.kept();
        kept.bytes = kept.bytes.saturating_add(bytes);
        // One that is too large is not kept at all, so its rest need not be either.
        if kept.bytes <= RECORDING_LIMIT {
            kept.calls.push(RecordedCall { request, answer });
        }
    }

    fn masked(&self, answer: Result<&RawValue, &CallFailure>) -> RecordedAnswer {
        match answer {
            Ok(value) => RecordedAnswer::Value(masked(value, &self.masker)),
            Err(CallFailure { kind, message }) => RecordedAnswer::Failure(CallFailure {
                kind: *kind,
                message: self.masker.mask(message).into_owned(),
            }),
        }
    }
}

impl Sink for Recorder {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        match begin {
            Begin::Call { call, arguments, .. } => self.open(call, arguments),
            Begin::Answer(answered) => self.close(answered),
            _ => {}
        }
        ready(Ok(())).boxed()
    }

    fn note(&self, event: &Event<'_>) {
        match event {
            Event::LookedUp(question, answer) => {
                self.keep(RecordedRequest::LookUp((*question).clone()), *answer);
            }
            Event::Located { uri, server, found } => {
                let server = server.map(str::to_owned);
                let request = RecordedRequest::Locate { uri: (*uri).to_owned(), server };
                match found {
                    // A text always has a form in JSON.
                    Ok(found) => {
                        if let Ok(found) = to_raw_value(found) {
                            self.keep(request, Ok(&found));
                        }
                    }
                    Err(failure) => self.keep(request, Err(failure)),
                }
            }
            _ => {}
        }
    }
}

/// A value without secrets. Numbers keep their text.
pub fn masked(value: &RawValue, masker: &Masker) -> Box<RawValue> {
    let Ok(mut shown) = strict_json::value_with_numbers(value) else {
        // A value that can't be read is kept as a text.
        return raw(&Value::from(masker.mask(value.get())).to_string());
    };
    let before = shown.clone();
    masker.mask_value(&mut shown);
    if shown == before {
        return value.to_owned();
    }
    raw(&strict_json::with_numbers(&shown.to_string()))
}

/// JSON text as a value; `null` if it is none.
fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

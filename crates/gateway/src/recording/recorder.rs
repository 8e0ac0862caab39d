//! Records what an execution requests of its host.

use std::sync::{Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use runner::{Answer, CallFailure, CallsRefused, Question, Refusal, SessionError, ToolHost};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use system::event_loop::off_loop;
use terminal::Masker;
use tokio::sync::watch;

use super::{RECORDING_LIMIT, RecordedAnswer, RecordedCall, RecordedRequest, Recording};

/// Passes everything on to a host, and keeps requests with their answers.
pub struct Recorder<'a> {
    host: &'a dyn ToolHost,
    masker: Masker,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    calls: Vec<RecordedCall>,
    bytes: usize,
}

impl<'a> Recorder<'a> {
    /// Records what is requested of `host`, without the secrets of `masker`.
    pub fn new(host: &'a dyn ToolHost, masker: Masker) -> Self {
        Recorder { host, masker, kept: Mutex::default() }
    }

    /// The recording; `None` if it is larger than [`RECORDING_LIMIT`].
    pub fn finish(self) -> Option<Recording> {
        let kept = self.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        (kept.bytes <= RECORDING_LIMIT).then_some(Recording { calls: kept.calls })
    }

    fn keep(&self, request: RecordedRequest, answer: Result<&RawValue, &CallFailure>) {
        let asked = match &request {
            RecordedRequest::Tool { arguments, .. } => arguments.get().len(),
            _ => 0,
        };
        let answered = answer.map_or_else(|failure| failure.message.len(), |value| value.get().len());
        off_loop(asked + answered, || self.keep_masked(request, answer));
    }

    fn keep_masked(&self, request: RecordedRequest, answer: Result<&RawValue, &CallFailure>) {
        let answer = match answer {
            Ok(value) => RecordedAnswer::Value(masked(value, &self.masker)),
            Err(CallFailure { kind, message }) => RecordedAnswer::Failure(CallFailure {
                kind: *kind,
                message: self.masker.mask(message).into_owned(),
            }),
        };
        let request = match request {
            RecordedRequest::Tool { server, tool, arguments } => {
                RecordedRequest::Tool { server, tool, arguments: masked(&arguments, &self.masker) }
            }
            other => other,
        };
        let bytes = request.key().len()
            + match &answer {
                RecordedAnswer::Value(value) => value.get().len(),
                RecordedAnswer::Failure(failure) => failure.message.len(),
            };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.bytes = kept.bytes.saturating_add(bytes);
        // One that is too large is not kept at all, so its rest need not be either.
        if kept.bytes <= RECORDING_LIMIT {
            kept.calls.push(RecordedCall { request, answer });
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

impl ToolHost for Recorder<'_> {
    fn open<'a>(&'a self, server: &'a str) -> BoxFuture<'a, Result<(), SessionError>> {
        self.host.open(server)
    }

    fn permit<'a>(&'a self, tools: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>> {
        self.host.permit(tools)
    }

    fn permit_call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>> {
        self.host.permit_call(server, tool, arguments)
    }

    fn questions(&self) -> Option<watch::Receiver<usize>> {
        self.host.questions()
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>> {
        async move {
            let request = RecordedRequest::Tool {
                server: server.to_owned(),
                tool: tool.to_owned(),
                arguments: arguments.clone(),
            };
            let answer = self.host.call(server, tool, arguments).await;
            self.keep(request, answer.as_ref().map(|answer| &*answer.result));
            answer
        }
        .boxed()
    }

    fn refused(&self, count: &dyn Fn(&mut CallsRefused)) {
        self.host.refused(count);
    }

    fn look_up<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        async move {
            let answer = self.host.look_up(question).await;
            self.keep(RecordedRequest::LookUp(question.clone()), answer.as_deref());
            answer
        }
        .boxed()
    }

    fn find_resource<'a>(
        &'a self,
        uri: &'a str,
        server: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, CallFailure>> {
        async move {
            let answer = self.host.find_resource(uri, server).await;
            let request = RecordedRequest::Locate { uri: uri.to_owned(), server: server.map(str::to_owned) };
            match &answer {
                // A text always has a form in JSON.
                Ok(found) => {
                    to_raw_value(found).iter().for_each(|found| self.keep(request.clone(), Ok(&**found)));
                }
                Err(failure) => self.keep(request, Err(failure)),
            }
            answer
        }
        .boxed()
    }

    fn permit_read<'a>(&'a self, server: &'a str, uri: &'a str) -> BoxFuture<'a, Result<(), CallFailure>> {
        self.host.permit_read(server, uri)
    }

    fn read_resource<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        async move {
            let answer = self.host.read_resource(server, uri).await;
            let request = RecordedRequest::Resource { server: server.to_owned(), uri: uri.to_owned() };
            self.keep(request, answer.as_deref());
            answer
        }
        .boxed()
    }
}

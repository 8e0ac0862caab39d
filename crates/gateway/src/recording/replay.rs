//! Answers the requests of an execution from a recording, without any server.
//!
//! A request is answered with the first unused answer to the same request: programs make calls in parallel, so their
//! order may differ. A request that was not recorded fails, and is reported with its difference from the most similar
//! one. A call that the flows of the present configuration deny fails as it would now.

use std::fmt;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use parking_lot::{Mutex, MutexGuard};
use runner::{Answer, CallFailure, FailureKind, Outcome, Question, Refusal, SessionError, ToolHost};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::difference::{differences, value};
use super::{RecordedAnswer, RecordedCall, RecordedRequest, Recording};
use crate::outcome_text;
use crate::permission::FlowGate;
use crate::resources::READ;

/// Maximum number of mismatches to keep; the first ones are the causes.
const MISMATCHES_KEPT: usize = 20;

/// A difference between a replay and its recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The difference, in one sentence.
    pub message: String,
    /// How, one difference a line.
    pub differences: Vec<String>,
}

impl fmt::Display for Mismatch {
    /// The message, with the differences in further lines.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)?;
        self.differences.iter().try_for_each(|line| write!(formatter, "\n  {line}"))
    }
}

/// Compares the end of a run with the recorded status and result.
pub fn compared(status: &str, result: Option<&RawValue>, outcome: &Outcome) -> Option<Mismatch> {
    let now = outcome.status.to_string();
    if now != status {
        let why = outcome_text::trouble(outcome).unwrap_or_default();
        let message = format!("its status is {now}, not {status}");
        return Some(Mismatch { message, differences: why.lines().map(str::to_owned).collect() });
    }
    let differences = differences(&value(result), &value(outcome.result.as_deref()));
    let message = "its result is not the recorded one".to_owned();
    (!differences.is_empty()).then_some(Mismatch { message, differences })
}

/// The host of a replayed execution.
pub struct Replay {
    state: Mutex<State>,
    flows: Arc<FlowGate>,
}

struct State {
    calls: Vec<Recorded>,
    mismatches: Vec<Mismatch>,
}

/// A recorded request with its answer.
struct Recorded {
    call: RecordedCall,
    key: String,
    /// Whether the request was made.
    is_used: bool,
}

impl Replay {
    /// Answers from `recording`, unless these flows deny a call.
    pub fn new(recording: &Recording, flows: Arc<FlowGate>) -> Self {
        let recorded =
            |call: &RecordedCall| Recorded { key: call.request.key(), call: call.clone(), is_used: false };
        let calls = recording.calls.iter().map(recorded).collect();
        Replay { state: Mutex::new(State { calls, mismatches: Vec::new() }), flows }
    }

    /// The differences from the recording, after the execution has ended.
    pub fn finish(self) -> Vec<Mismatch> {
        let State { calls, mut mismatches } = self.state.into_inner();
        let unmade =
            calls.iter().filter(|recorded| !recorded.is_used).map(|Recorded { call, .. }| Mismatch {
                message: format!("the recorded request of {} was not made", call.request.name()),
                differences: vec![call.request.content().to_string()],
            });
        mismatches.extend(unmade);
        mismatches.truncate(MISMATCHES_KEPT);
        mismatches
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Answers a call or a read, if it may be made after those before it.
    fn make(&self, server: &str, tool: &str, request: &RecordedRequest) -> Result<Answer, CallFailure> {
        if let Some(denied) = self.flows.denied(server, tool) {
            // Under an earlier configuration, it may have been made.
            self.state().take(request);
            return Err(denied);
        }
        let recorded = self.answer(request);
        let answer = recorded.map(|result| Answer { is_error: is_error(&result), result, cached: None });
        self.flows.receive_answer(server, tool, &answer);
        answer
    }

    fn answer(&self, request: &RecordedRequest) -> Result<Box<RawValue>, CallFailure> {
        let mut state = self.state();
        if let Some(answer) = state.take(request) {
            return answer;
        }
        let mismatch = state.mismatch(request);
        let message = format!("{}: the recording has no answer to it", mismatch.message);
        if state.mismatches.len() < MISMATCHES_KEPT {
            state.mismatches.push(mismatch);
        }
        Err(CallFailure { kind: FailureKind::Unavailable, message })
    }
}

impl State {
    /// The first unused answer to a request.
    fn take(&mut self, request: &RecordedRequest) -> Option<Result<Box<RawValue>, CallFailure>> {
        let key = request.key();
        let recorded = self.calls.iter_mut().find(|recorded| !recorded.is_used && recorded.key == key)?;
        recorded.is_used = true;
        Some(match &recorded.call.answer {
            RecordedAnswer::Value(value) => Ok(value.clone()),
            RecordedAnswer::Failure(failure) => Err(failure.clone()),
        })
    }

    /// Describes the difference between a request that was not recorded, and an unused one of the same name.
    fn mismatch(&self, request: &RecordedRequest) -> Mismatch {
        let name = request.name();
        let same = |recorded: &&Recorded| !recorded.is_used && recorded.call.request.name() == name;
        match self.calls.iter().find(same) {
            Some(recorded) => Mismatch {
                message: format!("{name} is requested with other arguments than recorded"),
                differences: differences(&recorded.call.request.content(), &request.content()),
            },
            None => Mismatch {
                message: format!("{name} is requested, but not recorded, or more often than recorded"),
                differences: vec![request.content().to_string()],
            },
        }
    }
}

/// Reads whether the answer of a call declares an error.
fn is_error(result: &RawValue) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Marked {
        #[serde(default)]
        is_error: bool,
    }
    serde_json::from_str::<Marked>(result.get()).is_ok_and(|result| result.is_error)
}

impl ToolHost for Replay {
    fn open<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<(), SessionError>> {
        ready(Ok(())).boxed()
    }

    fn permit<'a>(&'a self, _: &'a [(String, String)]) -> BoxFuture<'a, Result<(), Refusal>> {
        ready(Ok(())).boxed()
    }

    fn permit_call<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: &'a RawValue,
    ) -> BoxFuture<'a, Result<(), CallFailure>> {
        ready(Ok(())).boxed()
    }

    fn call<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Box<RawValue>,
        _: Map<String, Value>,
    ) -> BoxFuture<'a, Result<Answer, CallFailure>> {
        let request = RecordedRequest::Tool { server: server.to_owned(), tool: tool.to_owned(), arguments };
        ready(self.make(server, tool, &request)).boxed()
    }

    fn look_up<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        ready(self.answer(&RecordedRequest::LookUp(question.clone()))).boxed()
    }

    fn find_resource<'a>(
        &'a self,
        uri: &'a str,
        server: Option<&'a str>,
    ) -> BoxFuture<'a, Result<String, CallFailure>> {
        let request = RecordedRequest::Locate { uri: uri.to_owned(), server: server.map(str::to_owned) };
        let found = self.answer(&request).and_then(|found| {
            serde_json::from_str(found.get())
                .map_err(|error| CallFailure { kind: FailureKind::Protocol, message: error.to_string() })
        });
        ready(found).boxed()
    }

    fn permit_read<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<(), CallFailure>> {
        ready(Ok(())).boxed()
    }

    fn read_resource<'a>(
        &'a self,
        server: &'a str,
        uri: &'a str,
    ) -> BoxFuture<'a, Result<Box<RawValue>, CallFailure>> {
        let request = RecordedRequest::Resource { server: server.to_owned(), uri: uri.to_owned() };
        ready(self.make(server, READ, &request).map(|answer| answer.result)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use runner::Journal;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::super::Recorder;
    use super::*;
    use terminal::Masker;

    fn arguments(value: &serde_json::Value) -> Box<RawValue> {
        to_raw_value(value).unwrap()
    }

    fn recording(calls: &[(serde_json::Value, serde_json::Value)]) -> Recording {
        let call = |(given, answer): &(serde_json::Value, serde_json::Value)| RecordedCall {
            request: RecordedRequest::Tool {
                server: "s".into(),
                tool: "t".into(),
                arguments: arguments(given),
            },
            answer: RecordedAnswer::Value(arguments(answer)),
        };
        Recording { calls: calls.iter().map(call).collect() }
    }

    #[tokio::test]
    async fn each_answer_is_given_once_in_any_order() {
        let recorded = recording(&[
            (json!({ "a": 1 }), json!({ "content": [], "isError": true })),
            (json!({ "a": 2 }), json!({ "content": [1] })),
            (json!({ "a": 1 }), json!({ "content": [2] })),
        ]);
        let replay = Replay::new(&recorded, Arc::default());
        let call =
            async |value: serde_json::Value| replay.call("s", "t", arguments(&value), Map::new()).await;
        assert!(call(json!({ "a": 2 })).await.unwrap().result.get().contains("[1]"));
        assert!(call(json!({ "a": 1 })).await.unwrap().is_error);
        assert!(call(json!({ "a": 1 })).await.unwrap().result.get().contains("[2]"));
        assert!(call(json!({ "a": 1 })).await.unwrap_err().message.contains("more often than recorded"));
        let mismatches = replay.finish();
        assert_eq!(mismatches.len(), 1, "{mismatches:?}");
    }

    #[tokio::test]
    async fn other_arguments_and_missing_calls_are_mismatches() {
        let replay = Replay::new(&recording(&[(json!({ "a": 1, "b": [1, 2] }), json!({}))]), Arc::default());
        let failed =
            replay.call("s", "t", arguments(&json!({ "a": 1, "b": [1, 3] })), Map::new()).await.unwrap_err();
        assert!(failed.message.contains("other arguments than recorded"), "{failed:?}");
        let mismatches = replay.finish();
        assert_eq!(mismatches[0].differences, ["/b/1: 2, now 3"]);
        assert!(mismatches[1].message.contains("was not made"), "{mismatches:?}");
    }

    /// A recorded request as a formatter or an editor may have written it, the request, and whether they are the same.
    #[tokio::test]
    async fn a_recorded_request_is_found_however_it_is_written() {
        for (recorded, requested, is_same) in [
            (r#"{"a":1,"b":"x"}"#, r#"{"a":1,"b":"x"}"#, true),
            ("{\n  \"a\": 1,\n  \"b\": \"x\"\n}", r#"{"a":1,"b":"x"}"#, true),
            (r#"{"a":1,"b":"\u0078"}"#, r#"{"a":1,"b":"x"}"#, true),
            (r#"{"a":1}"#, r#"{"a":1.0}"#, false),
            (r#"{"a":9007199254740993}"#, r#"{"a":9007199254740992}"#, false),
            (r#"{"a":1,"a":1}"#, r#"{"a":1}"#, false),
        ] {
            let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
            let mut calls = recording(&[(json!({}), json!({ "content": [] }))]);
            let (server, tool) = ("s".to_owned(), "t".to_owned());
            calls.calls[0].request = RecordedRequest::Tool { server, tool, arguments: raw(recorded) };
            let found = Replay::new(&calls, Arc::default()).call("s", "t", raw(requested), Map::new()).await;
            assert_eq!(found.is_ok(), is_same, "{recorded} {requested}");
        }
    }

    #[tokio::test]
    async fn recorded_answers_have_no_secrets() {
        let recorded = recording(&[(json!({ "key": "hunter22" }), json!({ "content": ["hunter22", 1.50] }))]);
        let inner = Replay::new(&recorded, Arc::default());
        let recorder = Arc::new(Recorder::new(Masker::new(&["hunter22".to_owned()])));
        let journal = Journal::new(vec![recorder.clone()]);
        let given = arguments(&json!({ "key": "hunter22" }));
        let call = journal.call("s", "t", &given).await.unwrap();
        let answer = inner.call("s", "t", given, Map::new()).await;
        call.end(&answer).await.unwrap();
        let kept = serde_json::to_string(&recorder.finish().unwrap()).unwrap();
        assert!(!kept.contains("hunter22") && kept.contains("1.5"), "{kept}");
    }
}

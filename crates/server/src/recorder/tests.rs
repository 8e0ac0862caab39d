//! The records of executions and calls, and what is refused if a record can't be written.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::fs;
use std::path::PathBuf;

use config::{ArgumentsKept, AuditLog, Config, Serve};
use gateway::pins::Known;
use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::fixtures::{PipeClient, session, state};
use crate::snapshot::Settings;

/// The token of the server, a secret.
const TOKEN: &str = "token-of-this-server";

/// A recorder and its log.
struct Fixture {
    recorder: ExecutionRecorder,
    log: PathBuf,
    _folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("audit.jsonl");
        let audit = Some(AuditLog { file: log.clone(), arguments: ArgumentsKept::Full });
        let config = Config { serve: Serve { audit, ..Serve::default() }, ..Config::default() };
        let settings = Settings::new(config, Known::default(), Some(TOKEN)).unwrap();
        let state = state(settings.clone(), folder.path());
        let requester = Requester::of(&session(&state, "c-1"), &PipeClient::connect().request(7));
        let recorder =
            ExecutionRecorder::begin(state.sinks(settings), requester, "e-1".to_owned(), "execute_code");
        Fixture { recorder, log, _folder: folder }
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap();
        assert!(!text.contains(TOKEN), "{text}");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn events(&self) -> Vec<String> {
        self.lines().iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect()
    }

    /// Makes further records impossible.
    fn block_log(&self) {
        fs::remove_file(&self.log).unwrap();
        fs::create_dir(&self.log).unwrap();
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn answer(is_error: bool) -> Result<Answer, CallFailure> {
    Ok(Answer { result: raw(&json!({ "content": [] })), is_error, cached: None })
}

fn failure(kind: FailureKind) -> CallFailure {
    CallFailure { kind, message: "no".to_owned() }
}

#[tokio::test]
async fn a_call_is_recorded_before_it_leaves_and_after_its_answer() {
    let fixture = Fixture::new();
    let recorder = &fixture.recorder;
    let code = format!("shop::order({TOKEN:?})");
    recorder.execution(&code, &json!({ "password": TOKEN, "n": 1 }), true).unwrap();
    let arguments = raw(&json!({ "key": TOKEN, "count": 2 }));
    let call = |_| async {
        assert_eq!(fixture.events(), ["execution_begin", "call_begin"]);
        answer(false)
    };
    recorder.call(("shop", "order"), &arguments, false, call).await.unwrap();
    recorder.call(("shop", "order"), &arguments, false, |_| async { answer(true) }).await.unwrap();
    recorder.end("runtime_error", Some("error")).unwrap();

    let lines = fixture.lines();
    let events = ["execution_begin", "call_begin", "call_end", "call_begin", "call_end", "execution_end"];
    assert_eq!(fixture.events(), events);
    assert!(lines.iter().all(|line| line["execution"] == "e-1"), "{lines:#?}");
    let [begin, call, end, second, error, last] = lines.as_slice() else { unreachable!() };
    assert_eq!(begin["who"], json!({ "client": "test client", "version": "1.2", "transport": "http" }));
    assert_eq!(begin["snippet_blake3"], blake3::hash(code.as_bytes()).to_hex().as_str());
    assert_eq!((&begin["snippet_bytes"], &begin["check_only"]), (&json!(code.len()), &json!(true)));
    assert_eq!(begin["arguments"]["value"], json!({ "password": "***", "n": 1 }));
    assert_eq!((&call["call"], &call["server"], &call["tool"]), (&json!(0), &json!("shop"), &json!("order")));
    assert_eq!(call["arguments"]["value"], json!({ "key": "***", "count": 2 }));
    assert_eq!(call["arguments"]["blake3"], blake3::hash(arguments.get().as_bytes()).to_hex().as_str());
    assert_eq!(call["who"], Value::Null, "the execution names the requester");
    assert_eq!((&end["call"], &end["ok"], &end["error"]), (&json!(0), &json!(true), &Value::Null));
    assert_eq!(end["bytes"], r#"{"content":[]}"#.len());
    assert_eq!(second["call"], 1);
    assert_eq!(
        (&error["call"], &error["ok"], &error["error"]),
        (&json!(1), &json!(false), &json!("tool_error"))
    );
    assert_eq!((&last["status"], &last["error"]), (&json!("runtime_error"), &json!("error")));
    assert_eq!((&last["calls"], &last["calls_refused"]), (&json!(2), &Value::Null));
}

#[tokio::test]
async fn refused_calls_are_recorded_but_not_counted() {
    let fixture = Fixture::new();
    let recorder = &fixture.recorder;
    let kinds =
        [FailureKind::Denied, FailureKind::InvalidParams, FailureKind::Timeout, FailureKind::Rejected];
    for kind in kinds {
        let call = |_| async move { Err(failure(kind)) };
        let failed = recorder.call(("s", "t"), &raw(&json!({})), false, call).await.unwrap_err();
        assert_eq!(failed.kind, kind);
    }
    let count = |refused: &mut CallsRefused| {
        refused.denied = 2;
        refused.tools.insert("s.t".to_owned(), 2);
    };
    count(&mut recorder.refused());
    recorder.end("denied", None).unwrap();

    let lines = fixture.lines();
    let ends: Vec<&Value> = lines.iter().filter(|line| line["event"] == "call_end").collect();
    let errors: Vec<&Value> = ends.iter().map(|end| &end["error"]).collect();
    assert_eq!(errors, ["denied", "invalid_params", "timeout", "rejected"]);
    assert!(ends.iter().all(|end| end["ok"] == false && end["bytes"] == 0), "{ends:?}");
    let last = lines.last().unwrap();
    assert_eq!(last["calls"], 2, "only those that were sent");
    assert_eq!(last["calls_refused"], json!({ "forged": 0, "denied": 2, "invalid": 0, "malformed": 0 }));
    assert_eq!(last["refused_tools"], json!(["s.t 2"]));
}

#[tokio::test]
async fn a_resource_is_recorded_as_a_call_but_not_counted() {
    let fixture = Fixture::new();
    let recorder = &fixture.recorder;
    let uri = format!("note://{TOKEN}");
    recorder.read("notes", &uri, async { Ok(raw(&json!("text"))) }).await.unwrap();
    let read = async { Err(failure(FailureKind::Timeout)) };
    assert_eq!(recorder.read("notes", &uri, read).await.unwrap_err().kind, FailureKind::Timeout);
    recorder.end("ok", None).unwrap();
    let lines = fixture.lines();
    assert_eq!((&lines[0]["tool"], &lines[1]["bytes"]), (&json!(READ), &json!(r#""text""#.len())));
    assert_eq!(lines[0]["arguments"]["value"], json!({ "uri": "note://***" }));
    assert_eq!(lines[3]["error"], "timeout");
    assert_eq!(lines[4]["calls"], 0);
}

#[tokio::test]
async fn a_direct_call_names_its_requester_and_its_refusal_is_recorded() {
    let fixture = Fixture::new();
    let arguments = raw(&json!({ "key": TOKEN }));
    fixture.recorder.call(("s", "t"), &arguments, true, |_| async { answer(false) }).await.unwrap();
    fixture.recorder.refused_directly(("s", "t"), &arguments).unwrap();
    assert_eq!(fixture.events(), ["call_begin", "call_end", "call_refused"]);
    let lines = fixture.lines();
    for line in [&lines[0], &lines[2]] {
        assert_eq!(line["who"]["client"], "test client");
        assert_eq!(line["arguments"]["value"], json!({ "key": "***" }));
    }
}

#[tokio::test]
async fn a_dropped_call_and_a_dropped_execution_are_recorded_as_cancelled() {
    let mut fixture = Fixture::new();
    fixture.recorder.execution("1", &json!({}), false).unwrap();
    let arguments = raw(&json!({}));
    let call = fixture.recorder.call(("s", "t"), &arguments, false, |_| std::future::pending());
    let mut call = Box::pin(call);
    assert!(futures::poll!(call.as_mut()).is_pending());
    drop(call);
    let context = &fixture.recorder.context;
    let (sinks, requester) = (context.sinks.clone(), context.requester.clone());
    fixture.recorder = ExecutionRecorder::begin(sinks, requester, "e-2".to_owned(), "execute_code");
    assert_eq!(fixture.events(), ["execution_begin", "call_begin", "call_end", "execution_end"]);
    let lines = fixture.lines();
    assert_eq!(lines[0]["arguments"], Value::Null, "there are none");
    assert_eq!((&lines[2]["ok"], &lines[2]["error"]), (&json!(false), &json!("cancelled")));
    assert_eq!((&lines[3]["status"], &lines[3]["error"]), (&json!("cancelled"), &json!("given_up")));
    assert_eq!(lines[3]["execution"], "e-1");

    fixture.recorder.execution("1", &json!({}), false).unwrap();
    fixture.recorder.end("ok", None).unwrap();
    let ended = fixture.events().len();
    let Fixture { recorder, log, _folder } = fixture;
    drop(recorder);
    assert_eq!(fs::read_to_string(log).unwrap().lines().count(), ended, "the end is recorded once");
}

#[tokio::test]
async fn nothing_is_called_if_it_cannot_be_recorded() {
    let fixture = Fixture::new();
    let recorder = &fixture.recorder;
    fixture.block_log();
    assert!(recorder.execution("1", &json!({}), false).is_err());
    let call = |_| async { unreachable!("the call must not leave") };
    let refused = recorder.call(("s", "t"), &raw(&json!({})), false, call).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Unavailable);
    assert!(refused.message.contains("audit.jsonl can't be written"), "{refused:?}");
    let read = async { unreachable!("the resource must not be read") };
    assert_eq!(recorder.read("s", "note://1", read).await.unwrap_err().kind, FailureKind::Unavailable);
    assert!(recorder.refused_directly(("s", "t"), &raw(&json!({}))).is_err());
    assert!(recorder.end("ok", None).is_err());
}

#[tokio::test]
async fn an_answer_that_cannot_be_recorded_is_withheld() {
    let fixture = Fixture::new();
    let call = |_| async {
        fixture.block_log();
        answer(false)
    };
    let withheld = fixture.recorder.call(("s", "t"), &raw(&json!({})), true, call).await.unwrap_err();
    assert_eq!(withheld.kind, FailureKind::Unavailable);
    assert!(withheld.message.contains("can't be written"), "{withheld:?}");
}

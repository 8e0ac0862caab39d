//! The records of executions and calls, and what is refused if a record can't be written.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

use std::fs;
use std::path::PathBuf;

use config::{ArgumentsKept, AuditLog, Config, Serve};
use gateway::pins::Known;
use gateway::resources::READ;
use runner::{
    Answer, Begin, CallFailure, CallsRefused, FailureKind, NewExecution, OwnedJournal, QuestionKind, Refused,
};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::fixtures::{PipeClient, session, state};
use crate::snapshot::Settings;

/// The token of the server, a secret.
const TOKEN: &str = "token-of-this-server";

/// A journal and its audit log.
struct Fixture {
    journal: OwnedJournal,
    context: Arc<RequestContext>,
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
        let context = RequestContext::new(state.sinks(settings), requester, "e-1".to_owned(), "execute_code");
        Fixture { journal: OwnedJournal::new(sinks_of(&context)), context, log, _folder: folder }
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

/// Begins an execution of `code`.
async fn execution(
    journal: &Journal,
    code: &str,
    arguments: &Value,
    check_only: bool,
) -> Result<(), Refused> {
    journal.execution(&NewExecution { code, arguments, check_only }).await
}

/// Makes a call, as the broker does.
async fn call<Sent: Future<Output = Result<Answer, CallFailure>>>(
    journal: &Journal,
    (server, tool): (&str, &str),
    arguments: &RawValue,
    send: impl FnOnce() -> Sent,
) -> Result<Answer, CallFailure> {
    let call = journal.call(server, tool, arguments).await?;
    let answer = send().await;
    call.end(&answer).await?;
    answer
}

/// Reads a resource, as the broker does.
async fn read(
    journal: &Journal,
    uri: &str,
    contents: impl Future<Output = Result<Answer, CallFailure>>,
) -> Result<Answer, CallFailure> {
    let call = journal.read("notes", uri).await?;
    let answer = contents.await;
    call.end(&answer).await?;
    answer
}

fn failure(kind: FailureKind) -> CallFailure {
    CallFailure { kind, message: "no".to_owned() }
}

#[tokio::test]
async fn a_call_is_recorded_before_it_leaves_and_after_its_answer() {
    let fixture = Fixture::new();
    let journal = &fixture.journal;
    let code = format!("shop::order({TOKEN:?})");
    execution(journal, &code, &json!({ "password": TOKEN, "n": 1 }), true).await.unwrap();
    let arguments = raw(&json!({ "key": TOKEN, "count": 2 }));
    let send = || async {
        assert_eq!(fixture.events(), ["execution_begin", "call_begin"]);
        answer(false)
    };
    call(journal, ("shop", "order"), &arguments, send).await.unwrap();
    call(journal, ("shop", "order"), &arguments, || async { answer(true) }).await.unwrap();
    journal.end("runtime_error", Some("error")).await.unwrap();

    let lines = fixture.lines();
    let events = ["execution_begin", "call_begin", "call_end", "call_begin", "call_end", "execution_end"];
    assert_eq!(fixture.events(), events);
    assert!(lines.iter().all(|line| line["execution"] == "e-1"), "{lines:#?}");
    let [begin, called, end, second, error, last] = lines.as_slice() else { unreachable!() };
    assert_eq!(begin["who"], json!({ "client": "test client", "version": "1.2", "transport": "http" }));
    assert_eq!(begin["snippet_blake3"], blake3::hash(code.as_bytes()).to_hex().as_str());
    assert_eq!((&begin["snippet_bytes"], &begin["check_only"]), (&json!(code.len()), &json!(true)));
    assert_eq!(begin["arguments"]["value"], json!({ "password": "***", "n": 1 }));
    assert_eq!(
        (&called["call"], &called["server"], &called["tool"]),
        (&json!(0), &json!("shop"), &json!("order"))
    );
    assert_eq!(called["arguments"]["value"], json!({ "key": "***", "count": 2 }));
    assert_eq!(called["arguments"]["blake3"], blake3::hash(arguments.get().as_bytes()).to_hex().as_str());
    assert_eq!(called["who"], Value::Null, "the execution names the requester");
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
    let journal = &fixture.journal;
    let kinds =
        [FailureKind::Denied, FailureKind::InvalidParams, FailureKind::Timeout, FailureKind::Rejected];
    for kind in kinds {
        let send = || async move { Err(failure(kind)) };
        let failed = call(journal, ("s", "t"), &raw(&json!({})), send).await.unwrap_err();
        assert_eq!(failed.kind, kind);
    }
    let count = |refused: &mut CallsRefused| {
        refused.denied = 2;
        refused.tools.insert("s.t".to_owned(), 2);
    };
    journal.refuse(&count);
    journal.end("denied", None).await.unwrap();

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
    let journal = &fixture.journal;
    let uri = format!("note://{TOKEN}");
    let contents = Ok(Answer { result: raw(&json!("text")), is_error: false, cached: None });
    read(journal, &uri, async { contents }).await.unwrap();
    let failed = async { Err(failure(FailureKind::Timeout)) };
    assert_eq!(read(journal, &uri, failed).await.unwrap_err().kind, FailureKind::Timeout);
    journal.end("ok", None).await.unwrap();
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
    let journal = of_direct_call(&fixture.context, Arc::default());
    call(&journal, ("s", "t"), &arguments, || async { answer(false) }).await.unwrap();
    let refusal = Begin::Refusal { server: "s", tool: "t", arguments: &arguments };
    journal.begin(refusal).await.unwrap();
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
    execution(&fixture.journal, "1", &json!({}), false).await.unwrap();
    let arguments = raw(&json!({}));
    let mut calling = Box::pin(call(&fixture.journal, ("s", "t"), &arguments, std::future::pending));
    assert!(futures::poll!(calling.as_mut()).is_pending());
    drop(calling);
    fixture.journal = OwnedJournal::new(sinks_of(&fixture.context));
    assert_eq!(fixture.events(), ["execution_begin", "call_begin", "call_end", "execution_end"]);
    let lines = fixture.lines();
    assert_eq!(lines[0]["arguments"], Value::Null, "there are none");
    assert_eq!((&lines[2]["ok"], &lines[2]["error"]), (&json!(false), &json!("cancelled")));
    assert_eq!((&lines[3]["status"], &lines[3]["error"]), (&json!("cancelled"), &json!("given_up")));
    assert_eq!(lines[3]["execution"], "e-1");

    execution(&fixture.journal, "1", &json!({}), false).await.unwrap();
    fixture.journal.end("ok", None).await.unwrap();
    let ended = fixture.events().len();
    let Fixture { journal, log, _folder, .. } = fixture;
    drop(journal);
    assert_eq!(fs::read_to_string(log).unwrap().lines().count(), ended, "the end is recorded once");
}

#[tokio::test]
async fn nothing_is_called_if_it_cannot_be_recorded() {
    let fixture = Fixture::new();
    let journal = &fixture.journal;
    fixture.block_log();
    assert!(execution(journal, "1", &json!({}), false).await.is_err());
    let send = || async { unreachable!("the call must not leave") };
    let refused = call(journal, ("s", "t"), &raw(&json!({})), send).await.unwrap_err();
    assert_eq!(refused.kind, FailureKind::Unavailable);
    assert!(refused.message.contains("audit.jsonl can't be written"), "{refused:?}");
    let contents = async { unreachable!("the resource must not be read") };
    assert_eq!(read(journal, "note://1", contents).await.unwrap_err().kind, FailureKind::Unavailable);
    let refusal = Begin::Refusal { server: "s", tool: "t", arguments: &raw(&json!({})) };
    assert!(journal.begin(refusal).await.is_err());
    assert!(journal.end("ok", None).await.is_err());
}

#[tokio::test]
async fn an_answer_that_cannot_be_recorded_is_withheld() {
    let fixture = Fixture::new();
    let send = || async {
        fixture.block_log();
        answer(false)
    };
    let withheld = call(&fixture.journal, ("s", "t"), &raw(&json!({})), send).await.unwrap_err();
    assert_eq!(withheld.kind, FailureKind::Unavailable);
    assert!(withheld.message.contains("can't be written"), "{withheld:?}");
}

#[tokio::test]
async fn answers_of_the_user_are_recorded_and_nothing_follows_an_unrecorded_one() {
    let fixture = Fixture::new();
    let journal = &fixture.journal;
    let ask = |about| journal.ask(about, vec!["s.t".to_owned()], "May it?", "");
    ask(QuestionKind::Program).answered("choose", "client");
    ask(QuestionKind::Server).answered("accept", "client");
    ask(QuestionKind::Call).answered("declined", "client");
    let lines = fixture.lines();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((&lines[0]["question"], &lines[0]["answer"]), (&json!("call"), &json!("no")));
    assert_eq!(lines[0]["tools"], json!(["s.t"]));

    fixture.block_log();
    ask(QuestionKind::Call).answered("once", "client");
    fs::remove_dir(&fixture.log).unwrap();
    let send = || async { unreachable!("the call must not leave") };
    let refused = call(journal, ("s", "t"), &raw(&json!({})), send).await.unwrap_err();
    assert!(refused.message.contains("can't be written"), "{refused:?}");
}

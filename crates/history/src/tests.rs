//! Executions from their begin to what is read of them, through the real file.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod bounds;
mod files;
mod latest;
mod many;
mod processes;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use config::ArgumentsKept;
use runner::{
    Answer, CallBegun, CallFailure, CallRecord, Event, FailureKind, Journal, Outcome, Phase, QuestionKind,
    Sink as _, Status,
};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tempfile::TempDir;
use terminal::{Masker, Terminal};

use super::*;

/// A secret of a configuration.
const SECRET: &str = "secret-of-a-server-42";

/// A history and its file.
struct Fixture {
    history: History,
    settings: config::History,
    folder: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Fixture::with(config::History::default())
    }

    fn with(settings: config::History) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let history = start(&folder.path().join("state/history.db"), &settings);
        Fixture { history, settings, folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state/history.db")
    }

    fn begin(&self, id: &str, code: &str) -> RecordedExecution {
        self.history.begin(new(id, code), &self.settings, Masker::new(&[SECRET.to_owned()]))
    }

    async fn flush(&self) {
        self.history.flush(Duration::from_secs(60)).await;
    }

    fn reader(&self) -> Reader {
        Reader::open(&self.file()).unwrap().unwrap()
    }
}

fn start(file: &Path, settings: &config::History) -> History {
    let notifier = Terminal::new(true, false).notifier();
    History::start(file.to_owned(), settings, Durability::Written, notifier)
}

fn new(id: &str, code: &str) -> NewExecution {
    let requester = Requester {
        transport: "stdio",
        client: Some("a client".to_owned()),
        session: Some("s-1".to_owned()),
        subject: Some("ann".to_owned()),
        ..Requester::default()
    };
    let (folder, arguments) = (PathBuf::from("/work"), Some(raw(&json!({ "key": SECRET }))));
    NewExecution {
        id: id.to_owned(),
        requester,
        folder,
        program: None,
        code: code.to_owned(),
        arguments,
        check_only: false,
    }
}

fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

fn outcome(status: Status) -> Outcome {
    Outcome { status, error: None, ..Outcome::busy("") }
}

/// Notes a call, as the broker does.
fn call(execution: &RecordedExecution, number: u64, arguments: &Value, result: Result<&Value, FailureKind>) {
    let arguments = raw(arguments);
    let begun = CallBegun { number, server: "shop", tool: "list_orders", arguments: &arguments };
    execution.note(&Event::CallBegan(begun));
    execution.note(&Event::CallSent(number));
    let answer = match result {
        Ok(result) => Ok(Answer { result: raw(result), is_error: false, cached: None }),
        Err(kind) => Err(CallFailure { kind, message: "no".to_owned() }),
    };
    execution.note(&Event::CallAnswered(number, &answer));
    let (server, tool) = ("shop".to_owned(), "list_orders".to_owned());
    let bytes = answer.as_ref().map_or(0, |answer| answer.result.get().len());
    let record = CallRecord { server, tool, ok: answer.is_ok(), ms: 1.0, bytes, cached: None };
    execution.note(&Event::CallEnded(number, &record));
}

#[tokio::test]
async fn an_execution_is_read_as_it_was_recorded() {
    let fixture = Fixture::new();
    let execution = fixture.begin("e1", "// Orders by status\nshop::list_orders().await?");
    execution.note(&Event::Phase(Phase::Checking));
    execution.note(&Event::Phase(Phase::Running));
    let journal = Journal::new(vec![Arc::new(execution.clone())]);
    let question = journal.ask(QuestionKind::Program, vec!["shop.list_orders".to_owned()], "May it?", "");
    fixture.flush().await;
    let waiting = fixture.reader().waiting().unwrap();
    assert!(matches!(waiting.as_slice(), [one] if one.is_waiting && one.status == "running"), "{waiting:?}");
    question.answered("once", "terminal");
    fixture.flush().await;
    assert_eq!(fixture.reader().waiting().unwrap(), []);
    let orders = json!({ "content": [{ "type": "text", "text": "order ".repeat(200) }], "structuredContent": { "n": 200 } });
    call(&execution, 0, &json!({ "status": "open" }), Ok(&orders));
    call(&execution, 1, &json!({ "status": "open" }), Err(FailureKind::Timeout));
    let mut ended = outcome(Status::Ok);
    ended.result = Some(raw(&json!({ "open": 3 })));
    ended.stdout = "three orders\n".to_owned();
    ended.calls_total = 2;
    ended.manifest = vec!["shop.list_orders".to_owned()];
    execution.end(execution.ending(&ended), "three orders");
    fixture.flush().await;

    let reader = fixture.reader();
    let list = reader.list(&Filter::default(), Page::ALL).unwrap();
    assert_eq!(list.len(), 1);
    let found = reader.execution("e").unwrap();
    assert_eq!(found.summary, list[0]);
    let summary = &found.summary;
    assert_eq!((summary.status.as_str(), summary.title.as_str()), ("ok", "Orders by status"));
    assert_eq!((summary.calls, &summary.tools), (2, &vec!["shop.list_orders".to_owned()]));
    assert_eq!((summary.transport.as_str(), summary.subject.as_deref()), ("stdio", Some("ann")));
    let phases: Vec<&str> = found.phases.iter().map(|start| start.phase.as_str()).collect();
    assert_eq!(phases, ["checking", "running"]);
    assert!(found.code.ends_with("list_orders().await?") && found.code_is_whole);
    let [first, second] = found.calls_made.as_slice() else { panic!("{found:#?}") };
    assert_eq!((first.ok, first.error.as_deref()), (Some(true), None));
    assert_eq!((second.ok, second.error.as_deref()), (Some(false), Some("timeout")));
    let times = [first.began_ms, first.sent_ms.unwrap(), first.ended_ms.unwrap(), second.began_ms];
    assert!(times.is_sorted(), "{times:?}");
    assert_eq!(usize::try_from(first.bytes).unwrap(), orders.to_string().len());
    let [one, other] = [first, second].map(|call| call.arguments.clone().unwrap());
    assert_eq!((&one.hash, one.bytes, one.value), (&other.hash, 17, None), "only their hash is kept");
    assert_eq!(one.hash, reader.hash(&raw(&json!({ "status": "open" }))).unwrap());
    let [asked] = found.questions.as_slice() else { panic!("{found:#?}") };
    assert_eq!((asked.answer.as_deref(), asked.answered_by.as_deref()), (Some("once"), Some("terminal")));
    assert_eq!(found.outcome["result"], json!({ "value": { "open": 3 }, "bytes": 10 }));
    assert_eq!(found.outcome["stdout"], json!({ "text": "three orders\n", "bytes": 13 }));
    assert_eq!(found.outcome["manifest"], json!(["shop.list_orders"]));
    // The text counts, and not the structured content beside it.
    let text = codegen::tokens(&"order ".repeat(200));
    let arguments = codegen::tokens(r#"{"status":"open"}"#);
    assert_eq!(summary.tokens.direct, u64::try_from(text + 2 * arguments).unwrap());
    assert_eq!(summary.tokens.answer, u64::try_from(codegen::tokens("three orders")).unwrap());
    assert!(summary.tokens.saved() > 100, "{:?}", summary.tokens);
    let savings = reader.savings(&Filter::default()).unwrap();
    let [day] = savings.as_slice() else { panic!("{savings:?}") };
    assert_eq!((day.executions, day.failed, day.calls, day.tokens), (1, 0, 2, summary.tokens));
}

#[tokio::test]
async fn failures_are_counted_but_save_nothing_and_cost_nothing() {
    let fixture = Fixture::new();
    for (id, status) in [("a1", Status::Ok), ("a2", Status::RuntimeError), ("a3", Status::Timeout)] {
        let execution = fixture.begin(id, "1");
        execution.end(execution.ending(&outcome(status)), &"x ".repeat(1_000_000));
    }
    fixture.flush().await;
    let reader = fixture.reader();
    let days = reader.savings(&Filter::default()).unwrap();
    let [day] = days.as_slice() else { panic!("{days:?}") };
    assert_eq!((day.executions, day.failed), (3, 2));
    assert_eq!(day.tokens, reader.execution("a1").unwrap().summary.tokens);
}

#[tokio::test]
async fn programs_are_named_and_recordings_are_found_and_deleted() {
    let fixture = Fixture::new();
    let named = NewExecution { program: Some("revenue".to_owned()), ..new("b1", "1") };
    let execution = fixture.history.begin(named, &fixture.settings, Masker::new(&[]));
    execution.recording("{\"version\":1}".to_owned());
    execution.end(execution.ending(&outcome(Status::Ok)), "");
    let other = fixture.begin("b2", "2");
    other.end(other.ending(&outcome(Status::Ok)), "");
    fixture.flush().await;
    let mut reader = fixture.reader();
    let filter = Filter { program: Some("revenue".to_owned()), ..Filter::default() };
    let found = reader.list(&filter, Page::ALL).unwrap();
    assert_eq!((found.len(), found[0].program.as_deref()), (1, Some("revenue")));
    assert!(reader.execution("b1").unwrap().is_recorded && !reader.execution("b2").unwrap().is_recorded);
    assert_eq!(reader.recording("b1", 13).unwrap().as_deref(), Some("{\"version\":1}"));
    let larger = reader.recording("b1", 12).unwrap_err().to_string();
    assert!(larger.contains("has more than 12 bytes, so it is not replayed"), "{larger}");
    assert_eq!(reader.recording("b2", 13).unwrap(), None);
    reader.delete(&["b1".to_owned()]).unwrap();
    let connection = rusqlite::Connection::open(fixture.file()).unwrap();
    let left: i64 = connection.query_row("SELECT count(*) FROM recordings", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "a deleted execution takes its recording with it");
}

#[tokio::test]
async fn executions_are_found_by_what_they_did() {
    let fixture = Fixture::new();
    let ids = ["a1", "a2", "a3"];
    for id in ids {
        let execution = fixture.begin(id, &format!("let customer = \"c-{id}\";"));
        let mut ended = outcome(if id == "a2" { Status::Panic } else { Status::Ok });
        if id == "a3" {
            call(&execution, 0, &json!({}), Ok(&json!({ "content": [] })));
            ended.stdout = "Zürich says \"hello\"".to_owned();
        }
        execution.end(execution.ending(&ended), "");
    }
    fixture.flush().await;
    let reader = fixture.reader();
    let list = |filter: Filter| -> Vec<String> {
        reader.list(&filter, Page::ALL).unwrap().into_iter().map(|summary| summary.id).collect()
    };
    let text = |text: &str| list(Filter { text: Some(text.to_owned()), ..Filter::default() });
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(list(Filter::default()), ["a3", "a2", "a1"]);
    assert_eq!(list(Filter { status: some("panic"), ..Filter::default() }), ["a2"]);
    assert_eq!(list(Filter { server: some("shop"), ..Filter::default() }), ["a3"]);
    assert_eq!(list(Filter { tool: some("list_orders"), ..Filter::default() }), ["a3"]);
    assert_eq!(list(Filter { tool: some("list"), ..Filter::default() }), [""; 0]);
    assert_eq!(list(Filter { subject: some("ann"), session: some("s-1"), ..Filter::default() }).len(), 3);
    assert_eq!(list(Filter { subject: some("bob"), ..Filter::default() }), [""; 0]);
    assert_eq!(list(Filter { until: Some(1), ..Filter::default() }), [""; 0]);
    assert_eq!(list(Filter { since: Some(1), ..Filter::default() }).len(), 3);
    assert_eq!(text("c-a2"), ["a2"]);
    assert_eq!(text("custo"), ["a3", "a2", "a1"]);
    assert_eq!(text("customer hello"), ["a3"]);
    assert_eq!(text("zurich"), ["a3"], "accents do not matter");
    assert_eq!(text("customer NOT hello"), [""; 0], "operators are words");
    assert_eq!(text("\" OR *"), [""; 0]);
    let page = |before| reader.list(&Filter::default(), Page { limit: 1, before }).unwrap().remove(0);
    assert_eq!(page(Some(page(None).number)).id, "a2");
    assert_eq!(reader.count(&Filter { status: some("ok"), ..Filter::default() }).unwrap(), 2);
    assert!(reader.find("a").unwrap_err().to_string().contains("a1, a2, a3"));
    assert_eq!(reader.find("b").unwrap_err().kind, HistoryErrorKind::Missing);
    assert_eq!(reader.find("").unwrap_err().kind, HistoryErrorKind::Ambiguous);
}

#[tokio::test]
async fn secrets_and_unkept_arguments_are_not_in_the_file() {
    let words = ["value-of-an-argument", SECRET];
    for kept in [ArgumentsKept::None, ArgumentsKept::Hash, ArgumentsKept::Full] {
        let fixture = Fixture::with(config::History { arguments: kept, ..config::History::default() });
        let execution = fixture.begin("e1", &format!("shop::list_orders({SECRET:?})"));
        let arguments = json!({ "key": SECRET, "a": words[0], SECRET: 1 });
        call(&execution, 0, &arguments, Ok(&json!({ "content": [{ "type": "text", "text": SECRET }] })));
        call(&execution, 1, &json!({ "a": words[0] }), Ok(&json!({ "content": [] })));
        let text = format!("the server sent {SECRET}");
        let journal = Journal::new(vec![Arc::new(execution.clone())]);
        journal.ask(QuestionKind::Server, vec![SECRET.to_owned()], &text, &text).answered("accept", "client");
        let mut ended = outcome(Status::RuntimeError);
        ended.result = Some(raw(&json!({ SECRET: SECRET })));
        (ended.stdout, ended.stderr) = (text.clone(), text.clone());
        ended.content = vec![raw(&json!({ "type": "text", "text": text }))];
        ended.error = Outcome::busy(&text).error;
        execution.end(execution.ending(&ended), &text);
        fixture.flush().await;
        let found = fixture.reader().execution("e1").unwrap();
        assert!(!found.code_is_whole && found.code == "shop::list_orders(\"***\")", "{}", found.code);
        let arguments = &found.calls_made[1].arguments;
        assert_eq!(arguments.is_some(), kept != ArgumentsKept::None);
        let value = arguments.as_ref().and_then(|arguments| arguments.value.clone());
        assert_eq!(value, (kept == ArgumentsKept::Full).then(|| json!({ "a": words[0] })));
        let all = fixture.bytes();
        let is_in = |word: &str| memmem(&all, word.as_bytes());
        assert!(!is_in(SECRET), "{kept:?}");
        assert_eq!(is_in(words[0]), kept == ArgumentsKept::Full, "{kept:?}");
        assert!(is_in("the server sent ***"));
    }
}

impl Fixture {
    /// The size of all files together.
    fn size(&self) -> u64 {
        let entries = std::fs::read_dir(self.file().parent().unwrap()).unwrap();
        let sizes = entries
            .map(|entry| entry.unwrap())
            .filter(|entry| !entry.file_name().to_str().unwrap().ends_with("-shm"));
        sizes.map(|entry| entry.metadata().unwrap().len()).sum()
    }

    /// Everything that is on the disk.
    fn bytes(&self) -> Vec<u8> {
        let entries = std::fs::read_dir(self.file().parent().unwrap()).unwrap();
        entries.flat_map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
    }
}

fn memmem(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[tokio::test]
async fn an_execution_that_is_dropped_was_cancelled() {
    let fixture = Fixture::new();
    let execution = fixture.begin("e1", "1");
    let clone = execution.clone();
    drop(execution);
    fixture.flush().await;
    assert_eq!(fixture.reader().execution("e1").unwrap().summary.status, "running");
    drop(clone);
    fixture.flush().await;
    let summary = fixture.reader().execution("e1").unwrap().summary;
    assert_eq!((summary.status.as_str(), summary.error_kind.as_deref()), ("cancelled", Some("given_up")));
    assert!(summary.ended.is_some() && summary.total_ms.is_some());
}

#[tokio::test]
async fn deleted_executions_leave_nothing_behind() {
    let fixture = Fixture::new();
    for id in ["e1", "e2"] {
        let execution = fixture.begin(id, &format!("let unmistakable_{id} = 1;"));
        call(&execution, 0, &json!({}), Ok(&json!({ "content": [] })));
        execution.end(execution.ending(&outcome(Status::Ok)), "");
    }
    fixture.flush().await;
    let mut reader = fixture.reader();
    assert_eq!(reader.delete(&["e1".to_owned(), "e7".to_owned()]).unwrap(), 1);
    let left: Vec<String> =
        reader.list(&Filter::default(), Page::ALL).unwrap().into_iter().map(|summary| summary.id).collect();
    assert_eq!(left, ["e2"]);
    let all = fixture.bytes();
    assert!(!memmem(&all, b"unmistakable_e1") && memmem(&all, b"unmistakable_e2"));
    assert_eq!(reader.delete_all(&Filter::default()).unwrap(), 1);
    let connection = rusqlite::Connection::open(fixture.file()).unwrap();
    for table in ["executions", "contents", "calls", "tools", "questions", "words"] {
        let rows: i64 =
            connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
    // Events of an execution that was deleted meanwhile are left out.
    let late = fixture.begin("e3", "1");
    fixture.flush().await;
    reader.delete_all(&Filter::default()).unwrap();
    call(&late, 0, &json!({}), Ok(&json!({ "content": [] })));
    late.end(late.ending(&outcome(Status::Ok)), "");
    fixture.flush().await;
    assert_eq!(reader.count(&Filter::default()).unwrap(), 0);
}

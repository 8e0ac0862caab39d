//! Calls that a server answers with tasks: of MCP 2025-11-25 and of the extension (SEP-2663), and tasks that break the
//! rules.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use end_to_end::harness::WATCHDOG;
use end_to_end::page::normal;
use futures::future::BoxFuture;
use insta::assert_snapshot;
use mcp::{CallOptions, Error, Host, Notice, QuestionError, Session};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::{arguments, fixture::Fixture};

/// The user of the session: answers every question with 7, and records progress.
#[derive(Default)]
struct Person(Mutex<Vec<String>>);

impl Host for Person {
    fn elicits(&self) -> bool {
        true
    }

    fn elicit<'a>(&'a self, _: &'a str, _: Value) -> BoxFuture<'a, Result<Value, QuestionError>> {
        Box::pin(async { Ok(json!({ "action": "accept", "content": { "count": 7 } })) })
    }

    fn notice(&self, _: &str, notice: &Notice) {
        if let Notice::Progress { done, message, .. } = notice {
            self.0.lock().push(format!("{done} {}", message.as_deref().unwrap_or("-")));
        }
    }
}

/// A session with the server of tasks.
struct Tasks {
    fixture: Fixture,
    session: Session,
    person: Arc<Person>,
    folder: TempDir,
}

impl Tasks {
    async fn new(limit: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut fixture = Fixture::with_argument("tasks", folder.path().join("record").to_str().unwrap());
        fixture.config.request_timeout = limit;
        let person = Arc::new(Person::default());
        let session = Session::connect_with(&fixture.config, person.clone()).await.unwrap();
        Tasks { fixture, session, person, folder }
    }

    async fn call(&self, tool: &str, script: &str) -> Result<String, Error> {
        let options = CallOptions::with_meta(Map::new()).as_task(tool == "job");
        let result = self.session.call_with(tool, arguments(&json!({ "message": script })), options).await?;
        let result: Value = serde_json::from_str(result.raw().get()).unwrap();
        Ok(result["content"][0]["text"].as_str().unwrap().to_owned())
    }

    /// Waits until the server was asked to cancel this task.
    async fn await_cancellation(&self, id: &str) {
        let line = format!("tasks/cancel {id}");
        let waiting = async {
            while !self.record().contains(&line) {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        assert!(tokio::time::timeout(WATCHDOG, waiting).await.is_ok(), "{:?}", self.record());
    }

    /// The requests that the server has received for tasks, without repetitions.
    fn record(&self) -> Vec<String> {
        let mut lines: Vec<_> = fs::read_to_string(self.folder.path().join("record"))
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        lines.dedup();
        lines
    }
}

#[tokio::test]
async fn a_task_of_either_form_is_an_ordinary_call() {
    let tasks = Tasks::new(WATCHDOG).await;
    assert_eq!(tasks.call("echo", "plain").await.unwrap(), "did what plain does");
    assert_eq!(tasks.call("job", "plain").await.unwrap(), "did what plain does");
    assert_eq!(
        tasks.record(),
        ["call extension", "tasks/get task 0", "call core", "tasks/get task 1", "tasks/result task 1"]
    );
    tasks.fixture.close(tasks.session).await;
}

#[tokio::test]
async fn a_question_of_a_task_is_answered_once() {
    let tasks = Tasks::new(WATCHDOG).await;
    let answer = tasks.call("echo", "asks").await.unwrap();
    assert_eq!(answer, r#"{"action":"accept","content":{"count":7}}"#);
    assert_eq!(tasks.call("echo", "wavers").await.unwrap(), r#"{"action":"accept","content":{"count":7}}"#);
    let updates = tasks.record().iter().filter(|line| line.starts_with("tasks/update")).count();
    assert_eq!(updates, 2);
    tasks.fixture.close(tasks.session).await;
}

#[tokio::test]
async fn changes_of_a_task_are_progress_and_announced_ones_are_noticed() {
    let tasks = Tasks::new(WATCHDOG).await;
    tasks.call("echo", "reports").await.unwrap();
    assert_eq!(*tasks.person.0.lock(), ["1 step 1", "2 step 2", "3 -"]);
    tasks.fixture.close(tasks.session).await;
    // Less than the longest interval between polls.
    let tasks = Tasks::new(Duration::from_secs(20)).await;
    assert_eq!(tasks.call("echo", "announces").await.unwrap(), "did what announces does");
    tasks.fixture.close(tasks.session).await;
}

#[tokio::test]
async fn failures_of_a_task_are_those_of_the_call() {
    let tasks = Tasks::new(WATCHDOG).await;
    let mut shown = Vec::new();
    for (tool, script) in [
        ("echo", "fails"),
        ("job", "fails"),
        ("echo", "cancels"),
        ("echo", "hibernates"),
        ("echo", "confuses"),
        ("echo", "empty"),
        ("echo", "forgets"),
    ] {
        shown.push(format!("{tool} {script}: {}", tasks.call(tool, script).await.unwrap_err()));
    }
    assert_snapshot!(normal(&shown.join("\n")), @r"
    echo fails: MCP server `faulty`: the answer of tool `echo` failed with error -32001: the job broke
    job fails: MCP server `faulty`: the answer of tool `job` failed with error -32001: the job broke
    echo cancels: MCP server `faulty`: its task was cancelled on its side
    echo hibernates: MCP server `faulty`: broke the protocol: its task has the unknown status `hibernating`
    echo confuses: MCP server `faulty`: broke the protocol: it answered `tasks/get` with another task
    echo empty: MCP server `faulty`: broke the protocol: its task is completed and has no result
    echo forgets: MCP server `faulty`: broke the protocol: it no longer knows the task of this call (Task not found; it keeps a task for [time])
    ");
    tasks.fixture.close(tasks.session).await;
}

#[tokio::test]
async fn a_task_that_takes_too_long_or_is_dropped_is_cancelled() {
    let tasks = Tasks::new(Duration::from_secs(1)).await;
    let late = tasks.call("echo", "endless").await.unwrap_err();
    assert_snapshot!(normal(&late), @r"
    MCP server `faulty`: the answer of tool `echo` took longer than 1 s; the request was cancelled; raise `requestTimeout` if the tool needs longer
    ");
    tasks.await_cancellation("task 0").await;
    // The server wants to be polled once in an hour.
    let call = tasks.call("echo", "slow");
    assert!(tokio::time::timeout(Duration::from_millis(300), call).await.is_err());
    tasks.await_cancellation("task 1").await;
    tasks.fixture.close(tasks.session).await;
}

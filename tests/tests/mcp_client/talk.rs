//! Requests and notifications from servers, and managed sessions.

use std::path::Path;
use std::sync::Arc;

use end_to_end::page::normal;
use futures::{FutureExt, future::BoxFuture};
use insta::assert_snapshot;
use mcp::{Changes, ConnectionState, ErrorKind, Host, ManagedSession, Notice, QuestionError, Root, Session};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{call, call_text, fixture::Fixture};

/// Accepts everything and records notices.
#[derive(Default)]
struct AcceptingHost(Mutex<Vec<Notice>>);

impl Host for AcceptingHost {
    fn elicits(&self) -> bool {
        true
    }

    fn samples(&self) -> bool {
        true
    }

    fn elicit<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        assert_eq!((server, &parameters["message"]), ("faulty", &json!("How many?")));
        std::future::ready(Ok(json!({ "action": "accept", "content": { "count": 7 } }))).boxed()
    }

    fn sample<'a>(
        &'a self,
        _server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        let text = parameters["messages"][0]["content"].clone();
        std::future::ready(Ok(json!({ "role": "assistant", "model": "mirror", "content": text }))).boxed()
    }

    fn notice(&self, _server: &str, notice: &Notice) {
        self.0.lock().push(notice.clone());
    }
}

async fn answered(session: &Session, method: &str) -> Value {
    serde_json::from_str(&call_text(session, method).await).unwrap()
}

#[tokio::test]
async fn servers_get_answers_to_declared_requests() {
    let mut fixture = Fixture::new("asks");
    fixture.config.roots = vec![Root { uri: "file:///work".to_owned(), name: None }];
    let session = Session::connect_with(&fixture.config, Arc::new(AcceptingHost::default())).await.unwrap();
    let declared: Value = serde_json::from_str(session.instructions().unwrap()).unwrap();
    assert_eq!(
        declared,
        json!({ "elicitation": { "form": {} }, "sampling": {}, "roots": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
    );
    let elicited = answered(&session, "elicitation/create").await;
    assert_eq!(elicited[0], json!({ "action": "accept", "content": { "count": 7 } }));
    assert_eq!(answered(&session, "sampling/createMessage").await[0]["content"]["text"], "Hello?");
    assert_eq!(answered(&session, "roots/list").await[0], json!({ "roots": [{ "uri": "file:///work" }] }));
    assert_eq!(answered(&session, "ping").await[0], json!({}));
    fixture.close(session).await;
}

#[tokio::test]
async fn undeclared_requests_are_rejected() {
    let fixture = Fixture::new("asks");
    let session = fixture.connect().await;
    assert_eq!(session.instructions(), Some(r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#));
    let mut shown = Vec::new();
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        let answer = answered(&session, method).await;
        shown.push(normal(&answer[1]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    this client does not declare elicitation in this mode
    this client does not declare sampling
    this client does not declare roots
    ");
    fixture.close(session).await;
}

#[tokio::test]
async fn lone_surrogates_are_replaced_everywhere_with_a_warning() {
    let fixture = Fixture::new("half-characters");
    let host = Arc::new(AcceptingHost::default());
    let session = Session::connect_with(&fixture.config, host.clone()).await.unwrap();
    let listing = session.list_tools().await.unwrap();
    assert_eq!(listing.tools[0].definition()["description"], "cut \u{fffd}");
    assert_says_one(&listing.warnings, "U+FFFD");

    let arguments = |message: &str| serde_json::value::to_raw_value(&json!({ "message": message })).unwrap();
    let result = session.call("echo", arguments("")).await.unwrap();
    assert!(result.is_error());
    let result: Value = serde_json::from_str(result.raw().get()).unwrap();
    assert_eq!(result["content"][0]["text"], "result \u{fffd}");
    // An escaped backslash before it does not confuse the replacement.
    assert_eq!(result["structuredContent"], json!({ "\u{fffd}": "\\\u{fffd}" }));
    let error = session.call("echo", arguments("error")).await.unwrap_err();
    let ErrorKind::Rpc { message, data, .. } = *error.kind else { panic!("{error}") };
    assert_eq!((message.as_str(), data.unwrap().get()), ("error \u{fffd}", r#""\ufffd""#));
    fixture.close(session).await;

    let notices = host.0.lock();
    let logs: Vec<&Value> = notices.iter().filter_map(log_data).collect();
    assert!(logs.contains(&&json!("log \u{fffd}")), "{logs:?}");
    let warnings = logs.iter().filter(|data| data.as_str().is_some_and(|text| text.contains("U+FFFD")));
    assert_eq!(warnings.count(), 1, "{logs:?}");
}

fn log_data(notice: &Notice) -> Option<&Value> {
    match notice {
        Notice::Log { data, .. } => Some(data),
        _ => None,
    }
}

fn assert_says_one(warnings: &[String], says: &str) {
    assert!(warnings.len() == 1 && warnings[0].contains(says), "{warnings:?}");
}

#[tokio::test]
async fn stateless_servers_are_discovered_and_get_their_input() {
    let fixture = Fixture::new("stateless");
    let session = Session::connect_with(&fixture.config, Arc::new(AcceptingHost::default())).await.unwrap();
    assert_eq!(session.protocol_version(), "2026-07-28");
    assert_eq!(session.list_tools().await.unwrap().tools.len(), 1);
    assert_eq!(call_text(&session, "plain").await, "plain");
    let answer = answered(&session, "elicitation/create").await;
    assert_eq!(answer, json!([{ "action": "accept", "content": { "count": 7 } }, "round-2"]));
    let error = call(&session, "files/delete").await.unwrap_err();
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: its request for input has the method `files/delete`, which is not supported
    ");
    session.ping().await.unwrap();
    fixture.close(session).await;
    let session = fixture.connect().await;
    let error = call(&session, "elicitation/create").await.unwrap_err();
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: its request for input (`elicitation/create`) was refused: this client does not declare elicitation in this mode
    ");
    fixture.close(session).await;
}

#[tokio::test]
async fn progress_extends_a_calls_time_limit() {
    let fixture = Fixture::new("slow-with-progress").impatient();
    let host = Arc::new(AcceptingHost::default());
    let session = Session::connect_with(&fixture.config, host.clone()).await.unwrap();
    let milliseconds = fixture.config.request_timeout.as_millis() * 3;
    assert_eq!(call_text(&session, &milliseconds.to_string()).await, "done");
    let progress = Notice::Progress { done: 3.0, total: Some(10.0), message: Some("working".to_owned()) };
    assert!(host.0.lock().contains(&progress));
    fixture.close(session).await;
}

#[tokio::test]
async fn a_tool_may_have_its_own_limit() {
    let mut fixture = Fixture::new("silent-call");
    fixture.config.tool_timeouts.insert("echo".to_owned(), crate::fixture::SHORT);
    let session = fixture.connect().await;
    let error = call(&session, "hello").await.unwrap_err();
    assert!(
        matches!(*error.kind, ErrorKind::Timeout { limit, .. } if limit == crate::fixture::SHORT),
        "{error}"
    );
    fixture.close(session).await;
}

#[tokio::test]
async fn a_managed_session_reconnects_when_its_server_dies() {
    let fixture = Fixture::new("sound");
    let keeper = ManagedSession::start(fixture.config.clone(), Arc::new(AcceptingHost::default()));
    let first = keeper.session().await.unwrap();
    assert_eq!((keeper.status().state, keeper.status().tools.len()), (ConnectionState::Ready, 1));
    let mut watch = keeper.watch();
    let group = rustix::process::Pid::from_raw(first.process_group().unwrap()).unwrap();
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    watch.wait_for(|status| status.state == ConnectionState::Connecting).await.unwrap();
    let status = watch.wait_for(|status| status.last_error.is_some()).await.unwrap().clone();
    assert_snapshot!(normal(&status.last_error.unwrap()), @r"
    MCP server `faulty`: the connection ended while waiting for the answer to `the next request`; the process was terminated by signal 9
    ");
    let second = keeper.session().await.unwrap();
    assert_ne!(first.process_group(), second.process_group());
    assert_eq!(call_text(&second, "again").await, "again");
    assert!(call(&first, "never replayed").await.is_err());
    drop((first, second));
    let mut watch = keeper.watch();
    keeper.close().await;
    assert_eq!(watch.borrow_and_update().state, ConnectionState::Closed);
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn a_managed_session_whose_server_stops_answering_pings_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    let mut fixture = Fixture::with_argument("silent-ping", sessions.to_str().unwrap());
    fixture.config.ping_interval = std::time::Duration::from_millis(20);
    fixture.config.request_timeout = crate::fixture::SHORT;
    let keeper = ManagedSession::start(fixture.config.clone(), Arc::new(AcceptingHost::default()));
    let first = keeper.session().await.unwrap();
    let mut watch = keeper.watch();
    let status = watch.wait_for(|status| status.last_error.is_some()).await.unwrap().clone();
    assert_eq!(status.state, ConnectionState::Connecting);
    assert_snapshot!(normal(&status.last_error.unwrap()), @r"
    MCP server `faulty`: the answer to `ping` took longer than 1 s; the request was cancelled; raise `requestTimeout` if the server is just slow
    ");
    let second = keeper.session().await.unwrap();
    assert_ne!(first.process_group(), second.process_group());
    assert_eq!(call_text(&second, "again").await, "again");
    assert_eq!(std::fs::read_to_string(sessions).unwrap().len(), 2);
    drop((first, second));
    keeper.close().await;
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn a_session_without_time_limits_works() {
    let mut fixture = Fixture::new("sound");
    fixture.config.ping_interval = mcp::NO_TIME_LIMIT;
    fixture.config.request_timeout = mcp::NO_TIME_LIMIT;
    fixture.config.connect_timeout = mcp::NO_TIME_LIMIT;
    let keeper = ManagedSession::start(fixture.config.clone(), Arc::new(AcceptingHost::default()));
    let session = keeper.session().await.unwrap();
    assert_eq!(call_text(&session, "once").await, "once");
    drop(session);
    keeper.close().await;
    fixture.assert_nothing_left();
}

/// Closing the broken session takes seconds, because its server ignores the end of its input.
#[tokio::test]
async fn a_broken_managed_session_is_replaced_before_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let process = folder.path().join("process");
    let fixture = Fixture::with_argument("hangs-up", process.to_str().unwrap());
    let keeper = ManagedSession::start(fixture.config.clone(), Arc::new(AcceptingHost::default()));
    let first = keeper.session().await.unwrap();
    let mut watch = keeper.watch();
    assert!(call(&first, "hang up").await.is_err());
    watch.wait_for(|status| status.state != ConnectionState::Ready).await.unwrap();
    let id = std::fs::read_to_string(process).unwrap();
    assert!(Path::new("/proc").join(id).join("fd/0").exists(), "the first session is closed already");
    let second = keeper.session().await.unwrap();
    assert_eq!(call_text(&second, "again").await, "again");
    drop((first, second));
    keeper.close().await;
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn a_server_that_cannot_start_is_reported_with_its_error() {
    let mut fixture = Fixture::new("sound");
    fixture.config = mcp::ServerConfig::stdio("faulty", "/nowhere/server", [""; 0]);
    let keeper = ManagedSession::start(fixture.config.clone(), Arc::new(AcceptingHost::default()));
    let error = keeper.session().await.unwrap_err();
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: MCP server `faulty`: cannot start: the command `/nowhere/server` does not exist, or it is a script whose interpreter is missing; check the path
    ");
    assert_eq!(keeper.status().state, ConnectionState::Error);
}

#[tokio::test]
async fn a_storm_of_changes_is_read_once_and_reported_by_name() {
    let fixture = Fixture::new("storm");
    let keeper = ManagedSession::start(fixture.config.clone(), Arc::new(AcceptingHost::default()));
    let session = keeper.session().await.unwrap();
    assert_eq!(keeper.status().changes, Changes::default());
    let mut watch = keeper.watch();
    assert_eq!(call_text(&session, "grow").await, "grow");
    let status = watch.wait_for(|status| status.tools.len() == 2).await.unwrap().clone();
    assert_eq!(status.changes.added, ["echo_1"]);
    assert!(status.changes.removed.is_empty() && status.changes.changed.is_empty());
    drop(session);
    keeper.close().await;
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn stateless_servers_get_a_subscription_to_changes() {
    let fixture = Fixture::new("stateless");
    let keeper = ManagedSession::start(fixture.config.clone(), Arc::new(AcceptingHost::default()));
    let session = keeper.session().await.unwrap();
    let mut watch = keeper.watch();
    assert_eq!(call_text(&session, "grow").await, "grown");
    let status = watch.wait_for(|status| status.tools.len() == 2).await.unwrap().clone();
    assert_eq!(status.changes.added, ["another"]);
    drop(session);
    keeper.close().await;
    fixture.assert_nothing_left();
}

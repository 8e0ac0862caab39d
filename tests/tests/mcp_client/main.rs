//! The MCP client against servers that misbehave: clear errors, bounded time, and no process left behind.

#![allow(clippy::unwrap_used, reason = "tests, also outside of test functions")]

mod fixture;
mod metadata;
mod oddities;
mod talk;
mod tasks;

use std::fs;

use end_to_end::page::normal;
use fixture::{Fixture, SHORT};
use insta::assert_snapshot;
use mcp::{Command, Error, ErrorKind, Exit, Phase, ServerConfig, Session, Transport};
use serde_json::{Value, json, value::RawValue};

fn arguments(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

async fn call(session: &Session, message: &str) -> Result<Value, Error> {
    let result = session.call("echo", arguments(&json!({ "message": message }))).await?;
    Ok(serde_json::from_str(result.raw().get()).unwrap())
}

async fn call_text(session: &Session, message: &str) -> String {
    let result = call(session, message).await.unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

async fn assert_works(session: &Session) {
    assert_eq!(call_text(session, "hello").await, "hello");
}

#[tokio::test]
async fn a_correct_server_is_connected_listed_called_and_closed() {
    let fixture = Fixture::new("sound");
    let session = fixture.connect().await;
    assert_eq!(session.server_info(), Some(("fault-server", "1.0.0")));
    assert_eq!(session.instructions(), Some("Expect the worst."));
    assert_eq!(session.protocol_version(), "2025-11-25");
    let listing = session.list_tools().await.unwrap();
    assert_eq!(listing.tools.len(), 1);
    assert_eq!(listing.warnings, [""; 0]);
    assert_works(&session).await;
    assert_eq!(fixture.processes().len(), 1);
    let clone = session.clone();
    fixture.close(session).await;
    assert!(clone.is_closed());
    let error = call(&clone, "too late").await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::SessionClosed { .. }), "{error}");
}

#[tokio::test]
async fn a_thousand_concurrent_calls_get_their_own_answers() {
    let fixture = Fixture::new("sound");
    let session = fixture.connect().await;
    let calls = (0..1_000).map(|number| {
        let session = &session;
        async move { call_text(session, &number.to_string()).await == number.to_string() }
    });
    assert!(futures::future::join_all(calls).await.into_iter().all(|own| own));
    fixture.close(session).await;
}

#[tokio::test]
async fn arguments_travel_verbatim_even_with_line_breaks() {
    let fixture = Fixture::new("sound");
    let session = fixture.connect().await;
    let raw = RawValue::from_string("{\n  \"message\":\r\n \"a\\nb\"\n}".to_owned()).unwrap();
    let result = session.call("echo", raw).await.unwrap();
    let result: Value = serde_json::from_str(result.raw().get()).unwrap();
    assert_eq!(result, json!({ "content": [{ "type": "text", "text": "a\nb" }] }));
    let error = session.call("echo", arguments(&json!([1]))).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Arguments { .. }), "{error}");
    fixture.close(session).await;
}

#[tokio::test]
async fn a_command_that_cannot_start_is_reported() {
    let missing = ServerConfig::stdio("ghost", "no-such-mcp-server", [""; 0]);
    let error = Session::connect(&missing).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Spawn { .. }), "{error}");
    assert_snapshot!(normal(&error), @r"
    MCP server `ghost`: cannot start: the command `no-such-mcp-server` was not found in the folders of PATH; install it, or give its absolute path as `command`
    ");

    let folder = ServerConfig::stdio("folder", "/", [""; 0]);
    assert_snapshot!(normal(&Session::connect(&folder).await.unwrap_err()), @r"
    MCP server `folder`: cannot start: the command `/` may not be executed; check that it is a program and that it is executable (chmod +x)
    ");

    let mut fixture = Fixture::new("sound");
    let Transport::Stdio(Command { cwd, .. }) = &mut fixture.config.transport else { unreachable!() };
    *cwd = Some("/no/such/folder".into());
    assert_snapshot!(normal(&fixture.connect_error().await), @r"
    MCP server `faulty`: cannot start: its folder `/no/such/folder` (`cwd`) does not exist or is not a folder; create it, or correct `cwd`
    ");
}

#[tokio::test]
async fn a_server_that_exits_at_once_is_quoted() {
    let error = Fixture::new("exits-at-once").connect_error().await;
    assert!(matches!(*error.kind, ErrorKind::Initialize { .. }), "{error}");
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
}

#[tokio::test]
async fn garbage_before_the_protocol_is_tolerated() {
    let fixture = Fixture::new("garbage-first");
    let session = fixture.connect().await;
    assert_works(&session).await;
    fixture.close(session).await;
}

#[tokio::test]
async fn a_program_that_does_not_speak_mcp_is_rejected() {
    let error = Fixture::new("garbage-forever").connect_error().await;
    assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{error}");
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: it wrote more than 1048576 bytes that are not MCP messages; a server must log elsewhere, for example to standard error
    ");
}

#[tokio::test]
async fn silence_times_out_in_every_phase() {
    let mut fixture = Fixture::new("silent-initialize");
    fixture.config.connect_timeout = SHORT;
    let error = fixture.connect_error().await;
    assert!(
        matches!(&*error.kind, ErrorKind::Timeout { phase: Phase::Initialize, limit, evidence } if *limit == SHORT && evidence.exit.is_none()),
        "{error}"
    );

    let fixture = Fixture::new("silent-list").impatient();
    let session = fixture.connect().await;
    let error = session.list_tools().await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Timeout { phase: Phase::ListTools, .. }), "{error}");
    fixture.close(session).await;

    let fixture = Fixture::new("silent-call").impatient();
    let session = fixture.connect().await;
    let error = call(&session, "anyone?").await.unwrap_err();
    assert!(
        matches!(&*error.kind, ErrorKind::Timeout { phase: Phase::Call(tool), .. } if tool == "echo"),
        "{error}"
    );
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: the answer of tool `echo` took longer than 1 s; the request was cancelled; raise `requestTimeout` if the tool needs longer
    ");
    fixture.close(session).await;
}

#[tokio::test]
async fn a_rejected_or_invalid_handshake_is_reported() {
    let error = Fixture::new("refuses").connect_error().await;
    assert!(
        matches!(&*error.kind, ErrorKind::Rpc { code: -32001, data: Some(data), .. } if data.get() == r#"{"since":2025}"#),
        "{error}"
    );
    assert_snapshot!(normal(&error), @r#"
    MCP server `faulty`: the answer to `initialize` failed with error -32001: licence expired ({"since":2025})
    "#);

    let error = Fixture::new("future-version").connect_error().await;
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: it answered `initialize` with protocol version `2099-01-01`; supported versions: 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25
    ");

    let error = Fixture::new("malformed-initialize").connect_error().await;
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: its answer to `initialize` is not an InitializeResult: invalid type: integer `7`, expected a string
    ");
}

#[tokio::test]
async fn pages_are_followed_and_cycles_end() {
    let fixture = Fixture::new("two-pages");
    let session = fixture.connect().await;
    let listing = session.list_tools().await.unwrap();
    let names: Vec<_> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["first", "second"]);
    fixture.close(session).await;

    let fixture = Fixture::new("endless-pages");
    let session = fixture.connect().await;
    let listing = session.list_tools().await.unwrap();
    assert_eq!(listing.tools.len(), 1);
    assert!(
        listing.warnings.iter().any(|warning| warning.contains("repeats a cursor")),
        "{:?}",
        listing.warnings
    );
    fixture.close(session).await;
}

#[tokio::test]
async fn malformed_tools_do_not_affect_the_others() {
    let fixture = Fixture::new("malformed-tools");
    let session = fixture.connect().await;
    let listing = session.list_tools().await.unwrap();
    let names: Vec<_> = listing.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good", "no_schema", "odd_annotation", "true_output", "task"]);
    assert_eq!(listing.warnings.len(), 4, "{:?}", listing.warnings);
    assert_eq!(listing.tools[4].definition()["execution"], json!({ "taskSupport": "required" }));
    fixture.close(session).await;

    let fixture = Fixture::new("no-tools");
    let session = fixture.connect().await;
    let listing = session.list_tools().await.unwrap();
    assert_eq!((listing.tools.len(), listing.warnings.len()), (0, 1));
    fixture.close(session).await;
}

#[tokio::test]
async fn each_session_sees_the_tools_of_its_own_server() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = Fixture::with_argument("changing-tools", folder.path().join("sessions").to_str().unwrap());
    for expected in 0..2 {
        let session = fixture.connect().await;
        let listing = session.list_tools().await.unwrap();
        assert_eq!(
            listing.tools[0].definition()["inputSchema"]["required"].as_array().unwrap().len(),
            expected
        );
        fixture.close(session).await;
    }
}

#[tokio::test]
async fn a_crash_in_a_call_fails_it_with_the_servers_last_output() {
    let fixture = Fixture::new("dies-in-call");
    let session = fixture.connect().await;
    let (first, second) = tokio::join!(call(&session, "a"), call(&session, "b"));
    let mut shown = Vec::new();
    for error in [first.unwrap_err(), second.unwrap_err()] {
        assert!(
            matches!(&*error.kind, ErrorKind::Closed { evidence, .. } if evidence.exit == Some(Exit::Status(9))),
            "{error}"
        );
        shown.push(normal(&error));
    }
    assert_snapshot!(shown.join("\n"), @r"
    MCP server `faulty`: the connection ended while waiting for the answer of tool `echo`; the process exited with status 9; last lines on standard error:
      panic: out of cheese
    MCP server `faulty`: the connection ended while waiting for the answer of tool `echo`; the process exited with status 9; last lines on standard error:
      panic: out of cheese
    ");
    assert!(session.is_closed());
    let error = call(&session, "still there?").await.unwrap_err();
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: the connection ended while waiting for the answer of tool `echo`; the process exited with status 9; last lines on standard error:
      panic: out of cheese
    ");
    fixture.close(session).await;
}

#[tokio::test]
async fn an_orphan_that_holds_the_pipes_does_not_hide_a_crash() {
    let fixture = Fixture::new("orphan-holds-pipes");
    let session = fixture.connect().await;
    let error = call(&session, "a").await.unwrap_err();
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: the connection ended while waiting for the answer of tool `echo`; the process exited with status 9
    ");
    // The processes are gone even without a close.
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn grandchildren_end_when_the_session_is_closed_or_dropped() {
    let fixture = Fixture::new("grandchild");
    let session = fixture.connect().await;
    assert_works(&session).await;
    fixture.assert_grandchild();
    fixture.close(session).await;

    let session = fixture.connect().await;
    assert_works(&session).await;
    fixture.assert_grandchild();
    drop(session);
    fixture.assert_nothing_left();
}

#[test]
fn dropping_a_session_needs_no_runtime() {
    let fixture = Fixture::new("grandchild");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let session = runtime.block_on(fixture.connect());
    runtime.shutdown_background();
    assert!(!fixture.processes().is_empty());
    drop(session);
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn a_cancelled_connect_leaves_no_process() {
    let fixture = Fixture::new("silent-initialize");
    let connecting = Session::connect(&fixture.config);
    assert!(tokio::time::timeout(SHORT, connecting).await.is_err());
    fixture.assert_nothing_left();
}

#[tokio::test]
async fn a_server_that_ignores_the_end_of_input_and_sigterm_is_killed() {
    let fixture = Fixture::new("stubborn");
    let session = fixture.connect().await;
    assert_works(&session).await;
    fixture.close(session).await;
}

#[tokio::test]
async fn a_server_that_does_not_read_blocks_neither_calls_nor_close() {
    let fixture = Fixture::new("deaf").impatient();
    let session = fixture.connect().await;
    let message = "x".repeat(1024 * 1024);
    let (first, second) = tokio::join!(call(&session, &message), call(&session, "small"));
    for error in [first.unwrap_err(), second.unwrap_err()] {
        assert!(matches!(*error.kind, ErrorKind::Timeout { .. }), "{error}");
    }
    let error = call(&session, &"x".repeat(mcp::MAX_QUEUED_BYTES)).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Host { .. }), "{error}");
    fixture.close(session).await;
}

#[tokio::test]
async fn large_answers_arrive_and_oversized_ones_fail_at_once() {
    let fixture = Fixture::with_argument("huge-answer", &(8 * 1024 * 1024).to_string());
    let session = fixture.connect().await;
    assert_eq!(call_text(&session, "").await.len(), 8 * 1024 * 1024);
    fixture.close(session).await;

    let fixture = Fixture::with_argument("huge-answer", &mcp::MAX_MESSAGE_BYTES.to_string());
    let session = fixture.connect().await;
    let error = call(&session, "").await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Protocol { .. }), "{error}");
    assert_snapshot!(normal(&error), @r"
    MCP server `faulty`: broke the protocol: it sent a message of more than 16777216 bytes, so the connection is closed; request less data at a time
    ");
    fixture.close(session).await;
}

#[tokio::test]
async fn results_arrive_as_they_were_sent() {
    let fixture = Fixture::new("unknown-content");
    let session = fixture.connect().await;
    let result = call(&session, "").await.unwrap();
    assert_eq!(result["content"][0], json!({ "type": "hologram", "depth": 3 }));
    assert_eq!(result["structuredContent"]["large"], 12_345_678_901_234_567_890_u64);
    assert_eq!(result["_meta"]["example.com/trace"], "t-1");
    assert_eq!(result["somethingNew"], json!([1, 2]));
    fixture.close(session).await;
}

#[tokio::test]
async fn harmless_oddities_are_tolerated() {
    for mode in ["string-ids", "repeats", "chatty-stderr"] {
        let fixture = Fixture::new(mode);
        let session = fixture.connect().await;
        for number in 0..3 {
            assert_eq!(call_text(&session, &number.to_string()).await, number.to_string(), "{mode}");
        }
        fixture.close(session).await;
    }
    let fixture = Fixture::new("broken-text");
    let session = fixture.connect().await;
    assert_eq!(call_text(&session, "").await, "caf\u{fffd}");
    fixture.close(session).await;
}

#[tokio::test]
async fn errors_and_invalid_answers_fail_only_their_call() {
    let fixture = Fixture::new("rpc-error");
    let session = fixture.connect().await;
    let error = call(&session, "").await.unwrap_err();
    let ErrorKind::Rpc { phase, code, message, data } = *error.kind else {
        panic!("{error}");
    };
    assert_eq!((phase, code), (Phase::Call("echo".to_owned()), -32602));
    assert_eq!((message.as_str(), data.unwrap().get()), ("no such tool", "[1]"));
    assert!(!session.is_closed());
    fixture.close(session).await;

    let fixture = Fixture::new("no-result-object");
    let session = fixture.connect().await;
    let result = call(&session, "").await.unwrap();
    assert_eq!(result["content"], json!([{ "type": "text", "text": "null" }]));
    assert_eq!(result["_meta"][mcp::REPAIRED_META], json!(["it is not an object"]));
    fixture.close(session).await;
}

#[tokio::test]
async fn time_outs_and_dropped_calls_are_cancelled_at_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let fixture = Fixture::with_argument("records-cancelled", record.to_str().unwrap()).impatient();
    let session = fixture.connect().await;
    let error = session.call("wait", arguments(&json!({}))).await.unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Timeout { .. }), "{error}");
    let dropped = session.call("wait", arguments(&json!({})));
    assert!(tokio::time::timeout(SHORT / 4, dropped).await.is_err());
    // The server handles messages in order: once it answers this, it has received the cancellations.
    assert_works(&session).await;
    let lines = fs::read_to_string(&record).unwrap();
    let ids = |kind: &str| -> Vec<String> {
        let matching = lines.lines().filter_map(|line| line.strip_prefix(kind));
        matching.map(str::to_owned).collect()
    };
    assert_eq!(ids("call ").len(), 2, "{lines}");
    assert_eq!(ids("call "), ids("cancelled "), "{lines}");
    fixture.close(session).await;
}

#[tokio::test]
async fn the_environment_is_inherited_without_our_own_variables() {
    const OURS: &str = "TOOLSMITH_SECRET_OF_OURS";
    if std::env::var_os(OURS).is_none() {
        // Again in a process that has the variable from its start.
        let mut again = tokio::process::Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", "the_environment_is_inherited_without_our_own_variables"]).env(OURS, "1");
        let done = again.output().await.unwrap();
        let stdout = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success() && stdout.contains("1 passed"), "{done:?}");
        return;
    }
    let fixture = Fixture::new("environment");
    let session = fixture.connect().await;
    assert_eq!(call_text(&session, OURS).await, "(unset)");
    assert_eq!(call_text(&session, "PATH").await, std::env::var("PATH").unwrap());
    let (name, value) = fixture.marker.split_once('=').unwrap();
    assert_eq!(call_text(&session, name).await, value);
    assert!(!format!("{:?}", fixture.config).contains(value));
    fixture.close(session).await;
}

#[tokio::test]
async fn servers_connect_concurrently_and_fail_independently() {
    let mut silent = Fixture::new("silent-initialize");
    silent.config.connect_timeout = SHORT;
    let fixtures = [silent, Fixture::new("exits-at-once"), Fixture::new("sound")];
    let mut configs = fixtures.each_ref().map(|fixture| fixture.config.clone());
    for (config, name) in configs.iter_mut().zip(["silent", "exits", "sound"]) {
        name.clone_into(&mut config.name);
    }
    let outcomes = mcp::connect_all(&configs).await;
    let names: Vec<_> = outcomes.iter().map(|(name, outcome)| (name.as_str(), outcome.is_ok())).collect();
    assert_eq!(names, [("silent", false), ("exits", false), ("sound", true)]);
    for (_, outcome) in outcomes {
        if let Ok(session) = outcome {
            assert_works(&session).await;
            session.close().await;
        }
    }
    for fixture in fixtures {
        fixture.assert_nothing_left();
    }
}

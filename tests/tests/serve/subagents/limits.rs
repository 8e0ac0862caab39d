//! Cancellation, time limits, and concurrent tasks.

use std::fs;

use end_to_end::page::normal;
use end_to_end::scripted::{model, task};
use end_to_end::serving::recording;
use insta::assert_snapshot;
use serde_json::json;

use super::{failure, serving, text};

#[test]
fn cancelling_a_task_cancels_its_model_request() {
    let model = model(&json!([
        { "when": { "user": "slow" }, "answers": [{ "text": "late", "delay": 600_000 }] },
        { "answers": [{ "text": "soon" }] },
    ]));
    let mut server = serving(&model, "", "");
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": task("slow") });
    server.send(&call);
    server.wait_until("the request to the model", || model.requests().len() == 1);
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }),
    );
    server.wait_until("the end of the request", || model.gone() == 1);
    assert_eq!(text(&server.ask(8, "tools/call", &task("go on"))), "soon");
}

#[test]
fn cancelling_a_task_cancels_its_snippet_and_calls() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let lines = |what: &str| {
        let text = fs::read_to_string(&record).unwrap_or_default();
        text.lines().filter(|line| line.starts_with(what)).count()
    };
    let code = "rec::wait().message(\"x\").await?;";
    let model = model(
        &json!([{ "answers": [{ "calls": [{ "name": "execute_code", "arguments": { "code": code } }] }] }]),
    );
    let mut server = serving(&model, "", &recording(&record));
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": task("wait") }));
    server.wait_until("the call", || lines("call") == 1);
    server.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }),
    );
    server.wait_until("the end of the call", || lines("cancelled") == 1);
    server.close_input();
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
}

#[test]
fn a_task_that_takes_too_long_is_an_error() {
    let model = model(&json!([{ "answers": [{ "text": "late", "delay": 600_000 }] }]));
    let mut server = serving(&model, "", "agent: { timeout: 0.5 }\n");
    let answer = server.ask(1, "tools/call", &task("slow"));
    assert_snapshot!(normal(&failure(&answer)), @r"
    the subagent helper failed (run [id]): the time limit of [time] is reached; give the task in smaller parts, or raise timeout
    ");
    server.wait_until("the end of the request", || model.gone() == 1);
}

#[test]
fn fifty_tasks_run_concurrently() {
    let rule = json!({ "answers": [{ "text": "done with {{word:number}}" }], "together": 50 });
    let model = model(&json!([rule]));
    let mut server = serving(&model, "", "");
    for id in 1..=50 {
        let call = task(&format!("number {id}"));
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }));
    }
    for id in 1..=50 {
        let answer = server.receive("an answer", |message| message["id"] == id);
        assert_eq!(text(&answer), format!("done with {id}"));
    }
}

#[test]
fn further_tasks_wait_for_their_turn() {
    let model = model(&json!([{ "answers": [{ "text": "done", "delay": 20 }] }]));
    let mut server = serving(&model, "", "agent: { maxTasks: 2 }\n");
    for id in 1..=8 {
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": task("work") }));
    }
    for id in 1..=8 {
        server.receive("an answer", |message| message["id"] == id);
    }
    let at_once = model.requests().iter().filter_map(|request| request["at_once"].as_u64()).max();
    assert!(at_once.is_some_and(|most| most <= 2), "{at_once:?}");
}

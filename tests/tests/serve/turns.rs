//! `toolsmith serve` with many concurrent executions: limits, queueing and fairness.

use end_to_end::harness::assert_says;
use end_to_end::page::normal;
use end_to_end::serving::{Client, Gate, ResponseStream, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::metrics::refusals;

/// Calls the gate with its name, and returns the name once the call is answered.
const PASSES: &str = "gate::pass().message(args.require(\"name\")?).await?.text()";

/// A call of [`PASSES`] that may take as long as the test.
fn pass(name: &str) -> Value {
    let mut call = execute(PASSES);
    call["arguments"]["args"] = json!({ "name": name });
    call["arguments"]["timeout"] = json!(60);
    call["_meta"] = json!({ "progressToken": name });
    call
}

/// Compiles the program, so that many executions can start together.
#[track_caller]
fn compile(server: &mut Server) {
    let mut call = pass("absent");
    call["arguments"]["check_only"] = json!(true);
    let answer = server.ask(1, "tools/call", &call);
    assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
}

fn begin(client: &Client, name: &str) -> ResponseStream {
    client.begin("tools/call", &pass(name))
}

/// Waits until an execution is queued.
#[track_caller]
fn waits(mut answering: ResponseStream) -> ResponseStream {
    answering.until(|message| message["params"]["message"] == "waiting for its turn");
    answering
}

#[test]
fn sixteen_executions_run_concurrently_and_one_more_gets_busy() {
    let gate = Gate::new();
    let mut server = Serve::new(&format!("{}serve: {{ maxWaiting: 0 }}\n", gate.config())).start();
    server.shake_hands();
    compile(&mut server);
    let names: Vec<String> = (0..16).map(|number| format!("name-{number}")).collect();
    for (id, name) in (100..).zip(&names) {
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": pass(name) }));
    }
    server.wait_until("all of them at the gate", || gate.arrived().len() == 16);
    let busy = server.ask(2, "tools/call", &pass("one more"));
    let result = &busy["result"];
    assert_eq!((&result["isError"], &outcome_of(&busy)["status"]), (&json!(true), &json!("busy")));
    let expected = ["16 executions run and 0 wait", "try again later"];
    assert_says(&result["content"][0]["text"], &expected);
    assert_says(&outcome_of(&busy)["error"]["message"], &expected);
    assert_eq!(outcome_of(&busy)["error"]["evidence"], json!({ "retry_after_seconds": 1 }), "{busy:#}");
    gate.open();
    for (id, name) in (100..).zip(&names) {
        let answer = server.receive("the answer", |message| message["id"] == id);
        let outcome = outcome_of(&answer);
        assert_eq!((&outcome["status"], &outcome["result"]), (&json!("ok"), &json!(name)), "{answer:#}");
        assert_eq!(outcome["calls_total"], 1, "expected its own calls only: {answer:#}");
    }
    let next = server.ask(3, "tools/call", &pass("next"));
    assert_eq!(outcome_of(&next)["result"], "next", "{next:#}");
    let mut arrived = gate.arrived();
    arrived.truncate(16);
    arrived.sort();
    let mut all = names;
    all.sort();
    assert_eq!(arrived, all, "the rejected execution ran");
}

/// Checked by the order of arrival at the gate, one execution at a time.
#[test]
fn clients_take_turns_regardless_of_their_number_of_executions() {
    let gate = Gate::new();
    let limits = "serve: { maxExecutions: 1, maxWaiting: 5 }\n";
    let server = Serve::http(&format!("{}{limits}", gate.config())).start();
    let (greedy, modest) = (server.client().shake_hands(), server.client().shake_hands());
    let mut answering = vec![begin(&greedy, "first")];
    server.wait_until("the first at the gate", || gate.arrived() == ["first"]);
    for name in ["second", "third", "fourth", "fifth"] {
        answering.push(waits(begin(&greedy, name)));
    }
    answering.push(waits(begin(&modest, "the other's")));
    let mut shown = Vec::new();
    for client in [&greedy, &modest, &server.client().stateless()] {
        let busy = client.ask("tools/call", &pass("too many"));
        assert_eq!(outcome_of(&busy)["status"], "busy", "{busy:#}");
        shown.push(normal(&busy["result"]["content"][0]["text"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    busy: 1 execution runs and 5 wait, the limit of this server; try again later
    busy: 1 execution runs and 5 wait, the limit of this server; try again later
    busy: 1 execution runs and 5 wait, the limit of this server; try again later
    ");
    gate.open();
    for answering in &mut answering {
        let answer = answering.end();
        assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    }
    assert_eq!(gate.arrived(), ["first", "second", "the other's", "third", "fourth", "fifth"]);
}

/// Refused before the protocol library reads the request, with the same records as any execution.
#[test]
fn a_full_server_records_whom_it_refuses() {
    let gate = Gate::new();
    let limits = "serve: { maxExecutions: 1, maxWaiting: 1, audit: { file: audit.jsonl }, metrics: { address: '127.0.0.1:0' } }\n";
    let server = Serve::http(&format!("{}{limits}", gate.config())).start();
    let log = || -> Vec<Value> {
        let text = std::fs::read_to_string(server.path("audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (one, other) = (server.client().shake_hands(), server.client().shake_hands());
    let mut answering = vec![begin(&one, "first")];
    server.wait_until("the first at the gate", || gate.arrived() == ["first"]);
    answering.push(waits(begin(&other, "second")));
    let sessions: Vec<Value> = log().iter().map(|line| line["who"]["session"].clone()).collect();
    let sessions: Vec<&Value> = sessions.iter().filter(|session| session.is_string()).collect();
    let [first, second] = sessions[..] else { panic!("{sessions:?}") };
    let clients = [(one, first), (other, second), (server.client().stateless(), &Value::Null)];
    let mut shown = Vec::new();
    for (client, session) in &clients {
        let mut refused = client.begin("tools/call", &pass("too many"));
        assert_eq!(refused.header("content-type"), "application/json", "the library answers with a stream");
        let refused = refused.end();
        assert_eq!(outcome_of(&refused)["status"], "busy", "{refused:#}");
        assert_eq!(
            outcome_of(&refused)["error"]["evidence"],
            json!({ "retry_after_seconds": 1 }),
            "{refused:#}"
        );
        let is_stateless = session.is_null();
        assert_eq!(refused["result"]["resultType"] == "complete", is_stateless, "{refused:#}");
        let log = log();
        let [.., begin, end] = &log[..] else { panic!("{log:#?}") };
        let who = &begin["who"];
        assert_eq!(
            (&who["client"], &who["version"], &who["session"]),
            (&json!("tests"), &json!("1"), *session)
        );
        assert!(who["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{who:#}");
        assert_eq!(begin["snippet_blake3"], blake3::hash(PASSES.as_bytes()).to_hex().to_string());
        assert_eq!((&end["event"], &end["status"]), (&json!("execution_end"), &json!("busy")));
        assert_eq!(begin["execution"], end["execution"]);
        // Other requests get the answers that they always get.
        let unknown =
            client.ask("tools/call", &json!({ "name": "execute_code", "arguments": { "cod": "1" } }));
        shown.push(normal(&unknown["result"]["content"][0]["text"]));
        assert!(client.ask("tools/list", &json!({}))["result"]["tools"].is_array());
    }
    assert_snapshot!(shown.join("\n"), @r#"
    invalid arguments of execute_code: unknown field `cod`, expected one of `code`, `timeout`, `check_only`, `args`, `execution`
    help: { "code": "…Rust…", "timeout"?: seconds, "check_only"?: true, "args"?: { … } }
    invalid arguments of execute_code: unknown field `cod`, expected one of `code`, `timeout`, `check_only`, `args`, `execution`
    help: { "code": "…Rust…", "timeout"?: seconds, "check_only"?: true, "args"?: { … } }
    invalid arguments of execute_code: unknown field `cod`, expected one of `code`, `timeout`, `check_only`, `args`, `execution`
    help: { "code": "…Rust…", "timeout"?: seconds, "check_only"?: true, "args"?: { … } }
    "#);
    assert_eq!(refusals(&server, "queue"), 3);
    let status = |client: Client| client.begin("tools/call", &pass("too many")).status();
    assert_eq!(status(server.client().header("mcp-session-id", "unknown")), StatusCode::NOT_FOUND);
    assert_eq!(status(server.client().stateless().header("host", "evil.example")), StatusCode::FORBIDDEN);
    let params = pass("too many");
    let [session, ..] = &clients;
    for message in [
        json!({ "jsonrpc": "1.0", "id": 1, "method": "tools/call", "params": params }),
        json!({ "jsonrpc": "2.0", "id": true, "method": "tools/call", "params": params }),
        json!([1, "tools/call", params]),
    ] {
        assert_eq!(session.0.post(message.to_string()).status, StatusCode::BAD_REQUEST, "{message}");
    }
    let mut deep = params;
    deep["_meta"]["io.toolsmith/depth"] = json!(100);
    let deep = session.0.ask("tools/call", &deep);
    assert_eq!((&deep["result"]["isError"], outcome_of(&deep)), (&json!(true), &Value::Null), "{deep:#}");
    gate.open();
    for answering in &mut answering {
        assert_eq!(outcome_of(&answering.end())["status"], "ok");
    }
    assert_eq!(gate.arrived(), ["first", "second"]);
}

/// A cancelled execution neither runs nor blocks the queue.
#[test]
fn an_execution_cancelled_in_the_queue_is_not_run() {
    let gate = Gate::new();
    let limits = "serve: { maxExecutions: 1, maxWaiting: 2 }\n";
    let mut server = Serve::new(&format!("{}{limits}", gate.config())).start();
    server.shake_hands();
    for (id, name) in [(7, "first"), (8, "gives up"), (9, "last")] {
        server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": pass(name) }));
        if id == 7 {
            server.wait_until("the first at the gate", || gate.arrived() == ["first"]);
        } else {
            server.receive("its place in the queue", |message| {
                message["params"]["progressToken"] == name
                    && message["params"]["message"] == "waiting for its turn"
            });
        }
    }
    let cancel = json!({ "requestId": 8 });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    // There is room again once it has left the queue.
    server
        .send(&json!({ "jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": pass("in its place") }));
    server.receive("its place in the queue", |message| {
        message["params"]["progressToken"] == "in its place"
            && message["params"]["message"] == "waiting for its turn"
    });
    gate.open();
    for (id, name) in [(7, "first"), (9, "last"), (10, "in its place")] {
        let answer =
            server.receive("the answer", |message| message["id"] == id && message["result"].is_object());
        assert_eq!(outcome_of(&answer)["result"], name, "{answer:#}");
    }
    assert_eq!(gate.arrived(), ["first", "last", "in its place"]);
}

#[test]
fn an_execution_that_waits_too_long_is_refused() {
    let gate = Gate::new();
    let settings = "serve: { maxExecutions: 1, queueTimeout: 0.2 }\n";
    let mut server = Serve::new(&format!("{}{settings}", gate.config())).start();
    server.shake_hands();
    compile(&mut server);
    server.send(&json!({ "jsonrpc": "2.0", "id": 100, "method": "tools/call", "params": pass("first") }));
    server.wait_until("the first at the gate", || gate.arrived() == ["first"]);
    let late = server.ask(2, "tools/call", &pass("late"));
    assert_eq!(outcome_of(&late)["status"], "busy", "{late:#}");
    assert_snapshot!(normal(&outcome_of(&late)["error"]["message"]), @r"
    it waited [time] for other executions, the limit (serve.queueTimeout); try again later
    ");
    assert!(outcome_of(&late)["error"]["evidence"]["retry_after_seconds"].is_u64(), "{late:#}");
    gate.open();
    let answer = server.receive("the answer", |message| message["id"] == 100);
    assert_eq!(outcome_of(&answer)["result"], "first", "{answer:#}");
    assert_eq!(gate.arrived(), ["first"], "the refused execution ran");
}

//! Shutdown of `toolsmith serve` over pipes.

use std::fs;
use std::path::Path;
use std::process::Command;

use end_to_end::harness::{Run, binary, unique};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, HANDSHAKE, Serve, execute, outcome_of, recording};
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::json;

fn recorded(record: &Path, what: &str) -> usize {
    fs::read_to_string(record).unwrap_or_default().lines().filter(|line| line.starts_with(what)).count()
}

#[test]
fn piped_requests_are_answered() {
    let hello = json!({ "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": execute("demo::slow(0.5).await?; 6 * 7") }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": execute("6 * 8") }),
    ];
    let input: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let config = format!("{DEMO}serve: {{ grace: 50 }}\n");
    let run = Run::new(end_to_end::cache::shared()).argument("serve").config_alone(&config).input(input);
    let done = run.done().exits(0);
    let answers: Vec<serde_json::Value> =
        done.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = |id: u32| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(answer(0)["result"]["serverInfo"]["title"], "Toolsmith");
    assert_eq!(outcome_of(answer(1))["result"], 42, "{:#}", answer(1));
    assert_eq!(answer(2)["result"]["tools"][0]["name"], "execute_code");
    assert_eq!(outcome_of(answer(3))["result"], 48);
}

#[test]
fn closing_the_input_leaves_the_grace_period_for_answers() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = Serve::new(&format!("{}serve: {{ grace: 0.2 }}\n", recording(&record))).start();
    server.shake_hands();
    let call = execute("rec::wait().message(\"x\").await?;");
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call }));
    server.wait_until("the call", || recorded(&record, "call") == 1);
    server.close_input();
    let answer = server.receive("the answer", |message| message["id"] == 7);
    assert_eq!(outcome_of(&answer)["status"], "cancelled", "{answer:#}");
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
    assert_eq!(recorded(&record, "cancelled"), 1);
}

/// Clients close their end, and then send a signal if the process does not end at once.
#[test]
fn a_signal_after_the_end_of_input_ends_the_server_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = Serve::new(&format!("{}serve: {{ grace: 600 }}\n", recording(&record))).start();
    server.shake_hands();
    let call = execute("rec::wait().message(\"x\").await?;");
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call }));
    server.wait_until("the call", || recorded(&record, "call") == 1);
    server.close_input();
    server.signal(Signal::TERM);
    let answer = server.receive("the answer", |message| message["id"] == 7);
    assert_eq!(outcome_of(&answer)["status"], "cancelled", "{answer:#}");
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
}

#[test]
fn running_executions_may_finish_on_shutdown() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = Serve::new(&format!("{}serve: {{ grace: 50 }}\n", recording(&record))).start();
    server.shake_hands();
    let call = execute(
        "let call = rec::wait().message(\"x\"); let _ = tokio::time::timeout(Duration::from_millis(100), call).await; \
         demo::slow(2).await?; 42",
    );
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call }));
    server.wait_until("the call", || recorded(&record, "call") == 1);
    server.signal(Signal::TERM);
    server.wait_for_log("stopping: 1 execution runs");
    let refused = server.ask(8, "tools/call", &execute("6 * 7"));
    assert_snapshot!(normal(&refused["error"]["message"]), @"toolsmith is stopping and accepts no new requests");
    let answer = server.receive("the answer", |message| message["id"] == 7);
    assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
}

/// A killed client closes both ends: nothing waits for an answer.
#[test]
fn a_killed_client_ends_everything() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let config = folder.path().join("given.yaml");
    fs::write(&config, format!("{}serve: {{ grace: 600 }}\n", recording(&record))).unwrap();
    let messages = folder.path().join("messages");
    let hello = json!({ "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let call = execute(&format!("rec::wait().message(\"{}\").await?;", unique()));
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call }),
    ];
    fs::write(&messages, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    // The client writes requests, reads answers, and is then killed, which closes both pipes.
    let script = "mkfifo in out; \"$0\" serve --config \"$1\" < in > out & exec 3> in 4< out; cat \"$2\" >&3; read line <&4; \
                  echo $line; while [ \"$(grep -c ^call \"$3\")\" != 1 ]; do sleep 0.05; done; kill -9 $$";
    let mut command = Command::new("bash");
    command.args(["-c", script]).arg(binary()).arg(&config).arg(&messages).arg(&record);
    // The harness sees to it that nothing is left.
    let done = Run::of(command, end_to_end::cache::shared()).done();
    assert!(done.stdout.contains("protocolVersion"), "{done:#?}");
}

#[test]
fn a_kill_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = Serve::new(&recording(&record)).start();
    server.shake_hands();
    let call = execute("std::thread::spawn(|| loop {}); rec::wait().message(\"x\").await?;");
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call }));
    server.wait_until("the call", || recorded(&record, "call") == 1);
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
}

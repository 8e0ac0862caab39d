//! What is left of an execution by `toolsmith serve` when somebody in it is killed: nothing, and the next one works.
//!
//! The client's end is in `serve_pipes`.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::endings::FOREVER;
use crate::harness::{FAULT_SERVER, assert_says, unique};
use crate::serving::{DEMO, Serve, Server, execute, outcome_of, recording};

/// What the processes of an execution have in their command lines.
const PROGRAM: &str = "/programs-";
const SUPERVISOR: &str = "sandbox-helper:";
const COMPILER: &str = "--crate-name=program";
const SERVER: &str = "records-cancelled";
const REAPER: &str = "mcp-helper:reaper";

fn calls(record: &Path) -> usize {
    fs::read_to_string(record).unwrap_or_default().lines().filter(|line| line.starts_with("call")).count()
}

fn begin(server: &mut Server, id: u32, code: &str) {
    let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": execute(code) });
    server.send(&call);
}

/// Another process on the same cache runs what the first one was killed at, and something else.
#[track_caller]
fn assert_the_next_one_works(config: &str, code: &str) {
    let mut next = Serve::new(config).start();
    next.shake_hands();
    for (id, code) in [(1, code), (2, "demo::echo(\"again\").await?.text()")] {
        let answer = next.ask(id, "tools/call", &execute(code));
        let outcome = outcome_of(&answer);
        assert_eq!((&outcome["status"], &outcome["result"]), (&json!("ok"), &json!("again")), "{answer:#}");
    }
}

#[test]
fn nothing_of_an_execution_outlives_the_server_that_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let config = recording(&record);
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let code = format!(
        "// {}\nif args.get(\"wait\").is_some() {{\n    std::thread::spawn(|| loop {{}});\n    \
         rec::wait().message(\"x\").await?;\n}}\ndemo::echo(\"again\").await?.text()",
        unique()
    );
    let mut call = execute(&code);
    call["arguments"]["args"] = json!({ "wait": "yes" });
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call }));
    server.wait_until("the call", || calls(&record) == 1);
    let tree = server.tree();
    assert!(
        tree.count(SERVER) > 1 && tree.count("demo-server") > 1,
        "those of the session and its own: {tree:#?}"
    );
    assert!(tree.count(SUPERVISOR) > 0 && tree.count(PROGRAM) > tree.count(SUPERVISOR), "{tree:#?}");
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
    assert_the_next_one_works(&config, &code);
}

#[test]
fn no_compiler_outlives_the_server_that_is_killed() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    begin(&mut server, 7, &format!("// {}\n{FOREVER}", unique()));
    server.wait_until("the compiler", || server.tree().count(COMPILER) > 0);
    let tree = server.tree();
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
    assert_the_next_one_works(DEMO, "\"again\"");
}

/// By the client as well: what nobody waits for is not compiled to its end.
#[test]
fn no_compiler_outlives_a_request_that_is_cancelled() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    begin(&mut server, 7, &format!("// {}\n{FOREVER}", unique()));
    server.wait_until("the compiler", || server.tree().count(COMPILER) > 0);
    let cancel = json!({ "requestId": 7 });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    server.wait_until("the end of the compiler", || server.tree().count(COMPILER) == 0);
    let answer = server.ask(8, "tools/call", &execute("6 * 7"));
    assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
}

/// Kills all processes of the server `rec` while the program waits for it; gives the answer.
#[track_caller]
fn killed_while_called(server: &mut Server, record: &Path, id: u32, code: &str) -> Value {
    let before = calls(record);
    begin(server, id, code);
    server.wait_until("the call", || calls(record) > before);
    server.tree().kill(SERVER);
    server.receive("the answer", |message| message["id"] == id)
}

#[test]
fn a_server_that_is_killed_in_a_call_is_an_error_of_that_call_alone() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = Serve::new(&recording(&record)).start();
    server.shake_hands();
    let caught = "let lost = match rec::wait().message(\"x\").await {\n    \
                  Err(error) if error.kind == ToolErrorKind::Unavailable => error.to_string(),\n    \
                  other => bail!(\"{other:?}\"),\n};\n(lost, demo::echo(\"others go on\").await?.text())";
    let answer = killed_while_called(&mut server, &record, 7, caught);
    let outcome = outcome_of(&answer);
    assert_eq!(outcome["status"], "ok", "{answer:#}");
    assert_says(&outcome["result"][0], &["rec", "wait", "signal 9"]);
    assert_eq!(outcome["result"][1], "others go on");
    assert_eq!(outcome["calls"][0]["ok"], false, "{answer:#}");

    let answer = killed_while_called(&mut server, &record, 8, "rec::wait().message(\"x\").await?;");
    let outcome = outcome_of(&answer);
    assert_eq!((&outcome["status"], &answer["result"]["isError"]), (&json!("runtime_error"), &json!(true)));
    assert_eq!(outcome["error"]["kind"], "tool", "{answer:#}");
    assert_eq!(outcome["error"]["evidence"]["tool"]["server"], "rec", "{answer:#}");
    assert_says(&answer["result"]["content"][0]["text"], &["rec", "wait", "signal 9"]);

    let answer = server.ask(9, "tools/call", &execute("rec::echo().message(\"again\").await?.text()"));
    assert_eq!(outcome_of(&answer)["result"], "again", "{answer:#}");
}

#[test]
fn nothing_of_an_execution_outlives_a_session_over_http_that_is_killed_with_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let config = recording(&record);
    let mut server = Serve::http(&config).start();
    let (client, other) = (server.client().shake_hands(), server.client().stateless());
    let code = format!("// {}\nrec::wait().message(\"x\").await?;", unique());
    let _answering = client.begin("tools/call", &execute(&code));
    let code = format!("// {}\n{FOREVER}", unique());
    // Its answer is cut off.
    let waiting = std::thread::spawn(move || other.ask("tools/call", &execute(&code)));
    server.wait_until("the call", || calls(&record) == 1);
    server.wait_until("the compiler", || server.tree().count(COMPILER) > 0);
    let tree = server.tree();
    assert!(tree.count(SERVER) > 1 && tree.count(PROGRAM) > 0, "{tree:#?}");
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
    assert!(waiting.join().is_err());
    assert_the_next_one_works(&config, "\"again\"");
}

/// What a server has started may not mind the end of its input, as this does not.
#[test]
fn what_servers_have_started_does_not_outlive_the_server_that_is_killed() {
    const MINDS_NOTHING: &str = "sleep 98765";
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let script = format!("{MINDS_NOTHING} & exec \"$0\" \"$@\"");
    let config = format!(
        "mcpServers:\n  rec: {{ command: sh, args: [-c, {script:?}, {FAULT_SERVER:?}, {SERVER}, {record:?}], trust: true }}\n"
    );
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let call = format!("// {}\nrec::wait().message(\"x\").await?;", unique());
    begin(&mut server, 7, &call);
    server.wait_until("the call", || calls(&record) == 1);
    // Whoever ends the helper alone has a new one with the next server.
    server.tree().kill(REAPER);
    begin(&mut server, 8, &call);
    server.wait_until("the next call", || calls(&record) == 2);
    let tree = server.tree();
    assert!(tree.count(MINDS_NOTHING) > 2 && tree.count(REAPER) == 1, "{tree:#?}");
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
}

/// Nothing stays behind, and nothing is killed twice, where the process ends in order.
#[test]
fn the_helper_that_kills_is_there_only_with_servers() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    server.wait_until("the helper", || server.tree().count(REAPER) == 1);
    let tree = server.tree();
    server.configure("mcpServers:\n  remote: { url: \"http://127.0.0.1:9/mcp\" }\n");
    server.wait_until("the end of the helper", || server.tree().count(REAPER) == 0);
    server.configure(DEMO);
    server.wait_until("another helper", || server.tree().count(REAPER) == 1);
    server.close_input();
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
    tree.is_gone();
}

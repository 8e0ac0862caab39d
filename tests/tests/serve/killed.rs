//! Killed processes of a `toolsmith serve` execution: no process is left, and the next execution works.
//!
//! For the client's end, see `serve_pipes`.

use std::fs;
use std::path::Path;

use end_to_end::harness::FOREVER;
use end_to_end::harness::{FAULT_SERVER, unique};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of, recording};
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Parts of the command lines of an execution's processes.
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

/// A second process on the same cache runs the snippet that the first was killed in, and another one.
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
fn no_process_of_an_execution_outlives_a_killed_server() {
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
    // Compilers that wait for a snippet have supervisors too.
    let programs = tree.filter(|command| command.contains(PROGRAM));
    assert!(programs.count(SUPERVISOR) > 0 && programs.count("") > programs.count(SUPERVISOR), "{tree:#?}");
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
    assert_the_next_one_works(&config, &code);
}

#[test]
fn no_compiler_outlives_a_killed_server() {
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

/// A compilation is stopped when the client cancels its request. (`serve_compilers` is about spare compilers.)
#[test]
fn no_compiler_outlives_a_cancelled_request() {
    let mut server = Serve::new(&format!("{DEMO}serve: {{ spareCompilers: 0 }}\n")).start();
    server.shake_hands();
    begin(&mut server, 7, &format!("// {}\n{FOREVER}", unique()));
    server.wait_until("the compiler", || server.tree().count(COMPILER) > 0);
    let cancel = json!({ "requestId": 7 });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    server.wait_until("the end of the compiler", || server.tree().count(COMPILER) == 0);
    let answer = server.ask(8, "tools/call", &execute("6 * 7"));
    assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
}

/// Kills all processes of the server `rec` while the program waits for it; returns the answer.
#[track_caller]
fn killed_while_called(server: &mut Server, record: &Path, id: u32, code: &str) -> Value {
    let before = calls(record);
    begin(server, id, code);
    server.wait_until("the call", || calls(record) > before);
    server.tree().kill(SERVER);
    server.receive("the answer", |message| message["id"] == id)
}

#[test]
fn killing_a_server_only_fails_the_call_to_it() {
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
    assert_snapshot!(normal(&outcome["result"][0]), @r"
    rec.wait is unavailable: MCP server `rec`: the connection ended while waiting for the answer of tool `wait`; the process was terminated by signal 9
    ");
    assert_eq!(outcome["result"][1], "others go on");
    assert_eq!(outcome["calls"][0]["ok"], false, "{answer:#}");

    let answer = killed_while_called(&mut server, &record, 8, "rec::wait().message(\"x\").await?;");
    let outcome = outcome_of(&answer);
    assert_eq!((&outcome["status"], &answer["result"]["isError"]), (&json!("runtime_error"), &json!(true)));
    assert_eq!(outcome["error"]["kind"], "tool", "{answer:#}");
    assert_eq!(outcome["error"]["evidence"]["tool"]["server"], "rec", "{answer:#}");
    assert_snapshot!(normal(&answer["result"]["content"][0]["text"]), @r"
    the snippet failed: rec.wait is unavailable: MCP server `rec`: the connection ended while waiting for the answer of tool `wait`; the process was terminated by signal 9 (line 1, column 1); 1 tool call was made
    ");

    let answer = server.ask(9, "tools/call", &execute("rec::echo().message(\"again\").await?.text()"));
    assert_eq!(outcome_of(&answer)["result"], "again", "{answer:#}");
}

#[test]
fn no_process_of_an_execution_over_http_outlives_a_killed_server() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let config = recording(&record);
    let mut server = Serve::http(&config).start();
    let (client, other) = (server.client().shake_hands(), server.client().stateless());
    let code = format!("// {}\nrec::wait().message(\"x\").await?;", unique());
    let _answering = client.begin("tools/call", &execute(&code));
    server.wait_until("the call", || calls(&record) == 1);
    let code = format!("// {}\n{FOREVER}", unique());
    // The response is cut off.
    let waiting = std::thread::spawn(move || other.ask("tools/call", &execute(&code)));
    server.wait_until("the compiler", || server.tree().count(COMPILER) > 0);
    let tree = server.tree();
    assert!(tree.count(SERVER) > 1 && tree.count(PROGRAM) > 0, "{tree:#?}");
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
    assert!(waiting.join().is_err());
    assert_the_next_one_works(&config, "\"again\"");
}

/// A child process of a server may ignore the end of its input, as this one does.
#[test]
fn child_processes_of_servers_do_not_outlive_a_killed_server() {
    const IGNORES_INPUT: &str = "sleep 98765";
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let script = format!("{IGNORES_INPUT} & exec \"$0\" \"$@\"");
    let config = format!(
        "mcpServers:\n  rec: {{ command: sh, args: [-c, {script:?}, {FAULT_SERVER:?}, {SERVER}, {record:?}], trust: true }}\n"
    );
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let call = format!("// {}\nrec::wait().message(\"x\").await?;", unique());
    begin(&mut server, 7, &call);
    server.wait_until("the call", || calls(&record) == 1);
    // If only the helper is killed, the next server starts a new one.
    server.tree().kill(REAPER);
    begin(&mut server, 8, &call);
    server.wait_until("the next call", || calls(&record) == 2);
    let tree = server.tree();
    assert!(tree.count(IGNORES_INPUT) > 2 && tree.count(REAPER) == 1, "{tree:#?}");
    server.signal(Signal::KILL);
    assert_eq!(server.end(), None);
    tree.is_gone();
}

/// In an orderly shutdown, nothing is left and nothing is killed twice.
#[test]
fn the_reaper_runs_only_with_servers() {
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

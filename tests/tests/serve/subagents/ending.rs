//! The end of a subagent's process, and the processes that it starts without.

use std::fs;

use end_to_end::harness::fault_entry;
use end_to_end::harness::{WATCHDOG, wait_until};
use end_to_end::page::normal;
use end_to_end::scripted::{described, model, task};
use end_to_end::serving::{Serve, recording};
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::json;

use super::{failure, serving, text};

#[test]
fn a_signal_cancels_the_task_after_the_grace_period() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let code = "rec::wait().message(\"x\").await?;";
    let model = model(&json!([
        { "when": { "user": "snippet" },
          "answers": [{ "calls": [{ "name": "execute_code", "arguments": { "code": code } }] }] },
        { "answers": [{ "text": "late", "delay": 600_000 }] },
    ]));
    let more = format!("{}serve: {{ grace: 0.1 }}\n", recording(&record));
    let lines = |what: &str| fs::read_to_string(&record).unwrap_or_default().contains(what);
    let mut shown = Vec::new();
    for signal in [Signal::INT, Signal::TERM] {
        let _ = fs::remove_file(&record);
        let before = (model.requests().len(), model.gone());
        let mut server = serving(&model, "", &more);
        for (id, prompt) in [(7, "run the snippet"), (8, "think")] {
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": task(prompt) });
            server.send(&call);
        }
        server.wait_until("the requests", || model.requests().len() == before.0 + 2 && lines("call"));
        server.signal(signal);
        let ended = server.end();
        shown.push(normal(&server.stderr()));
        assert_eq!(ended, Some(0), "{}", server.stderr());
        assert!(lines("cancelled"), "{}", server.stderr());
        model_gone(&model, before.1 + 1);
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: info: 2 servers, 11 tools
    toolsmith: info: stopping: 2 tasks run and 0 wait, and may finish within [time]; a second signal ends them now

    toolsmith: info: 2 servers, 11 tools
    toolsmith: info: stopping: 2 tasks run and 0 wait, and may finish within [time]; a second signal ends them now
    ");
}

fn model_gone(model: &end_to_end::models::ModelServer, count: usize) {
    wait_until("the end of the request", WATCHDOG, || model.gone() >= count, String::new);
}

#[test]
fn a_conversation_file_that_cannot_be_used_is_a_warning() {
    let model = model(&json!([{ "answers": [{ "text": "done" }] }]));
    let config = described(&model, "", "agent: { conversations: ./bad.db }\n");
    let mut server = Serve::subagent(&config).file("bad.db", "this is no database").start();
    server.shake_hands();
    assert_eq!(text(&server.ask(1, "tools/call", &task("go"))), "done");
    let stderr = server.stderr();
    assert_snapshot!(normal(&stderr), @r"
    toolsmith: warning: conversations are not kept: /tmp/.tmpXXXXXX/bad.db can't be opened: file is not a database; it is not a file of conversations; set agent.conversations to another one
    ");
    assert_eq!(fs::read_to_string(server.path("bad.db")).unwrap(), "this is no database");
}

#[test]
fn unavailable_servers_and_found_tools_are_logged() {
    let model = model(&json!([{ "answers": [{ "text": "done" }] }]));
    let servers = format!(
        "mcpServers:\n{}  bad: {{ command: sh, args: [-c, exit 3] }}\n",
        fault_entry("faulty", "sound", "")
    );
    let mut server = serving(&model, "", &servers);
    server.wait_for_log("toolsmith: warning: the server bad is unavailable: ");
    server.wait_for_log("toolsmith: info: 2 servers, ");
    server.wait_for_log(", 1 unavailable");
    // The client gets the warning with each task as well.
    server.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": task("go") }));
    let warned = server.receive("a warning", |message| {
        message["method"] == "notifications/message" && message["params"]["data"].to_string().contains("bad")
    });
    assert_eq!(warned["params"]["level"], "warning", "{warned:#}");
    server.receive("an answer", |message| message["id"] == 5);

    // Without any server that works, the task fails with the reasons.
    let mut server = serving(&model, "", "mcpServers:\n  bad: { command: sh, args: [-c, exit 3] }\n");
    let answer = server.ask(1, "tools/call", &task("go"));
    assert_snapshot!(normal(&failure(&answer)), @r"
    the subagent helper failed (run [id]): no server is available:
    MCP server `bad`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3
    ");
}

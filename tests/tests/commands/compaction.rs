//! Conversations that outgrow the model's context window.

use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, fault_entry};
use end_to_end::models::ModelServer;
use end_to_end::page::normal;
use end_to_end::scripted::{described, model, task};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A configuration with a model whose context window has 1000 tokens.
fn configuration(model: &ModelServer) -> String {
    format!(
        "models:\n  - {{ ref: small, id: m, type: openai, base_url: \"{}\", retries: 0, context_window: 1000 }}\n\
         defaults: {{ model: small }}\nmcpServers:\n{}",
        model.base_url(),
        fault_entry("faulty", "sound", "")
    )
}

fn ask(model: &ModelServer, state: &Path, arguments: &[&str]) -> FinishedRun {
    let run = Run::new(shared()).arguments(&["ask"]).arguments(arguments);
    let run = run.variable("XDG_STATE_HOME", state.to_str().unwrap()).working_folder(state);
    run.config_alone(&configuration(model)).done()
}

/// Scripts the model's answers: a reply that fills the window, a summary, and a reply that depends on it.
fn rules(summary: &Value) -> Value {
    json!([
        { "when": { "user": "Summarize the conversation above" }, "answers": [summary] },
        { "when": { "user": "remember" },
          "answers": [{ "text": "Remembered: apples.", "usage": { "input": 900, "output": 20 } }] },
        { "answers": [{ "text": "It was apples." }] },
    ])
}

fn commands(state: &Path, arguments: &[&str], model: &ModelServer) -> String {
    let run = Run::new(shared()).arguments(&["conversation"]).arguments(arguments);
    let run = run.variable("XDG_STATE_HOME", state.to_str().unwrap()).working_folder(state);
    run.config_alone(&configuration(model)).done().exits(0).stdout
}

#[test]
fn a_conversation_that_fills_the_window_continues_from_a_summary_and_keeps_everything() {
    let state = tempfile::tempdir().unwrap();
    let summary = json!({ "text": "The user has apples.", "usage": { "input": 800, "output": 6 } });
    let model = model(&rules(&summary));
    let first = ask(&model, state.path(), &["remember the apples"]).exits(0);
    assert!(!first.stderr.contains("summar"), "{first:#?}");
    let second = ask(&model, state.path(), &["--continue", "what was it?"]).exits(0);
    assert_eq!(second.stdout, "It was apples.\n", "{second:#?}");
    assert_snapshot!(normal(&second.stderr), @r"
    toolsmith: info: 1 server, 1 tool
    the conversation has about 976 of the model's 1000 tokens; the model summarizes it
    the model continues from a summary of 20 characters; the 2 messages before it stay in the conversation
    toolsmith: resume with: toolsmith ask --resume [conv. id]
    ");
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[1]["body"].get("tools").is_none(), "{:#}", requests[1]);
    let last = requests[2]["body"].to_string();
    assert!(last.contains("The user has apples.") && last.contains("what was it?"), "{last}");
    assert!(!last.contains("Remembered: apples."), "{last}");

    // Nothing is lost, and the next message continues from the summary.
    let listed: Value = serde_json::from_str(&commands(state.path(), &["list", "--json"], &model)).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    let printed = commands(state.path(), &["print", id], &model);
    assert_snapshot!(normal(&printed), @r"
    conversation [conv. id]
    started 2026-01-01 12:00Z, model small, folder /tmp/.tmpXXXXXX
    5 messages; tokens: 1710 read (0 of them cached), 31 written

    user  2026-01-01 12:00Z  [message id]
      remember the apples

    assistant  2026-01-01 12:00Z  [message id]  900 read, 20 written
      Remembered: apples.

    user  2026-01-01 12:00Z  [message id]  800 read, 6 written
      (summary: the model reads this instead of the messages above)
      The user has apples.

    user  2026-01-01 12:00Z  [message id]
      what was it?

    assistant  2026-01-01 12:00Z  [message id]  10 read, 5 written
      It was apples.
    ");
    let exported = commands(state.path(), &["export", id], &model);
    assert!(exported.contains(r#""type":"summary","text":"The user has apples.""#), "{exported}");
    ask(&model, state.path(), &["--resume", id, "and now?"]).exits(0);
    let last = model.requests().pop().unwrap()["body"].to_string();
    assert!(last.contains("The user has apples.") && !last.contains("Remembered"), "{last}");
}

#[test]
fn a_summary_that_fails_is_reported_and_nothing_is_cut() {
    let state = tempfile::tempdir().unwrap();
    let model = model(&rules(&json!({ "status": 400, "message": "no summaries here" })));
    ask(&model, state.path(), &["remember the apples"]).exits(0);
    let second = ask(&model, state.path(), &["--continue", "--quiet", "what was it?"]).exits(0);
    let second =
        second.says(&["warning: the conversation can't be summarized", "no summaries here", "is sent"]);
    assert_eq!(second.stdout, "It was apples.\n", "{second:#?}");
    let last = model.requests().pop().unwrap()["body"].to_string();
    assert!(last.contains("Remembered: apples."), "{last}");
}

#[test]
fn a_subagent_logs_its_summaries_to_its_client() {
    let calls = json!([{ "name": "echo", "arguments": { "message": "x" } }]);
    let model = model(&json!([
        { "when": { "user": "Summarize the conversation above" }, "answers": [{ "text": "Echoed once." }] },
        { "when": { "user": "Echoed once." }, "answers": [{ "text": "done" }] },
        { "answers": [{ "calls": calls, "usage": { "input": 900, "output": 20 } }] },
    ]));
    let servers =
        format!("mcpServers:\n{}", fault_entry("faulty", "sound", "    codeMode: false\n    trust: true\n"));
    let text = described(&model, "", &servers).replace("retries: 2", "retries: 2, context_window: 1000");
    let mut server = end_to_end::serving::Serve::subagent(&text).start();
    server.shake_hands();
    server.send(&json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": task("go") }));
    for event in ["compaction_start", "compaction_end"] {
        server.receive(event, |message| message["params"]["data"]["event"] == event);
    }
    let answer = server.receive("an answer", |message| message["id"] == 5);
    assert_eq!(answer["result"]["content"][0]["text"], "done", "{answer:#}");
}

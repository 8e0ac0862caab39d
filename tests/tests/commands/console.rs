//! `toolsmith chat` and `toolsmith ask`, with a scripted model behind a provider's wire format.

use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{Run, RunningProcess, fault_entry};
use end_to_end::models::ModelServer;
use end_to_end::page::normal;
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};

mod while_working;

/// The prompt as shown after the start of a line.
const PROMPT: &str = "> ";

/// The end of a permission prompt.
const PERMISSION_PROMPT: &str = "[s] yes, in this session  [n] no: ";

fn model(rules: &Value) -> ModelServer {
    ModelServer::start(env!("CARGO_BIN_EXE_model-server"), &json!({ "rules": rules }))
}

/// A configuration with this model and these servers, or with a working one.
fn configuration(server: &ModelServer, servers: &str) -> String {
    let sound = fault_entry("faulty", "sound", "");
    let servers = if servers.is_empty() { &sound } else { servers };
    format!(
        "models:\n  - {{ ref: scripted, id: m, type: openai, base_url: \"{}\", retries: 0 }}\n  \
         - {{ ref: other, id: other-id, type: openai, base_url: \"{}\", retries: 1 }}\n\
         defaults: {{ model: scripted }}\nmcpServers:\n{servers}",
        server.base_url(),
        server.base_url()
    )
}

/// A model's call of `execute_code`.
fn runs(code: &str) -> Value {
    json!([{ "name": "execute_code", "arguments": { "code": code } }])
}

/// Starts a console on a terminal, with its state in this folder.
fn chat(model: &ModelServer, servers: &str, state: &Path, arguments: &[&str]) -> RunningProcess {
    let run = Run::on_whole_terminal(shared()).arguments(&["chat"]).arguments(arguments);
    let run = run.variable("XDG_STATE_HOME", state.to_str().unwrap()).working_folder(state);
    run.variable("TERM", "xterm")
        .variable("NO_COLOR", "1")
        .config_alone(&configuration(model, servers))
        .start()
}

/// Types a line at the next prompt.
#[track_caller]
pub(crate) fn say(console: &RunningProcess, line: &str) {
    // Each prompt is redrawn when a line is typed: wait for a prompt at the end of the output.
    console.wait_until(&format!("a prompt for {line:?}"), || waits(console));
    let first = without_escapes(line.split(['\r', '\n']).next().unwrap_or_default());
    let count = || without_escapes(&console.shown()).matches(&first).count();
    let before = count();
    console.type_keys(&format!("{line}\r"));
    console.wait_until(&format!("{first:?} to be typed"), || count() > before);
}

/// Whether the console waits at the prompt: only control sequences follow it.
fn waits(console: &RunningProcess) -> bool {
    let shown = console.shown();
    let plain = without_escapes(&shown);
    let painted = plain.trim_end_matches('\r');
    painted.rsplit(['\n', '\r']).next().is_some_and(|last| last == PROMPT)
}

/// A text without control sequences (ECMA-48, 5.4).
pub(crate) fn without_escapes(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        let end = after.find(|c: char| ('@'..='~').contains(&c)).map_or(after.len(), |end| end + 1);
        rest = &after[end..];
    }
    plain.push_str(rest);
    plain
}

#[track_caller]
pub(crate) fn shows(console: &RunningProcess, text: &str) {
    console.wait_until(text, || without_escapes(&console.shown()).contains(text));
}

/// Leaves the console; returns everything it showed.
#[track_caller]
pub(crate) fn leave(console: RunningProcess) -> String {
    console.wait_until("a prompt", || waits(&console));
    console.type_keys("/quit\r");
    let done = console.done();
    let shown = without_escapes(&done.stderr);
    done.exits(0);
    shown
}

#[test]
fn ask_prints_one_answer_and_includes_standard_input() {
    let model = model(&json!([
        { "when": { "user": "of the file" }, "answers": [{ "text": "A summary." }] },
        { "answers": [{ "text": "Hello, person." }] },
    ]));
    let ask = |question: &str| {
        Run::new(shared()).arguments(&["ask", question]).config_alone(&configuration(&model, ""))
    };
    let done = ask("Hello?").done().exits(0);
    assert_eq!(done.stdout, "Hello, person.\n", "{done:#?}");
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: info: 1 server, 1 tool
    toolsmith: resume with: toolsmith ask --resume [conv. id]
    ");
    let done = ask("Sum up:").input("the text of the file\n").done().exits(0);
    assert_eq!(done.stdout, "A summary.\n", "{done:#?}");
    let body = model.requests().pop().unwrap()["body"].to_string();
    assert!(body.contains("Sum up:") && body.contains("the text of the file"), "{body}");
}

#[test]
fn json_output_has_the_answer_and_its_cost() {
    let model = model(&json!([
        { "when": { "no_result": true, "user": "go" }, "answers": [{ "calls": runs("6 * 7") }] },
        { "when": { "result": "42" }, "answers": [{ "text": "It is 42." }] },
    ]));
    let ask = |question: &str| {
        let run = Run::new(shared()).arguments(&["ask", "--json", question]);
        run.config_alone(&configuration(&model, "")).done()
    };
    let done = ask("go").exits(0);
    let object = done.outcome();
    assert_eq!((&object["text"], &object["turns"]), (&json!("It is 42."), &json!(2)), "{object:#}");
    assert_eq!(object["usage"], json!({ "input": 20, "output": 10, "cached": 0 }), "{object:#}");
    let calls = object["calls"].as_array().unwrap();
    assert!(calls.len() == 1 && calls[0]["tool"] == "execute_code" && calls[0]["ok"] == true, "{object:#}");
    assert!(object["conversation"].is_string() && object.get("error").is_none(), "{object:#}");
    // Standard error shows the snippet and the call.
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: info: 1 server, 1 tool
    → execute_code
      │ 6 * 7
    ← execute_code after [time]: 42
    ");

    let failed = ask("something that no rule is for").exits(1).outcome();
    assert_snapshot!(normal(&failed["error"]), @r#"
    scripted: the provider answers 400: no rule of the script fits: turn 0, user "something that no rule is for"
    "#);
}

#[test]
fn without_a_terminal_a_call_is_denied_for_that_reason() {
    let code = r#"faulty::echo().message("x").await?.text()"#;
    let model = model(&json!([
        { "when": { "no_result": true }, "answers": [{ "calls": runs(code) }] },
        { "answers": [{ "text": "Denied." }] },
    ]));
    let ask = Run::new(shared()).arguments(&["ask", "call it"]);
    ask.config_alone(&configuration(&model, &fault_entry("faulty", "sound", ""))).done().exits(0);
    let result = model.requests().pop().unwrap()["body"].to_string();
    for phrase in ["there is no terminal to ask on", "--allow 'faulty.echo'"] {
        assert!(result.contains(phrase), "{phrase}: {result}");
    }
    assert!(!result.contains("this client"), "{result}");
}

#[test]
fn an_impossible_question_is_a_usage_error() {
    let model = model(&json!([{ "answers": [{ "text": "?" }] }]));
    let ask = |arguments: &[&str]| {
        let run = Run::new(shared()).arguments(&["ask"]).arguments(arguments);
        run.config_alone(&configuration(&model, "")).done().exits(2)
    };
    assert_snapshot!(normal(&ask(&["hi", "--model", "none"]).stderr), @r#"
    toolsmith: there is no model "none" under `models`; available: other, scripted
    "#);
    assert_snapshot!(normal(&ask(&[]).stderr), @r#"toolsmith: there is no question; write one: toolsmith ask "…""#);
    assert_snapshot!(normal(&ask(&["hi", "--continue"]).stderr), @r"
    toolsmith: there is no conversation in /tmp/.tmpXXXXXX yet
    ");
    assert_snapshot!(normal(&ask(&["hi", "--resume", "nothing"]).stderr), @r#"
    toolsmith: /tmp/.tmpXXXXXX/toolsmith/conversations.db has no conversation "nothing"; `toolsmith conversation list` lists them
    "#);
    assert!(model.requests().is_empty());
}

#[test]
fn without_a_terminal_each_line_is_a_message_or_a_command() {
    let model = model(&json!([
        { "when": { "user": "first" }, "answers": [{ "text": "One." }] },
        { "when": { "user": "second\nhalf" }, "answers": [{ "text": "Two." }] },
    ]));
    let input = "first\nsecond\\\nhalf\n/mcp status\n/hlep\n/mcp absent\n/model\n/code\n/prompts\n/model other\nfirst\n";
    let run = Run::new(shared()).arguments(&["chat"]).input(input);
    let done = run.config_alone(&configuration(&model, &fault_entry("faulty", "sound", ""))).done().exits(0);
    assert!(done.stdout.starts_with("One.\nTwo.\n SERVER"), "{done:#?}");
    for phrase in ["TRANSPORT", "UPDATED", "faulty", "stdio", "other-id", "no server offers a prompt"] {
        assert!(done.stdout.contains(phrase), "{phrase}: {done:#?}");
    }
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: info: 1 server, 1 tool
    [time], 10 tokens read, 5 written
    [time], 10 tokens read, 5 written
    there is no command /hlep; did you mean /help?
    there is no server "absent"; available servers: faulty
    no snippet was run in this conversation
    [time], 10 tokens read, 5 written
    toolsmith: resume with: toolsmith chat --resume [conv. id]
    "#);
    let requests = model.requests();
    assert_eq!(requests.last().unwrap()["body"]["model"], "other-id");
    // The new model receives the whole conversation.
    assert!(requests.last().unwrap()["body"].to_string().contains("Two."));
}

#[test]
fn a_call_is_approved_at_the_terminal_and_shown_with_its_time() {
    let state = tempfile::tempdir().unwrap();
    let code = r#"faulty::echo().message("it came back").await?.text()"#;
    let model = model(&json!([
        { "when": { "no_result": true }, "answers": [{ "text": "Let me see.", "calls": runs(code) }] },
        { "when": { "result": "it came back" }, "answers": [{ "text": "Done." }] },
        { "answers": [{ "text": "Not allowed." }] },
    ]));
    let console = chat(&model, &fault_entry("faulty", "sound", ""), state.path(), &[]);
    say(&console, "call it");
    console.answer(PERMISSION_PROMPT, 1, "n\n");
    shows(&console, "Not allowed.");
    say(&console, "call it again");
    console.answer(PERMISSION_PROMPT, 2, "y\n");
    shows(&console, "Done.");
    say(&console, "/code");
    let shown = leave(console);
    for phrase in [
        "Let me see.",
        "→ execute_code",
        &format!("│ {code}"),
        "faulty.echo",
        "← execute_code after",
        "// faulty: module faulty",
        "echo(message?: String) -> ToolResult",
    ] {
        assert!(shown.contains(phrase), "{phrase}: {shown}");
    }
}

#[test]
fn a_dead_server_is_reported_and_can_be_reconnected() {
    let state = tempfile::tempdir().unwrap();
    let model = model(&json!([
        { "when": { "no_result": true },
          "answers": [{ "calls": [{ "name": "echo", "arguments": { "message": "x" } }] }] },
        { "answers": [{ "text": "It failed." }] },
    ]));
    let servers = fault_entry("faulty", "dies-in-call", "    codeMode: false\n");
    let console = chat(&model, &servers, state.path(), &["--allow", "*"]);
    say(&console, "call it");
    // This may be shown between two parts of the model's answer.
    shows(&console, "the server faulty failed and is retried");
    console.wait_until("the end of the answer", || waits(&console));
    assert_eq!(model.requests().len(), 2);
    say(&console, "/mcp reconnect faulty");
    shows(&console, "faulty is connected, with ");
    say(&console, "/mcp");
    shows(&console, "ready");
    say(&console, "/mcp disconnect faulty");
    shows(&console, "its tools are unavailable");
    say(&console, "/mcp list-tools faulty");
    shows(&console, "there are no tools: disconnected by hand");
    say(&console, "/mcp faulty");
    shows(&console, "closed");
    say(&console, "/mcp connect faulty");
    console.wait_until("connected again", || console.shown().matches("faulty is connected").count() == 2);
    say(&console, "/mcp debug faulty");
    shows(&console, "is now shown");
    say(&console, "call it");
    shows(&console, "faulty: sent ");
    leave(console);
}

#[test]
fn ctrl_c_cancels_a_turn_and_keeps_the_conversation() {
    let state = tempfile::tempdir().unwrap();
    let model = model(&json!([
        { "when": { "user": "slow" }, "answers": [{ "text": "never", "delay": 600_000 }] },
        { "when": { "user": "limit" }, "answers": [{ "status": 429, "message": "too many" }] },
        { "answers": [{ "text": "Here I am." }] },
    ]));
    let console = chat(&model, "", state.path(), &[]);
    say(&console, "be slow");
    console.wait_until("a request", || model.requests().len() == 1);
    console.type_keys("\x03");
    shows(&console, "cancelled; the messages so far stay");
    console.wait_until("a client that left", || model.gone() == 1);
    say(&console, "limit");
    shows(&console, "too many");
    say(&console, "are you there?");
    shows(&console, "Here I am.");
    let body = model.requests().pop().unwrap()["body"].to_string();
    assert!(body.contains("be slow") && body.contains("limit"), "{body}");
    // Twice at the prompt leaves.
    console.wait_until("a prompt", || waits(&console));
    console.type_keys("\x03");
    shows(&console, "press Ctrl-C again to leave");
    console.wait_until("a prompt", || waits(&console));
    console.type_keys("\x03");
    let done = console.done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: model scripted; /help lists commands, Ctrl-D leaves
    \u{1b}[?2004h\u{1b}[?2026h\r\u{1b}[K> \r\u{1b}[2C\u{1b}[?2026lbe slow\u{1b}[?2004l
    toolsmith: info: 1 server, 1 tool
    cancelled; the messages so far stay in the conversation
    \u{1b}[?2004h\u{1b}[?2026h\r\u{1b}[K> \r\u{1b}[2C\u{1b}[?2026llimit\u{1b}[?2004l
    toolsmith: scripted: the provider answers 429: too many
    \u{1b}[?2004h\u{1b}[?2026h\r\u{1b}[K> \r\u{1b}[2C\u{1b}[?2026lare you there?\u{1b}[?2004l
    Here I am.
    [time], 10 tokens read, 5 written
    \u{1b}[?2004h\u{1b}[?2026h\r\u{1b}[K> \r\u{1b}[2C\u{1b}[?2026l\u{1b}[?2004l
    toolsmith: press Ctrl-C again to leave
    \u{1b}[?2004h\u{1b}[?2026h\r\u{1b}[K> \r\u{1b}[2C\u{1b}[?2026l\u{1b}[?2004l
    toolsmith: resume with: toolsmith chat --resume [conv. id]
    \u{1b}[?2004l
    ");
}

#[test]
fn several_lines_are_one_message() {
    let state = tempfile::tempdir().unwrap();
    let model = model(&json!([{ "answers": [{ "text": "Read." }] }]));
    let console = chat(&model, "", state.path(), &[]);
    say(&console, "one \\\rtwo");
    console.wait_until("an answer", || model.requests().len() == 1);
    say(&console, "look: \\\r```\r{\r```");
    console.wait_until("an answer", || model.requests().len() == 2);
    // A paste (bracketed, as terminals send it).
    say(&console, "\x1b[200~three\nfour\x1b[201~");
    console.wait_until("an answer", || model.requests().len() == 3);
    leave(console);
    let last = model.requests().pop().unwrap()["body"]["messages"].clone();
    let messages: Vec<&Value> =
        last.as_array().unwrap().iter().filter(|message| message["role"] == "user").collect();
    let messages: Vec<String> = messages.iter().map(|message| message["content"].to_string()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    let mut shown = Vec::new();
    for messages in &messages {
        shown.push(normal(&messages));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    "one \ntwo"
    "look: \n```\n{\n```"
    "three\nfour"
    "#);
    use std::os::unix::fs::PermissionsExt as _;
    let history = state.path().join("toolsmith/history");
    assert_eq!(std::fs::metadata(&history).unwrap().permissions().mode() & 0o777, 0o600);
    assert_snapshot!(normal(&std::fs::read_to_string(&history).unwrap()), @r"
    #V2
    one \\\ntwo
    look: \\\n```\n{\n```
    three\nfour
    /quit
    ");
}

#[test]
fn a_conversation_can_be_resumed_after_a_kill() {
    let state = tempfile::tempdir().unwrap();
    let model = model(&json!([
        { "when": { "user": "slow" }, "answers": [{ "text": "never", "delay": 600_000 }] },
        { "when": { "user": "remember" }, "answers": [{ "text": "Apples and pears." }] },
        { "answers": [{ "text": "As I said." }] },
    ]));
    let console = chat(&model, "", state.path(), &[]);
    say(&console, "remember");
    shows(&console, "Apples and pears.");
    say(&console, "slow");
    console.wait_until("a request", || model.requests().len() == 2);
    console.signal(Signal::KILL);
    console.done();

    let console = chat(&model, "", state.path(), &["--continue"]);
    shows(&console, "continuing conversation");
    say(&console, "what was it?");
    shows(&console, "As I said.");
    let shown = leave(console);
    assert_snapshot!(normal(&shown), @r"
    toolsmith: model scripted; /help lists commands, Ctrl-D leaves
    toolsmith: continuing conversation [id] with 3 messages; the last one:
      slow
    \r> \rwhat was it?
    toolsmith: info: 1 server, 1 tool
    As I said.
    [time], 10 tokens read, 5 written
    \r> \r/quit
    toolsmith: resume with: toolsmith chat --resume [conv. id]
    ");
    let body = model.requests().pop().unwrap()["body"].to_string();
    for phrase in ["remember", "Apples and pears.", "slow", "what was it?"] {
        assert!(body.contains(phrase), "{phrase} in {body}");
    }
}

#[test]
fn a_servers_form_is_shown_with_its_name() {
    let state = tempfile::tempdir().unwrap();
    let code = r#"faulty::echo().message("elicitation/create").await?.text()"#;
    let model = model(&json!([
        { "when": { "no_result": true }, "answers": [{ "calls": runs(code) }] },
        { "when": { "result": "accept" }, "answers": [{ "text": "Answered." }] },
    ]));
    let console = chat(&model, &fault_entry("faulty", "asks", ""), state.path(), &["--allow", "*"]);
    say(&console, "call it");
    console.answer("[a] answer  [d] decline  [c] cancel: ", 1, "a\n");
    console.answer("[3]: ", 1, "7\n");
    shows(&console, "Answered.");
    // An open form ends with its turn.
    say(&console, "call it once more");
    console.answer("[a] answer  [d] decline  [c] cancel: ", 2, "\x03");
    shows(&console, "cancelled; the messages so far stay");
    let shown = leave(console);
    assert!(shown.contains("the server faulty asks"), "{shown}");
}

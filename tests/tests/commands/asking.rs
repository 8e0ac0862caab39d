//! Elicitation by servers during a call: the user answers at the terminal; without a terminal, it is not supported.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use end_to_end::cache::json;
use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, RunningProcess, assert_says};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Returns the response as the server saw it: the result, and the message of the error.
fn code(message: &str) -> String {
    format!("serde_json::from_str::<serde_json::Value>(&faulty::echo().message({message:?}).await?.text())?")
}

/// The message that makes the server request its form.
const FORM: &str = "elicitation/create";

/// The end of the prompt for a server's form, and the prompt for its one field.
const ASKS: &str = "[a] answer  [d] decline  [c] cancel: ";
const FIELD: &str = "count (whole number, optional) [3]: ";

/// A run on a terminal, with further lines in the server's entry, and this program first in the search path.
fn run_at_terminal(message: &str, more: &str, opener: Option<&Path>) -> (RunningProcess, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    fs::write(&file, code(message)).unwrap();
    let run = Run::on_terminal(shared()).arguments(&["run", "--json", file.to_str().unwrap()]);
    let path = std::env::var("PATH").unwrap();
    let run = match opener {
        Some(opener) => run.variable("PATH", &format!("{}:{path}", opener.display())),
        None => run,
    };
    (run.fault("asks", more).start(), folder)
}

/// Answers the prompt for the form, and then the field's prompt each time it is shown.
fn answered(more: &str, first: &str, fields: &[&str]) -> FinishedRun {
    let (started, _folder) = run_at_terminal(FORM, more, None);
    started.answer(ASKS, 1, first);
    for (index, field) in fields.iter().enumerate() {
        let text = if index == 0 { FIELD } else { "write a whole number, such as 3: " };
        started.answer(text, index.max(1), field);
    }
    started.done()
}

#[test]
fn the_form_of_a_server_is_filled_in_at_the_terminal() {
    let done = answered("", "a\n", &["7\n"]);
    for phrase in ["the server faulty asks", "its own words", "How many?"] {
        assert!(done.stderr.contains(phrase), "{done:#?}");
    }
    let accepted = |count: i32| json!([{ "action": "accept", "content": { "count": count } }, null]);
    assert_eq!(done.expect("ok", 0)["result"], accepted(7));
    // The default, and a valid answer after an invalid one.
    assert_eq!(answered("", "a\n", &["\n"]).expect("ok", 0)["result"], accepted(3));
    assert_eq!(answered("", "a\n", &["many\n", "8\n"]).expect("ok", 0)["result"], accepted(8));
}

#[test]
fn a_form_is_declined_or_cancelled() {
    let action = |done: FinishedRun| done.expect("ok", 0)["result"].clone();
    assert_eq!(action(answered("", "d\n", &[])), json!([{ "action": "decline" }, null]));
    let cancelled = json!([{ "action": "cancel" }, null]);
    for leaves in ["c\n", "\x04"] {
        assert_eq!(action(answered("", leaves, &[])), cancelled, "{leaves:?}");
    }
    assert_eq!(action(answered("", "a\n", &["\x04"])), cancelled);
    let done = answered("", "a\n", &["x\n", "y\n", "z\n"]);
    assert_snapshot!(normal(&done.stderr), @r"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[Jtoolsmith: the server faulty asks (in its own words; it receives your answers):
      How many?
    [a] answer  [d] decline  [c] cancel: a
      count (whole number, optional) [3]: x
      write a whole number, such as 3: y
      write a whole number, such as 3: z
    toolsmith: none of the 3 answers is valid; the question is closed
    ");
    assert_eq!(action(done), cancelled);
}

#[test]
fn an_answer_that_a_form_does_not_offer_is_asked_for_again() {
    let (started, _folder) = run_at_terminal(FORM, "", None);
    started.answer(ASKS, 1, "maybe\n");
    started.answer(ASKS, 2, "\n");
    started.answer(ASKS, 3, "d\n");
    let done = started.done();
    assert_eq!(done.stderr.matches("type one of the letters a, d, c").count(), 2, "{done:#?}");
    assert_eq!(done.expect("ok", 0)["result"][0]["action"], "decline");
}

#[test]
fn the_users_time_does_not_count_against_the_server() {
    let (started, _folder) = run_at_terminal(FORM, "    requestTimeout: 1\n", None);
    // A request that was sent after the question was shown reaches the same limit.
    let limit_passes = || {
        let outcome =
            json(&code("x")).fault("silent-call", "    requestTimeout: 1\n").expect("runtime_error", 1);
        assert_says(&outcome["error"]["message"], &["1 s"]);
    };
    started.answer(ASKS, 1, "");
    limit_passes();
    started.answer(ASKS, 1, "a\n");
    started.answer(FIELD, 1, "");
    limit_passes();
    started.answer(FIELD, 1, "7\n");
    assert_eq!(started.done().expect("ok", 0)["result"][0]["content"]["count"], 7);
}

#[test]
fn without_a_terminal_elicitation_is_not_declared() {
    let result = json(&code(FORM)).fault("asks", "").result();
    assert_eq!(result[0], Value::Null, "{result}");
    assert_snapshot!(normal(&result[1]), @"this client does not declare elicitation in this mode");

    // This server's instructions repeat the client's capabilities.
    let declared = |run: Run| {
        let done = run.arguments(&["mcp", "info", "--json", "faulty"]).fault("asks", "").done().exits(0);
        done.outcome()["instructions"].as_str().unwrap().to_owned()
    };
    let without_terminal = declared(Run::new(shared()));
    assert!(!without_terminal.contains("elicitation"), "{without_terminal}");
    let on_terminal = declared(Run::on_terminal(shared()));
    assert_snapshot!(normal(&on_terminal), @r#"{"experimental":{"io.toolsmith/process":{"name":"[hash]","configuration":"[hash]"}},"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{"form":{},"url":{}}}"#);
}

/// The end of the prompt for a URL.
const VISITS: &str = "[v] I have visited it  [d] decline  [c] cancel: ";

#[test]
fn a_url_is_opened_only_if_the_user_agrees() {
    let opener = tempfile::tempdir().unwrap();
    let (program, opened) = (opener.path().join("xdg-open"), opener.path().join("opened"));
    let script = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >> {}\n", opened.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o700)).unwrap();
    let address = "https://agree.example/page?a=1&b=$(x)";
    let question = format!("{FORM} {address}");
    let mut actions = Vec::new();
    for answer in ["v\n", "d\n", "c\n", "\x04", "o\n"] {
        assert!(!opened.exists(), "opened before {answer:?}");
        let (started, _folder) = run_at_terminal(&question, "", Some(opener.path()));
        started.answer(VISITS, 1, answer);
        let done = started.done();
        for phrase in ["the server faulty asks you to visit", "Please agree.", address] {
            assert!(done.stderr.contains(phrase), "{done:#?}");
        }
        actions.push(done.expect("ok", 0)["result"][0]["action"].clone());
    }
    assert_eq!(actions, ["accept", "decline", "cancel", "cancel", "accept"]);
    // The opener is a separate process; it has ended, since the run left no processes.
    assert_eq!(fs::read_to_string(&opened).unwrap(), format!("{address}\n"));

    // Only web pages are shown to the user.
    let (started, _folder) = run_at_terminal(&format!("{FORM} file:///etc/passwd"), "", Some(opener.path()));
    let done = started.done();
    assert!(!done.stderr.contains(VISITS), "{done:#?}");
    assert_eq!(done.expect("ok", 0)["result"][0]["action"], "decline");
}

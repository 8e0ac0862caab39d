//! What servers ask while they work: the person at the terminal answers, and nobody where there is none.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cache::shared;
use crate::harness::{FinishedRun, Run, RunningProcess, json};

/// Gives the answer to the server's question, as the server saw it: the result, and the message of the error.
fn code(message: &str) -> String {
    format!("serde_json::from_str::<serde_json::Value>(&faulty::echo().message({message:?}).await?.text())?")
}

/// What makes the server show its form.
const FORM: &str = "elicitation/create";

/// What a server's question ends in, and that for its one field.
const ASKS: &str = "[a] answer  [d] decline  [c] cancel: ";
const FIELD: &str = "count (whole number, may stay empty) [3]: ";

/// A run at a terminal, with further lines in the entry of the server that asks, and this program before others.
fn asked(message: &str, more: &str, opener: Option<&Path>) -> (RunningProcess, tempfile::TempDir) {
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

/// Answers the question, and then that for its field each time that it is shown.
fn answered(more: &str, first: &str, fields: &[&str]) -> FinishedRun {
    let (started, _folder) = asked(FORM, more, None);
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
    // The default, and an answer after one that does not fit.
    assert_eq!(answered("", "a\n", &["\n"]).expect("ok", 0)["result"], accepted(3));
    assert_eq!(answered("", "a\n", &["many\n", "8\n"]).expect("ok", 0)["result"], accepted(8));
}

#[test]
fn a_form_is_declined_or_left() {
    let action = |done: FinishedRun| done.expect("ok", 0)["result"].clone();
    assert_eq!(action(answered("", "d\n", &[])), json!([{ "action": "decline" }, null]));
    let cancelled = json!([{ "action": "cancel" }, null]);
    for leaves in ["c\n", "\n", "\x04"] {
        assert_eq!(action(answered("", leaves, &[])), cancelled, "{leaves:?}");
    }
    assert_eq!(action(answered("", "a\n", &["\x04"])), cancelled);
    assert_eq!(action(answered("", "a\n", &["x\n", "y\n", "z\n"])), cancelled);
}

#[test]
fn the_time_that_a_person_takes_is_not_the_servers() {
    let (started, _folder) = asked(FORM, "    requestTimeout: 1\n", None);
    started.answer(ASKS, 1, "");
    // More than the server is given.
    std::thread::sleep(Duration::from_secs(2));
    started.answer(ASKS, 1, "a\n");
    started.answer(FIELD, 1, "");
    std::thread::sleep(Duration::from_secs(2));
    started.answer(FIELD, 1, "7\n");
    assert_eq!(started.done().expect("ok", 0)["result"][0]["content"]["count"], 7);
}

#[test]
fn where_nobody_is_the_client_does_not_say_that_it_asks() {
    let result = json(&code(FORM)).fault("asks", "").result();
    assert_eq!(result[0], Value::Null, "{result}");
    assert!(result[1].as_str().unwrap().contains("did not say that it can do elicitation"), "{result}");

    // This server's instructions are what the client says that it can do.
    let declared = |run: Run| {
        let done = run.arguments(&["mcp", "info", "--json", "faulty"]).fault("asks", "").done().exits(0);
        done.outcome()["instructions"].as_str().unwrap().to_owned()
    };
    let nobody = declared(Run::new(shared()));
    assert!(!nobody.contains("elicitation"), "{nobody}");
    let somebody = declared(Run::on_terminal(shared()));
    assert!(somebody.contains("elicitation"), "{somebody}");
}

/// What a question for an address ends in.
const VISITS: &str = "[v] I have visited it  [d] decline  [c] cancel: ";

#[test]
fn an_address_is_opened_only_where_the_person_wants_it() {
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
        let (started, _folder) = asked(&question, "", Some(opener.path()));
        started.answer(VISITS, 1, answer);
        let done = started.done();
        for phrase in ["the server faulty wants you to visit", "Please agree.", address] {
            assert!(done.stderr.contains(phrase), "{done:#?}");
        }
        actions.push(done.expect("ok", 0)["result"][0]["action"].clone());
    }
    assert_eq!(actions, ["accept", "decline", "cancel", "cancel", "accept"]);
    // The opener runs by itself; its process has ended, since nothing is left of the run.
    assert_eq!(fs::read_to_string(&opened).unwrap(), format!("{address}\n"));

    // Nobody is asked about what is no page.
    let (started, _folder) = asked(&format!("{FORM} file:///etc/passwd"), "", Some(opener.path()));
    let done = started.done();
    assert!(!done.stderr.contains(VISITS), "{done:#?}");
    assert_eq!(done.expect("ok", 0)["result"][0]["action"], "decline");
}

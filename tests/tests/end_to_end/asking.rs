//! What servers ask while they work: the person at the terminal answers, and nobody where there is none.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cache::shared;
use crate::harness::{Done, Run, Started, json};

/// Gives the answer to the server's question, as the server saw it: the result, and the message of the error.
const CODE: &str = "serde_json::from_str::<serde_json::Value>(\
    &faulty::echo().message(\"elicitation/create\").await?.text())?";

/// What a server's question ends in, and that for its one field.
const ASKS: &str = "[a] answer  [d] decline  [c] cancel: ";
const FIELD: &str = "count (whole number, may stay empty) [3]: ";

/// A run at a terminal, with further lines in the entry of the server that asks.
fn asked(more: &str) -> (Started, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    fs::write(&file, CODE).unwrap();
    let run = Run::on_terminal(shared()).arguments(&["run", "--json", file.to_str().unwrap()]);
    (run.fault("asks", more).start(), folder)
}

/// Answers the question, and then that for its field each time that it is shown.
fn answered(more: &str, first: &str, fields: &[&str]) -> Done {
    let (started, _folder) = asked(more);
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
    let action = |done: Done| done.expect("ok", 0)["result"].clone();
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
    let (started, _folder) = asked("    requestTimeout: 1\n");
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
    let result = json(CODE).fault("asks", "").result();
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

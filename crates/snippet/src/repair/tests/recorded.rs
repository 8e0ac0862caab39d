//! Rounds of corrections with messages that rustc 1.95 wrote about snippets of the end-to-end tests.
//!
//! Offsets in `recorded.json` count from the start of the snippet, so that a change of the wrapper leaves them valid.
//! Spans without a file are in the snippet; lines and columns, which corrections do not use, are left out. The
//! end-to-end tests compile the same snippets.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::fixtures::Servers;
use crate::repair::{Repaired, attempts, drops, further, unmade};
use crate::snippet::Snippet;
use crate::splice::{Changes, splice};

/// The compilations of a snippet: the first of the snippet itself, each other of a correction.
#[derive(Deserialize)]
struct Row {
    name: String,
    compilations: Vec<Compilation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Compilation {
    /// The snippet, or the corrected text.
    text: String,
    #[serde(default)]
    imports: String,
    #[serde(default)]
    tail_in_place: bool,
    #[serde(default)]
    finish: String,
    /// Whether the compiler accepts it.
    accepted: bool,
    /// Whether it loses a value that must be used.
    #[serde(default)]
    drops: bool,
    /// Whether another round follows from its messages.
    #[serde(default)]
    goes_on: bool,
    messages: Vec<Value>,
}

impl Compilation {
    /// The messages about a file in which the text is at `offset`.
    fn messages(&self, offset: u32) -> String {
        let mut messages = self.messages.clone();
        messages.iter_mut().for_each(|message| complete(message, offset.into()));
        messages.iter().map(|message| format!("{message}\n")).collect()
    }

    fn assert_is(&self, name: &str, repaired: &Repaired) {
        let finish = format!("{:?}", repaired.changes.finish);
        let Changes { imports, tail_in_place, .. } = &repaired.changes;
        let found = (repaired.text.as_str(), imports.as_str(), *tail_in_place, finish.as_str());
        assert_eq!(
            found,
            (self.text.as_str(), self.imports.as_str(), self.tail_in_place, self.finish.as_str()),
            "{name}"
        );
    }
}

/// Adds `offset` to the positions in the snippet's file, and the members that are not recorded.
fn complete(value: &mut Value, offset: i64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| complete(item, offset)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| complete(member, offset));
            if members.contains_key("level") {
                for list in ["spans", "children"] {
                    members.entry(list).or_insert_with(|| Value::Array(Vec::new()));
                }
            }
            let Some(start) = members.get("byte_start").and_then(Value::as_i64) else { return };
            if !members.contains_key("file_name") {
                let end = members["byte_end"].as_i64().unwrap();
                members.insert("byte_start".to_owned(), (start + offset).max(0).into());
                members.insert("byte_end".to_owned(), (end + offset).max(0).into());
                members.insert("file_name".to_owned(), "snippet.rs".into());
            }
            members.entry("is_primary").or_insert(false.into());
            for place in ["line_start", "line_end", "column_start", "column_end"] {
                members.entry(place).or_insert(1.into());
            }
        }
        _ => {}
    }
}

/// Corrects the row's snippet as a build does, with the recorded answers of the compiler.
fn replay(row: &Row, catalog: &dyn Catalog) {
    let [first, rounds @ ..] = &row.compilations[..] else { panic!("{} has no snippet", row.name) };
    let snippet = Snippet::read(&first.text).unwrap();
    let spliced = splice(&snippet, &Changes::default(), &[]);
    let start = if first.accepted { unmade } else { attempts };
    let attempts = start(&first.messages(spliced.offset), &snippet, &spliced, catalog);
    let mut waiting = VecDeque::from(attempts);
    for round in rounds {
        let repaired =
            waiting.pop_front().unwrap_or_else(|| panic!("{}: {} is missing", row.name, round.text));
        round.assert_is(&row.name, &repaired);
        let corrected = Snippet::read(&repaired.text).unwrap();
        let spliced = splice(&corrected, &repaired.changes, &[]);
        let messages = round.messages(spliced.offset);
        assert_eq!(
            drops(&messages, &corrected.text, &spliced, &repaired.changes),
            round.drops,
            "{}",
            row.name
        );
        if round.goes_on {
            let next = further(&messages, &snippet, &repaired, &corrected, &spliced, catalog);
            next.into_iter().rev().for_each(|repaired| waiting.push_front(repaired));
        }
    }
    if rounds.last().is_none_or(|last| !last.accepted || last.drops) {
        let texts: Vec<&str> = waiting.iter().map(|repaired| repaired.text.as_str()).collect();
        assert!(texts.is_empty(), "{}: {texts:?}", row.name);
    }
}

#[test]
fn recorded_messages_lead_to_the_same_corrections() {
    let catalog = Servers::demo();
    let rows: Vec<Row> = serde_json::from_str(include_str!("recorded.json")).unwrap();
    assert!(!rows.is_empty());
    for row in &rows {
        replay(row, &catalog);
    }
}

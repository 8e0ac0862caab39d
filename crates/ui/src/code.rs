//! A snippet with highlighting, and the compiler's messages at their lines.

use std::collections::BTreeMap;

use codegen::highlight::{Look, parts};
use maud::{Markup, html};
use serde_json::Value;

use crate::text::{line, lines};

/// The snippet, with the messages and corrections of its outcome.
pub(crate) fn listing(code: &str, outcome: &Value) -> Markup {
    named("Snippet", code, outcome)
}

/// Other code in the same form, in a region of this name.
pub(crate) fn named(name: &str, code: &str, outcome: &Value) -> Markup {
    let shown = lines(code);
    let divided = divided(&shown);
    let mut notes = notes(outcome);
    let last = divided.len();
    html! {
        div.code tabindex="0" role="region" aria-label=(name) {
            @for (number, parts) in (1..).zip(&divided) {
                div.line id=(format!("line-{number}")) {
                    span.place aria-hidden="true" { (number) }
                    code {
                        @for (look, text) in parts {
                            @match look {
                                Some(look) => span class=(class(*look)) { (text) },
                                None => (text),
                            }
                        }
                    }
                }
                @for note in notes.remove(&number).unwrap_or_default() { (note) }
            }
            // Messages whose line is not in the text.
            @for note in notes.into_values().flatten() { (note) }
            @if last == 0 { p { "It is empty." } }
        }
    }
}

/// The parts of each line.
fn divided(code: &str) -> Vec<Vec<(Option<Look>, &str)>> {
    if code.is_empty() {
        return Vec::new();
    }
    let mut all = vec![Vec::new()];
    for (look, text) in parts(code.strip_suffix('\n').unwrap_or(code)) {
        for (place, piece) in text.split('\n').enumerate() {
            if place > 0 {
                all.push(Vec::new());
            }
            if let (false, Some(last)) = (piece.is_empty(), all.last_mut()) {
                last.push((look, piece));
            }
        }
    }
    all
}

fn class(look: Look) -> &'static str {
    match look {
        Look::Comment => "comment",
        Look::Text => "text",
        Look::Number => "literal",
        Look::Keyword => "keyword",
        Look::Function => "function",
        Look::Type => "type",
    }
}

/// The notes below each line, from 1.
fn notes(outcome: &Value) -> BTreeMap<u64, Vec<Markup>> {
    let mut notes: BTreeMap<u64, Vec<Markup>> = BTreeMap::new();
    let mut add = |of: &Value, note: Markup| {
        notes.entry(of["line"].as_u64().unwrap_or(u64::MAX)).or_default().push(note);
    };
    for fix in outcome["fixes"].as_array().into_iter().flatten() {
        let after = fix["after"].as_str().unwrap_or_default();
        add(fix, html! { div.note { "Compiled as " code { bdi { (lines(after.trim())) } } } });
    }
    for one in outcome["diagnostics"].as_array().into_iter().flatten() {
        add(one, diagnostic(one));
    }
    notes
}

fn diagnostic(one: &Value) -> Markup {
    let text = |name: &str| one[name].as_str().unwrap_or_default();
    let is_error = text("level") == "error";
    html! {
        div class=(if is_error { "note bad" } else { "note" }) {
            p {
                strong {
                    (line(text("level")))
                    @if let Some(code) = one["code"].as_str() { " " (line(code)) }
                }
                " " bdi.message { (lines(text("message"))) }
                @if let Some(column) = one["column"].as_u64() { " (column " (column) ")" }
            }
            @if let Some(hint) = one["hint"].as_str() { pre tabindex="0" { bdi { (lines(hint)) } } }
            @if !text("rendered").is_empty() {
                details { summary { "The compiler's message" } pre tabindex="0" { bdi { (lines(text("rendered"))) } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_at_their_lines() {
        let outcome = json!({
            "diagnostics": [
                { "level": "error", "code": "E0425", "message": "not <found>", "line": 2, "column": 5, "rendered": "r" },
                { "level": "warning", "message": "elsewhere", "line": 9, "rendered": "" },
            ],
            "fixes": [{ "line": 1, "before": "a", "after": "b" }],
        });
        let page = listing("let a = 1;\nfoo(\"x\ny\")\n", &outcome).into_string();
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not in {page}"));
        let order = [
            place("line-1\""),
            place("Compiled as <code><bdi>b<"),
            place("line-2\""),
            place("not &lt;found&gt;"),
            place("line-3\""),
            place("elsewhere"),
        ];
        assert!(order.is_sorted() && !page.contains("line-4"), "{page}");
        assert!(page.contains("<span class=\"keyword\">let</span>"), "{page}");
    }

    #[test]
    fn every_line_of_a_text_is_there() {
        assert_eq!(divided("a\n\nb").len(), 3);
        assert_eq!(divided("a\n").len(), 1);
        assert!(divided("").is_empty());
    }
}

//! An outcome for a model: text and content that say all it needs, within a budget. Programs find the outcome in `_meta`.
//!
//! Claude Code, Codex and opencode show a model nothing but structured content where a result has any, so a result has none
//! unless the configuration asks for it.

mod cut;
mod outcome;

use std::fmt::Write as _;

use runner::{Outcome, Status};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::config::Serve;
use crate::present;
use cut::{Cut, Keep, cut, head_and_tail};

pub(crate) use outcome::output_schema;

/// Most bytes of a snippet's standard error that an answer shows where something went wrong (2 KiB).
const STDERR_SHOWN: usize = 2 << 10;

/// An outcome as MCP's `CallToolResult`, in which numbers keep their text (`strict_json::with_numbers`).
///
/// What its texts and content parts hold beyond `serve.output` bytes is kept. `_meta` repeats texts within the same bounds,
/// and so does structured content where the configuration asks for it.
pub(crate) fn result(mut outcome: Outcome, serve: &Serve, keep: Keep<'_>) -> Value {
    let budget = serve.output;
    let stdout = cut("stdout", outcome.stdout.trim_end_matches('\n'), budget / 2, keep);
    let value = present::result(&outcome).map(|text| cut("result", &text, budget / 2, keep));
    let text = text(&outcome, &stdout, value.as_ref(), budget);
    // Something of the content is shown in any case.
    let room = budget.saturating_sub(text.len()).max(budget / 8);
    let emitted = emitted(&std::mem::take(&mut outcome.content), room, keep);
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    content.extend(emitted.parts);
    let is_error = outcome.status != Status::Ok;
    let mut told = outcome::bounded(outcome, &stdout, value.as_ref(), budget, keep);
    if let Some(link) = &emitted.link {
        told["truncated"]["content"] = json!(true);
        told["truncated"]["content_resource"] = link["uri"].clone();
    }
    content.extend([Some(stdout), value].into_iter().flatten().filter_map(|cut| cut.link));
    content.extend(emitted.link);
    let mut result = json!({ "content": content, "isError": is_error });
    if serve.structured_outcome {
        result["structuredContent"] = told.clone();
    }
    result["_meta"] = json!({ outcome::META: told });
    result
}

/// What a model reads first: output, result, trouble.
fn text(outcome: &Outcome, stdout: &Cut, value: Option<&Cut>, budget: usize) -> String {
    let mut text = stdout.shown.clone();
    if let Some(value) = value {
        if !text.is_empty() {
            text.push_str("\n\nresult: ");
        }
        text.push_str(&value.shown);
    }
    if let Some(trouble) = present::trouble(outcome) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&head_and_tail(&trouble, budget / 2, ""));
        add_evidence(outcome, &mut text);
    } else {
        let warnings = outcome.diagnostics.iter().map(|warning| warning.rendered.trim_end());
        let warnings: String = warnings.map(|warning| format!("\n\n{warning}")).collect();
        text.push_str(&head_and_tail(&warnings, budget / 4, ""));
    }
    if text.is_empty() && outcome.content.is_empty() {
        text.push_str("ok: it printed nothing and has no result");
    }
    text
}

/// The content parts of an answer.
struct Emitted {
    parts: Vec<Value>,
    /// Where all of them are, if these are not all.
    link: Option<Value>,
}

/// The content parts that a program emitted, as far as there is room for them together. The first one that does not fit is
/// the last one that is shown: as its beginning, if it is a text.
fn emitted(content: &[Box<RawValue>], room: usize, keep: Keep<'_>) -> Emitted {
    let all: usize = content.iter().map(|part| part.get().len()).sum();
    if all <= room {
        let parts = content.iter().filter_map(|part| strict_json::value_with_numbers(part).ok());
        return Emitted { parts: parts.collect(), link: None };
    }
    let address = keep("content", &array(content));
    let mut room = room;
    let mut shown = Vec::new();
    for (number, part) in content.iter().enumerate() {
        let bytes = part.get().len();
        if bytes <= room {
            room -= bytes;
            shown.extend(strict_json::value_with_numbers(part).ok());
            continue;
        }
        let note = format!(
            "[… {} of {} content parts are left out from here on, {all} bytes in all; the whole is {address}, to be read by \
             ?offset=…&length=…]",
            content.len() - number,
            content.len()
        );
        shown.push(json!({ "type": "text", "text": format!("{}{note}", text_beginning(part.get(), room)) }));
        break;
    }
    let link = json!({
        "type": "resource_link", "uri": address, "name": "content", "mimeType": "application/json",
        "description": format!("all {all} bytes of content parts"),
    });
    Emitted { parts: shown, link: Some(link) }
}

/// The parts as one JSON array.
fn array(content: &[Box<RawValue>]) -> String {
    let bytes: usize = content.iter().map(|part| part.get().len() + 1).sum();
    let mut array = String::with_capacity(bytes + 2);
    for part in content {
        array.push(if array.is_empty() { '[' } else { ',' });
        array.push_str(part.get());
    }
    array.push(']');
    array
}

/// The beginning of a content part that is a text, within some room; nothing of another one.
fn text_beginning(part: &str, room: usize) -> String {
    #[derive(Deserialize)]
    struct Text {
        #[serde(rename = "type")]
        kind: String,
        text: String,
    }
    match serde_json::from_str::<Text>(part) {
        Ok(Text { kind, text }) if kind == "text" => {
            let end = text.floor_char_boundary(room);
            text.get(..end).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

/// What is known of a failure beside its message: evidence, what the snippet wrote to standard error, corrections.
fn add_evidence(outcome: &Outcome, text: &mut String) {
    let Some(error) = &outcome.error else { return };
    // Writing to a string does not fail.
    if error.evidence.as_object().is_some_and(|evidence| !evidence.is_empty())
        && outcome.diagnostics.is_empty()
    {
        let _ = write!(text, "\nevidence: {}", head_and_tail(&error.evidence.to_string(), STDERR_SHOWN, ""));
    }
    let fixes =
        outcome.fixes.iter().map(|fix| format!("\ncorrected line {}: {}", fix.line, fix.after.trim()));
    text.push_str(&head_and_tail(&fixes.collect::<String>(), STDERR_SHOWN, ""));
    let stderr = outcome.stderr.trim_end();
    if !stderr.is_empty() {
        let _ = write!(text, "\nstderr:\n{}", head_and_tail(stderr, STDERR_SHOWN, ""));
    }
}

/// A failure that no snippet is to blame for, as a result that a model reads.
pub(crate) fn failure(message: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": message }], "isError": true })
}

#[cfg(test)]
mod tests {
    use runner::Diagnostic;

    use super::*;

    /// Settings with this budget.
    fn within(output: usize) -> Serve {
        Serve { output, ..Serve::default() }
    }

    #[test]
    fn only_who_asks_for_it_gets_structured_content() {
        let serve = Serve { structured_outcome: true, ..Serve::default() };
        let keep: Keep<'_> = &|_, _| panic!("nothing is cut");
        let asked = result(Outcome::busy("later"), &serve, keep);
        assert_eq!(asked["structuredContent"]["status"], "busy");
        assert_eq!(asked["structuredContent"], asked["_meta"][outcome::META]);
        let usual = result(Outcome::busy("later"), &Serve::default(), keep);
        assert!(usual.get("structuredContent").is_none());
        assert_eq!((&usual["_meta"], &usual["content"]), (&asked["_meta"], &asked["content"]));
    }

    /// An outcome that emitted these texts.
    fn emitting(texts: &[String]) -> Outcome {
        let mut outcome = Outcome::busy("");
        let part = |text| serde_json::value::to_raw_value(&json!({ "type": "text", "text": text })).unwrap();
        outcome.content = texts.iter().map(part).collect();
        outcome
    }

    #[test]
    fn what_a_program_emits_counts_against_the_budget_and_is_kept_whole() {
        let kept = std::cell::RefCell::new(String::new());
        let keep = |part: &str, text: &str| {
            assert_eq!(part, "content");
            *kept.borrow_mut() = text.to_owned();
            "toolsmith://executions/1/content".to_owned()
        };
        let texts = ["short".to_owned(), "ä".repeat(1 << 20), "last".to_owned()];
        let answer = result(emitting(&texts), &within(16 << 10), &keep);
        assert!(answer.to_string().len() < 32 << 10, "{} bytes", answer.to_string().len());
        let shown: Vec<&str> =
            answer["content"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect();
        assert_eq!(shown[1], "short");
        assert!(shown[2].starts_with("ää") && shown[2].contains("2 of 3 content parts are left out"));
        assert_eq!(answer["_meta"][outcome::META]["truncated"]["content"], true);
        assert_eq!(answer["content"][3]["uri"], "toolsmith://executions/1/content");
        let whole: Vec<Value> = serde_json::from_str(&kept.borrow()).unwrap();
        assert_eq!(whole[1]["text"], texts[1]);
        let few =
            result(emitting(&["short".to_owned()]), &within(16 << 10), &|_, _| panic!("nothing is cut"));
        assert_eq!(
            (few["content"][1]["text"].as_str(), few["content"].as_array().unwrap().len()),
            (Some("short"), 2)
        );
    }

    #[test]
    fn diagnostics_count_against_the_budget() {
        let mut outcome = Outcome::busy("");
        let diagnostic = Diagnostic {
            level: "error".to_owned(),
            code: None,
            message: "m".repeat(10_000),
            line: 1,
            column: 1,
            rendered: "r".repeat(10_000),
            hint: Some("h".repeat(10_000)),
        };
        outcome.diagnostics = vec![diagnostic; 100];
        let answer =
            result(outcome, &within(16 << 10), &|part, _| format!("toolsmith://executions/1/{part}"));
        assert!(answer.to_string().len() < 32 << 10, "{} bytes", answer.to_string().len());
        assert_eq!(answer["_meta"][outcome::META]["truncated"]["diagnostics"], true);
        assert!(!answer["_meta"][outcome::META]["diagnostics"].as_array().unwrap().is_empty());
    }
}

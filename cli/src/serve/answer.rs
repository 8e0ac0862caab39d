//! An outcome for a model: text that says what matters, and the whole as structured content, both within a budget.

use std::fmt::Write as _;

use queue::shortened;
use runner::{Diagnostic, Fix, Outcome, Status};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::present;

/// Most bytes of a snippet's standard error that an answer shows where something went wrong (2 KiB).
const STDERR_SHOWN: usize = 2 << 10;

/// The form of the structured content. Later members may be added, none renamed.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "the form alone is used")]
struct OutcomeForm {
    status: String,
    result: Value,
    stdout: String,
    stderr: String,
    error: Option<Map<String, Value>>,
    diagnostics: Vec<Value>,
    fixes: Vec<Value>,
    manifest: Vec<String>,
    calls: Vec<Value>,
    calls_total: u64,
    calls_refused: Map<String, Value>,
    phases_ms: Map<String, Value>,
    truncated: Map<String, Value>,
}

/// The JSON Schema of the structured content: as few words as it can do with, since models are shown it.
pub(crate) fn output_schema() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
        .into_root_schema_for::<OutcomeForm>()
        .to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("title");
        schema.remove("$schema");
    }
    if let Some(total) = schema.pointer_mut("/properties/calls_total") {
        *total = json!({ "type": "integer" });
    }
    // Clients of the older official SDK refuse the whole list of tools over a property whose schema is `true`.
    if let Some(result) = schema.pointer_mut("/properties/result") {
        *result = json!({});
    }
    schema
}

/// Keeps what an answer has no room for: gives the address of a part, by its name.
pub(crate) type Keep<'a> = &'a dyn Fn(&str, &str) -> String;

/// A text that was cut, and where the whole of it is.
struct Cut {
    shown: String,
    link: Option<Value>,
}

/// An outcome as MCP's `CallToolResult`, in which numbers keep their text (`strict_json::with_numbers`). What its texts and content parts hold beyond `budget` bytes is kept, and so is not
/// lost; structured content repeats texts within the same bounds.
pub(crate) fn result(mut outcome: Outcome, budget: usize, keep: Keep<'_>) -> Value {
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
    let mut structured = structured(outcome, &stdout, value.as_ref(), budget, keep);
    if let Some(link) = &emitted.link {
        structured["truncated"]["content"] = json!(true);
        structured["truncated"]["content_resource"] = link["uri"].clone();
    }
    content.extend([Some(stdout), value].into_iter().flatten().filter_map(|cut| cut.link));
    content.extend(emitted.link);
    json!({ "content": content, "structuredContent": structured, "isError": is_error })
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

/// The outcome as JSON, with what is too long cut as in the text.
fn structured(
    mut outcome: Outcome,
    stdout: &Cut,
    value: Option<&Cut>,
    budget: usize,
    keep: Keep<'_>,
) -> Value {
    let mut truncated = Map::new();
    let mut note = |part: &str, link: &Value| {
        truncated.insert(part.to_owned(), json!(true));
        truncated.insert(format!("{part}_resource"), link["uri"].clone());
    };
    if let Some(link) = &stdout.link {
        outcome.stdout.clone_from(&stdout.shown);
        note("stdout", link);
    }
    if let Some(link) = value.and_then(|value| value.link.as_ref()) {
        outcome.result = None;
        note("result", link);
    }
    let stderr = cut("stderr", &outcome.stderr, budget / 4, keep);
    if let Some(link) = &stderr.link {
        outcome.stderr = stderr.shown;
        note("stderr", link);
    }
    let diagnostics = serde_json::to_string(&outcome.diagnostics).unwrap_or_default();
    let diagnostics = cut("diagnostics", &diagnostics, budget / 4, keep);
    if let Some(link) = &diagnostics.link {
        shorten_diagnostics(&mut outcome.diagnostics, budget / 4);
        note("diagnostics", link);
    }
    shorten_fixes(&mut outcome.fixes, budget / 4);
    if let Some(error) = &mut outcome.error {
        error.message = head_and_tail(&error.message, budget / 4, "");
    }
    // Each of the calls is in the log; a model needs no more than the last ones.
    let calls = outcome.calls.len();
    outcome.calls.drain(..calls.saturating_sub(CALLS_SHOWN));
    let result = outcome.result.take().and_then(|result| strict_json::value_with_numbers(&result).ok());
    let mut whole = serde_json::to_value(&outcome).unwrap_or_default();
    whole["result"] = result.unwrap_or_default();
    if let Some(members) = whole["truncated"].as_object_mut() {
        members.extend(truncated);
    }
    whole
}

/// Keeps the first diagnostics, as many as there is room for; of one that is long, the beginning of its texts.
fn shorten_diagnostics(diagnostics: &mut Vec<Diagnostic>, room: usize) {
    let mut left = room;
    diagnostics.retain_mut(|diagnostic| {
        if left == 0 {
            return false;
        }
        let hint = diagnostic.hint.take().unwrap_or_default();
        let texts = [&diagnostic.message, &diagnostic.rendered, &hint];
        let each = left / texts.len();
        let [message, rendered, hint] = texts.map(|text| shortened(text, each).into_owned());
        left = left.saturating_sub(message.len() + rendered.len() + hint.len());
        (diagnostic.message, diagnostic.rendered) = (message, rendered);
        diagnostic.hint = (!hint.is_empty()).then_some(hint);
        true
    });
}

/// Keeps the first corrections, as many as there is room for.
fn shorten_fixes(fixes: &mut Vec<Fix>, room: usize) {
    let mut left = room;
    fixes.retain(|fix| {
        let bytes = fix.before.len() + fix.after.len();
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    });
}

/// Most calls that structured content names one by one: the last ones.
const CALLS_SHOWN: usize = 20;

/// A text with head and tail of what is too long, which is kept as a resource.
fn cut(part: &str, text: &str, room: usize, keep: Keep<'_>) -> Cut {
    if text.len() <= room {
        return Cut { shown: text.to_owned(), link: None };
    }
    let address = keep(part, text);
    let shown =
        head_and_tail(text, room, &format!("; the whole is {address}, to be read by ?offset=…&length=…"));
    let link = json!({
        "type": "resource_link", "uri": address, "name": part, "mimeType": "text/plain", "size": text.len(),
        "description": format!("all {} bytes of {part}", text.len()),
    });
    Cut { shown, link: Some(link) }
}

/// Three quarters of the room for the head, one for the tail.
fn head_and_tail(text: &str, room: usize, more: &str) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(room / 4 * 3);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(room / 4)).max(head);
    let (first, last) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{first}\n[… {} bytes are left out here{more} …]\n{last}", tail - head)
}

/// A failure that no snippet is to blame for, as a result that a model reads.
pub(crate) fn failure(message: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": message }], "isError": true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_have_head_and_tail_and_are_kept_whole() {
        let text = "ä".repeat(3_000);
        let kept = std::cell::RefCell::new(Vec::new());
        let keep = |part: &str, text: &str| {
            kept.borrow_mut().push((part.to_owned(), text.len()));
            "toolsmith://executions/1/stdout".to_owned()
        };
        let short = cut("stdout", "short", 1_000, &keep);
        assert!(short.shown == "short" && short.link.is_none() && kept.borrow().is_empty());
        let long = cut("stdout", &text, 1_000, &keep);
        assert_eq!(kept.borrow().as_slice(), [("stdout".to_owned(), 6_000)]);
        assert!(
            long.shown.len() < 1_300
                && long.shown.contains("bytes are left out here; the whole is toolsmith://")
        );
        assert_eq!(long.link.unwrap()["size"], 6_000);
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
        let answer = result(emitting(&texts), 16 << 10, &keep);
        assert!(answer.to_string().len() < 32 << 10, "{} bytes", answer.to_string().len());
        let shown: Vec<&str> =
            answer["content"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect();
        assert_eq!(shown[1], "short");
        assert!(shown[2].starts_with("ää") && shown[2].contains("2 of 3 content parts are left out"));
        assert_eq!(answer["structuredContent"]["truncated"]["content"], true);
        assert_eq!(answer["content"][3]["uri"], "toolsmith://executions/1/content");
        let whole: Vec<Value> = serde_json::from_str(&kept.borrow()).unwrap();
        assert_eq!(whole[1]["text"], texts[1]);
        let few = result(emitting(&["short".to_owned()]), 16 << 10, &|_, _| panic!("nothing is cut"));
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
        let answer = result(outcome, 16 << 10, &|part, _| format!("toolsmith://executions/1/{part}"));
        assert!(answer.to_string().len() < 32 << 10, "{} bytes", answer.to_string().len());
        assert_eq!(answer["structuredContent"]["truncated"]["diagnostics"], true);
        assert!(!answer["structuredContent"]["diagnostics"].as_array().unwrap().is_empty());
    }

    #[test]
    fn the_form_is_short_and_names_what_outcomes_have() {
        let schema = output_schema();
        assert_eq!(schema["type"], "object");
        let outcome = serde_json::to_value(Outcome::busy("busy")).unwrap();
        for name in schema["properties"].as_object().unwrap().keys() {
            assert!(outcome.get(name).is_some(), "{name}");
        }
        assert!(schema["properties"].as_object().unwrap().values().all(Value::is_object), "{schema}");
        assert!(jsonschema::draft202012::new(&schema).unwrap().is_valid(&outcome));
        assert!(codegen::tokens(&schema.to_string()) < 250, "{schema}");
    }
}

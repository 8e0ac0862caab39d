//! An outcome for a model: text that says what matters, and the whole as structured content, both within a budget.

use std::fmt::Write as _;

use runner::{Outcome, Status};
use schemars::JsonSchema;
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

/// An outcome as MCP's `CallToolResult`, whose texts have about `budget` bytes at the most; the rest is kept.
pub(crate) fn result(outcome: &Outcome, budget: usize, keep: Keep<'_>) -> Value {
    let stdout = cut("stdout", outcome.stdout.trim_end_matches('\n'), budget / 2, keep);
    let value = present::result(outcome).map(|text| cut("result", &text, budget / 2, keep));
    let trouble = present::trouble(outcome);
    let mut text = stdout.shown.clone();
    if let Some(value) = &value {
        if !text.is_empty() {
            text.push_str("\n\nresult: ");
        }
        text.push_str(&value.shown);
    }
    if let Some(trouble) = &trouble {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&head_and_tail(trouble, budget / 2, ""));
        add_evidence(outcome, &mut text);
    } else {
        for warning in &outcome.diagnostics {
            let _ = write!(text, "\n\n{}", warning.rendered.trim_end());
        }
    }
    if text.is_empty() && outcome.content.is_empty() {
        text.push_str("ok: it printed nothing and has no result");
    }
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    content.extend(outcome.content.iter().filter_map(|part| serde_json::from_str::<Value>(part.get()).ok()));
    let structured = structured(outcome, &stdout, value.as_ref(), budget, keep);
    content.extend([Some(stdout), value].into_iter().flatten().filter_map(|cut| cut.link));
    json!({ "content": content, "structuredContent": structured, "isError": outcome.status != Status::Ok })
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
    for fix in &outcome.fixes {
        let _ = write!(text, "\ncorrected line {}: {}", fix.line, fix.after.trim());
    }
    let stderr = outcome.stderr.trim_end();
    if !stderr.is_empty() {
        let _ = write!(text, "\nstderr:\n{}", head_and_tail(stderr, STDERR_SHOWN, ""));
    }
}

/// The outcome as JSON, with what is too long cut as in the text.
fn structured(outcome: &Outcome, stdout: &Cut, value: Option<&Cut>, budget: usize, keep: Keep<'_>) -> Value {
    let mut whole = serde_json::to_value(outcome).unwrap_or_default();
    // Parts stand beside it as what they are.
    whole["content"] = json!([]);
    if let Some(link) = &stdout.link {
        whole["stdout"] = json!(stdout.shown);
        whole["truncated"]["stdout"] = json!(true);
        whole["truncated"]["stdout_resource"] = link["uri"].clone();
    }
    if let Some(link) = value.and_then(|value| value.link.as_ref()) {
        whole["result"] = Value::Null;
        whole["truncated"]["result"] = json!(true);
        whole["truncated"]["result_resource"] = link["uri"].clone();
    }
    let stderr = cut("stderr", &outcome.stderr, budget / 4, keep);
    if let Some(link) = stderr.link {
        whole["stderr"] = json!(stderr.shown);
        whole["truncated"]["stderr"] = json!(true);
        whole["truncated"]["stderr_resource"] = link["uri"].clone();
    }
    // Each of the calls is in the log; a model needs no more than the last ones.
    if let Some(calls) = whole["calls"].as_array_mut()
        && calls.len() > CALLS_SHOWN
    {
        calls.drain(..calls.len() - CALLS_SHOWN);
    }
    whole
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

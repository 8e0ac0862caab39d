//! Renders outcomes and results for the models of clients: text and content within a budget, in the form that the client
//! shows (`client_profile`). Programs read the outcome from `_meta`.
//!
//! If a result has structured content, Claude Code, Codex and opencode show a model only that. So a result has none
//! unless the configuration enables it, or the client needs it (`for_client`).

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

pub mod client_profile;
mod cut;
mod direct;
mod for_client;
mod media;
mod outcome;
pub mod shapes;
mod texts;

use config::Serve;
use runner::{Outcome, Status, size};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use snippet::Code;

pub use cut::Keep;
use texts::Texts;

pub use direct::direct;
pub use for_client::for_client;
pub use outcome::output_schema;

/// Limit on images in an answer, in bytes of JSON (4 MiB). It is separate because a model does not read an image's
/// bytes; model providers accept about this size for one image.
pub const IMAGES_ROOM: usize = 4 << 20;

/// Renders an outcome as MCP's `CallToolResult`; numbers keep their text (`strict_json::with_numbers`).
///
/// Texts and content parts beyond `serve.output` bytes together, and images beyond [`IMAGES_ROOM`], are stored with
/// `keep`. `_meta` repeats texts within the same limits, as does structured content if enabled, and names what was cut.
pub fn result(mut outcome: Outcome, code: &Code, serve: &Serve, keep: Keep<'_>) -> Value {
    let budget = serve.output;
    let (texts, room) = Texts::of(&outcome, others(&outcome.content), budget, keep);
    let parts = std::mem::take(&mut outcome.content);
    let text = texts.joined(&outcome, code, &media::described(&parts));
    let emitted = emitted(&parts, room, keep);
    let mut content = Vec::new();
    if !text.is_empty() {
        content.push(json!({ "type": "text", "text": text }));
    }
    content.extend(emitted.parts);
    let is_error = outcome.status != Status::Ok;
    let mut bounded = outcome::bounded(outcome, &texts, budget, keep);
    if let Some(link) = &emitted.link {
        bounded["truncated"]["content"] = json!(true);
        bounded["truncated"]["content_resource"] = link["uri"].clone();
    }
    content.extend(texts.into_links());
    content.extend(emitted.link.filter(|link| link["uri"] != ""));
    let mut result = json!({ "content": content, "isError": is_error });
    if serve.structured_outcome == Some(true) {
        result["structuredContent"] = bounded.clone();
    }
    result["_meta"] = json!({ outcome::META: bounded });
    result
}

/// The content parts of an answer.
struct Emitted {
    parts: Vec<Value>,
    /// The link to all parts, if some were left out.
    link: Option<Value>,
}

/// Takes the content parts that fit. If the first part that does not fit is a text, its beginning follows.
fn emitted(content: &[Box<RawValue>], room: usize, keep: Keep<'_>) -> Emitted {
    let mut room = ContentBudget { images: IMAGES_ROOM, others: room };
    let shown = content.iter().take_while(|part| room.takes(part.get())).count();
    let (whole, left_out) = content.split_at(shown);
    let mut parts: Vec<Value> =
        whole.iter().filter_map(|part| strict_json::value_with_numbers(part).ok()).collect();
    let Some(first) = left_out.first() else { return Emitted { parts, link: None } };
    let address = keep("content", &array(content));
    let all = size(content.iter().map(|part| part.get().len()).sum());
    let note = format!(
        "[… {} of {} content parts are left out from here on, of {all} in all{}]",
        left_out.len(),
        content.len(),
        cut::whole_at(&address),
    );
    let beginning = text_beginning(first.get(), room.others);
    parts.push(json!({ "type": "text", "text": format!("{beginning}{note}") }));
    let link = json!({
        "type": "resource_link", "uri": address, "name": "content", "mimeType": "application/json",
        "description": format!("all {all} of content parts"),
    });
    Emitted { parts, link: Some(link) }
}

/// Bytes that are left for content parts.
struct ContentBudget {
    images: usize,
    others: usize,
}

impl ContentBudget {
    /// Reserves room for a part; `false` if there is too little.
    fn takes(&mut self, part: &str) -> bool {
        let left = if is_image(part) { &mut self.images } else { &mut self.others };
        let rest = left.checked_sub(part.len());
        *left = rest.unwrap_or(*left);
        rest.is_some()
    }
}

fn is_image(part: &str) -> bool {
    #[derive(Deserialize)]
    struct Kind {
        #[serde(rename = "type")]
        kind: String,
    }
    serde_json::from_str::<Kind>(part).is_ok_and(|part| part.kind == "image")
}

/// The bytes of all parts but images.
fn others(content: &[Box<RawValue>]) -> usize {
    content.iter().map(|part| part.get()).filter(|part| !is_image(part)).map(str::len).sum()
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

/// The beginning of a text part, within `room` bytes; empty for other kinds.
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

/// A result for a failure that the snippet did not cause.
pub fn failure(message: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": message }], "isError": true })
}

/// A result for an execution that takes longer than its client waits. Beside an output schema it is an error, because
/// every other result must have structured content that fits (MCP, "Tools", "Output Schema").
pub fn still_running(id: &str, has_schema: bool) -> Value {
    let text = format!(
        "The snippet is still running; nothing is lost, and nothing runs twice. Call execute_code with \
         {{\"execution\": \"{id}\", \"code\": \"\"}} to wait on for its answer."
    );
    let outcome = json!({ "status": "running", "execution": id });
    json!({
        "content": [{ "type": "text", "text": text }], "isError": has_schema, "_meta": { outcome::META: outcome },
    })
}

/// The result of an execution with its outcome as structured content.
pub fn with_structured_outcome(mut result: Value) -> Value {
    if let Some(outcome) = result["_meta"].get(outcome::META) {
        result["structuredContent"] = outcome.clone();
    }
    result
}

#[cfg(test)]
mod tests {
    use snippet::Diagnostic;

    use super::*;

    /// Settings with this budget.
    fn within(output: usize) -> Serve {
        Serve { output, ..Serve::default() }
    }

    /// The code of no snippet.
    fn empty() -> Code {
        Code::parse(String::new())
    }

    #[test]
    fn structured_content_is_sent_only_if_enabled() {
        let serve = Serve { structured_outcome: Some(true), ..Serve::default() };
        let keep: Keep<'_> = &|_, _| panic!("nothing is cut");
        let enabled = result(Outcome::busy("later"), &empty(), &serve, keep);
        assert_eq!(enabled["structuredContent"]["status"], "busy");
        assert_eq!(enabled["structuredContent"], enabled["_meta"][outcome::META]);
        let default = result(Outcome::busy("later"), &empty(), &Serve::default(), keep);
        assert!(default.get("structuredContent").is_none());
        assert_eq!((&default["_meta"], &default["content"]), (&enabled["_meta"], &enabled["content"]));
    }

    /// An outcome that emitted these texts.
    fn emitting(texts: &[String]) -> Outcome {
        let mut outcome = Outcome::busy("");
        let part = |text| serde_json::value::to_raw_value(&json!({ "type": "text", "text": text })).unwrap();
        outcome.content = texts.iter().map(part).collect();
        outcome
    }

    #[test]
    fn emitted_content_counts_against_the_budget_and_is_stored_whole() {
        let kept = std::cell::RefCell::new(String::new());
        let keep = |part: &str, text: &str| {
            assert_eq!(part, "content");
            *kept.borrow_mut() = text.to_owned();
            "toolsmith://executions/1/content".to_owned()
        };
        let texts = ["short".to_owned(), "ä".repeat(1 << 20), "last".to_owned()];
        let answer = result(emitting(&texts), &empty(), &within(16 << 10), &keep);
        assert!(answer.to_string().len() < 32 << 10, "{} bytes", answer.to_string().len());
        let shown: Vec<&str> =
            answer["content"].as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect();
        assert_eq!(shown[1], "short");
        assert!(shown[2].starts_with("ää") && shown[2].contains("2 of 3 content parts are left out"));
        assert_eq!(answer["_meta"][outcome::META]["truncated"]["content"], true);
        assert_eq!(answer["content"][3]["uri"], "toolsmith://executions/1/content");
        let whole: Vec<Value> = serde_json::from_str(&kept.borrow()).unwrap();
        assert_eq!(whole[1]["text"], texts[1]);
        let few = result(emitting(&["short".to_owned()]), &empty(), &within(16 << 10), &|_, _| {
            panic!("nothing is cut")
        });
        assert_eq!(
            (few["content"][1]["text"].as_str(), few["content"].as_array().unwrap().len()),
            (Some("short"), 2)
        );
    }

    #[test]
    fn images_have_a_separate_limit() {
        let outcome = |images: &[usize]| {
            let mut outcome = emitting(&["before".to_owned()]);
            outcome.content.extend(images.iter().map(|bytes| {
                let image = json!({ "type": "image", "mimeType": "image/png", "data": "A".repeat(*bytes) });
                serde_json::value::to_raw_value(&image).unwrap()
            }));
            outcome
        };
        let kinds = |answer: &Value| -> Vec<String> {
            let content = answer["content"].as_array().unwrap();
            content.iter().map(|part| part["type"].as_str().unwrap().to_owned()).collect()
        };
        let large =
            result(outcome(&[3 << 20]), &empty(), &within(16 << 10), &|_, _| panic!("nothing is cut"));
        assert_eq!(kinds(&large), ["text", "text", "image"]);
        assert_eq!(large["content"][2]["data"].as_str().unwrap().len(), 3 << 20);
        let keep: Keep<'_> = &|_, _| "toolsmith://executions/1/content".to_owned();
        let larger = result(outcome(&[3 << 20, 2 << 20]), &empty(), &within(16 << 10), keep);
        assert_eq!(kinds(&larger), ["text", "text", "image", "text", "resource_link"]);
        assert!(
            larger["content"][3]["text"].as_str().unwrap().contains("1 of 3 content parts"),
            "{larger:#}"
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
        let answer = result(outcome, &empty(), &within(16 << 10), &|part, _| {
            format!("toolsmith://executions/1/{part}")
        });
        assert!(answer.to_string().len() < 32 << 10, "{} bytes", answer.to_string().len());
        assert_eq!(answer["_meta"][outcome::META]["truncated"]["diagnostics"], true);
        assert!(!answer["_meta"][outcome::META]["diagnostics"].as_array().unwrap().is_empty());
    }
}

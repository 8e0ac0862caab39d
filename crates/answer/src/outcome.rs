//! The outcome as JSON for programs, within the same limits as the text for models.

use queue::shortened;
use runner::Outcome;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use snippet::Diagnostic;

use crate::cut::{Keep, head_and_tail, whole_at};
use crate::texts::Texts;

/// The member of a result's `_meta` with the outcome.
pub(crate) const META: &str = "io.toolsmith/outcome";

/// The schema of an outcome as structured content. Members may be added later, but not renamed.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "the schema alone is used")]
struct OutcomeSchema {
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
    cpu_ms: f64,
    optimized: bool,
    truncated: Map<String, Value>,
}

/// The JSON Schema of the structured content. It is short, because models see it.
pub fn output_schema() -> Value {
    let mut schema = schemars::generate::SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .into_generator()
        .into_root_schema_for::<OutcomeSchema>()
        .to_value();
    if let Some(schema) = schema.as_object_mut() {
        schema.remove("title");
        schema.remove("description");
        schema.remove("$schema");
    }
    if let Some(total) = schema.pointer_mut("/properties/calls_total") {
        *total = json!({ "type": "integer" });
    }
    // The older official SDK rejects the whole list of tools if a property's schema is `true`.
    if let Some(result) = schema.pointer_mut("/properties/result") {
        *result = json!({});
    }
    schema
}

/// The outcome as JSON, with long parts cut as in the text; `truncated` says which, and where the whole is.
pub(crate) fn bounded(mut outcome: Outcome, texts: &Texts, budget: usize, keep: Keep<'_>) -> Value {
    let mut cuts = Cuts { room: budget / 4, truncated: Map::new(), keep };
    if let Some(link) = &texts.stdout.link {
        outcome.stdout.clone_from(&texts.stdout.shown);
        cuts.note("stdout", link["uri"].clone());
    }
    if let Some(link) = texts.value.as_ref().and_then(|value| value.link.as_ref()) {
        outcome.result = None;
        cuts.note("result", link["uri"].clone());
    }
    if let Some(link) = &texts.stderr.link {
        outcome.stderr.clone_from(&texts.stderr.shown);
        cuts.note("stderr", link["uri"].clone());
    }
    if let Some(error) = outcome.error.as_mut().filter(|error| error.message.len() > cuts.room) {
        let address = keep("error", &error.message);
        error.message = head_and_tail(&error.message, cuts.room, &whole_at(&address));
        cuts.note("error", address.into());
    }
    if cuts.exceeds("diagnostics", &outcome.diagnostics) {
        shorten_diagnostics(&mut outcome.diagnostics, cuts.room);
    }
    cuts.list("fixes", &mut outcome.fixes);
    cuts.list("manifest", &mut outcome.manifest);
    // The last calls explain most.
    outcome.calls.reverse();
    cuts.list("calls", &mut outcome.calls);
    outcome.calls.reverse();
    let result = outcome.result.take().and_then(|result| strict_json::value_with_numbers(&result).ok());
    let mut whole = serde_json::to_value(&outcome).unwrap_or_default();
    whole["result"] = result.unwrap_or_default();
    if let Some(members) = whole["truncated"].as_object_mut() {
        members.extend(cuts.truncated);
    }
    whole
}

/// The cuts in an outcome.
struct Cuts<'a> {
    /// Limit on one member, in bytes of JSON.
    room: usize,
    /// `PART: true` and `PART_resource: address` for each part that was cut.
    truncated: Map<String, Value>,
    keep: Keep<'a>,
}

impl Cuts<'_> {
    fn note(&mut self, part: &str, address: Value) {
        self.truncated.insert(part.to_owned(), json!(true));
        self.truncated.insert(format!("{part}_resource"), address);
    }

    /// Whether a list is too long; then the whole is stored.
    fn exceeds<T: Serialize>(&mut self, part: &str, items: &[T]) -> bool {
        let text = serde_json::to_string(items).unwrap_or_default();
        let exceeds = text.len() > self.room;
        if exceeds {
            let address = (self.keep)(part, &text);
            self.note(part, address.into());
        }
        exceeds
    }

    /// Keeps the first items of a list that fit.
    fn list<T: Serialize>(&mut self, part: &str, items: &mut Vec<T>) {
        if !self.exceeds(part, items) {
            return;
        }
        let mut left = self.room;
        let fits = |item: &&T| {
            let bytes = serde_json::to_string(item).map_or(0, |item| item.len() + 1);
            left.checked_sub(bytes).map(|rest| left = rest).is_some()
        };
        let count = items.iter().take_while(fits).count();
        items.truncate(count);
    }
}

/// Keeps the first diagnostics that fit, with the beginning of long texts.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_by_bytes_and_stored_whole() {
        let kept = std::cell::RefCell::new(Vec::new());
        let keep = |part: &str, text: &str| {
            kept.borrow_mut().push(text.to_owned());
            format!("toolsmith://executions/1/{part}")
        };
        let mut outcome = Outcome::busy(&"e".repeat(5_000));
        outcome.manifest = (0..1_000).map(|number| format!("server.tool-{number}")).collect();
        let names = outcome.manifest.clone();
        let (texts, _) = Texts::of(&outcome, 0, 1 << 20, &|_, _| panic!("nothing is cut"));
        let shown = bounded(outcome, &texts, 16 << 10, &keep);
        let count = shown["manifest"].as_array().unwrap().len();
        assert!((100..300).contains(&count) && shown["manifest"][0] == "server.tool-0", "{count}");
        assert_eq!(shown["truncated"]["manifest_resource"], "toolsmith://executions/1/manifest");
        assert_eq!(shown["truncated"]["error_resource"], "toolsmith://executions/1/error");
        assert!(shown["error"]["message"].as_str().unwrap().len() < 4_500);
        assert!(shown["truncated"].get("fixes").is_none() && shown["truncated"].get("calls").is_none());
        assert_eq!(kept.into_inner(), ["e".repeat(5_000), json!(names).to_string()]);
    }

    #[test]
    fn the_schema_is_short_and_matches_outcomes() {
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

//! The outcome as JSON for programs, within the same limits as the text for models.

use queue::shortened;
use runner::{Diagnostic, Fix, Outcome};
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::cut::{Keep, cut, head_and_tail};
use super::texts::Texts;

/// The member of a result's `_meta` with the outcome.
pub(super) const META: &str = "io.toolsmith/outcome";

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

/// The outcome as JSON, with long parts cut as in the text.
pub(super) fn bounded(mut outcome: Outcome, texts: &Texts, budget: usize, keep: Keep<'_>) -> Value {
    let mut truncated = Map::new();
    let mut note = |part: &str, link: &Value| {
        truncated.insert(part.to_owned(), json!(true));
        truncated.insert(format!("{part}_resource"), link["uri"].clone());
    };
    if let Some(link) = &texts.stdout.link {
        outcome.stdout.clone_from(&texts.stdout.shown);
        note("stdout", link);
    }
    if let Some(link) = texts.value.as_ref().and_then(|value| value.link.as_ref()) {
        outcome.result = None;
        note("result", link);
    }
    if let Some(link) = &texts.stderr.link {
        outcome.stderr.clone_from(&texts.stderr.shown);
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
    // All calls are in the log; a model needs only the last ones.
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

/// Keeps the first corrections that fit.
fn shorten_fixes(fixes: &mut Vec<Fix>, room: usize) {
    let mut left = room;
    fixes.retain(|fix| {
        let bytes = fix.before.len() + fix.after.len();
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    });
}

/// Limit on calls that are listed individually: the last ones.
const CALLS_SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

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

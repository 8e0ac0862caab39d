//! Adapts the result of a tool to what its client does with it.

use config::Serve;
use serde_json::{Value, json};

use crate::client_profile::ClientProfile;
use crate::media;
use crate::outcome::META;

/// A result as this client needs it: with structured content if that serves it, without an outcome that its model would
/// read, and as one text if it joins texts.
pub fn for_client(mut result: Value, client: &ClientProfile, serve: &Serve) -> Value {
    if serve.structured_outcome.is_none()
        && client.takes_structured
        && result.get("structuredContent").is_none()
        && let Some(outcome) = result["_meta"].get(META)
    {
        result["structuredContent"] = outcome.clone();
    }
    if client.prints_whole_result
        && result["isError"] == true
        && let Some(meta) = result.get_mut("_meta").and_then(Value::as_object_mut)
    {
        meta.remove(META);
        if meta.is_empty() {
            result.as_object_mut().map(|members| members.remove("_meta"));
        }
    }
    if client.joins_text
        && let Some(content) = result.get_mut("content").and_then(Value::as_array_mut)
        && (content.len() > 1 || client.drops_images)
    {
        *content = joined(std::mem::take(content), client.drops_images);
    }
    result
}

/// All texts as one part, and then the other parts. The text says where images were that the client drops.
fn joined(content: Vec<Value>, drops_images: bool) -> Vec<Value> {
    let (mut texts, mut others) = (Vec::new(), Vec::new());
    for part in content {
        match (part["type"].as_str(), part["text"].as_str()) {
            (Some("text"), Some(text)) => {
                texts.push(text.to_owned());
                continue;
            }
            (Some("image"), _) if drops_images => {
                texts.push(format!("[here is {}, which this client does not show]", media::part(&part)));
            }
            _ => {}
        }
        others.push(part);
    }
    let text = (!texts.is_empty()).then(|| json!({ "type": "text", "text": texts.join("\n\n") }));
    text.into_iter().chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_profile::UNKNOWN;

    fn result() -> Value {
        json!({
            "content": [
                { "type": "text", "text": "one" },
                { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" },
                { "type": "text", "text": "two" },
            ],
            "isError": true,
            "_meta": { META: { "status": "panic" } },
        })
    }

    #[test]
    fn unknown_clients_get_results_unchanged() {
        assert_eq!(for_client(result(), &UNKNOWN, &Serve::default()), result());
    }

    #[test]
    fn errors_have_no_outcome_where_a_model_would_read_it() {
        let client = ClientProfile::of("gemini-cli-mcp-client", "0.61.0");
        let shown = for_client(result(), client, &Serve::default());
        assert_eq!((shown.get("_meta"), &shown["content"]), (None, &result()["content"]));
        let good = json!({ "content": [], "isError": false, "_meta": { META: {} } });
        assert_eq!(for_client(good.clone(), client, &Serve::default()), good);
    }

    #[test]
    fn texts_are_one_part_where_the_client_joins_them() {
        let client = ClientProfile::of("copilot-cli", "1.0.102");
        let shown = for_client(result(), client, &Serve::default());
        let text = "one\n\n[here is image image/png, 8 bytes, which this client does not show]\n\ntwo";
        assert_eq!(shown["content"], json!([{ "type": "text", "text": text }, result()["content"][1]]));
        let image = json!({ "content": [result()["content"][1]] });
        let shown = for_client(image, client, &Serve::default());
        let note = "[here is image image/png, 8 bytes, which this client does not show]";
        assert_eq!(shown["content"][0], json!({ "type": "text", "text": note }));
    }

    #[test]
    fn structured_content_is_added_where_it_serves_unless_configured() {
        let client = ClientProfile::of("goose-cli", "1.37.0");
        let configured = |structured_outcome| Serve { structured_outcome, ..Serve::default() };
        let shown = for_client(result(), client, &configured(None));
        assert_eq!(shown["structuredContent"], json!({ "status": "panic" }));
        assert_eq!(for_client(result(), client, &configured(Some(false))), result());
        assert_eq!(for_client(result(), &UNKNOWN, &configured(None)), result());
    }
}

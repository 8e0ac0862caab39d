//! The list of tools, and the results of those that only return an answer.

use serde_json::{Map, Value, json};

use crate::{content, questions, tasks};

/// All tools; the description of one contains the number of changes.
pub(crate) fn list(changes: u64) -> Value {
    let mut tools: Vec<Value> = PLAIN.iter().map(|(name, description)| plain(name, description)).collect();
    tools.extend(questions::TOOLS.iter().map(|(name, description)| plain(name, description)));
    for tool in &mut tools {
        match tool["name"].as_str() {
            Some("test_sampling") => require_text(tool, "prompt"),
            Some("test_elicitation") => require_text(tool, "message"),
            _ => {}
        }
    }
    tools.extend([schema_tool(), header_tool(), structured_tool()]);
    tools.extend(tasks::list());
    // The set of tools is constant, so that lists can be compared at any time: a change only affects a description.
    tools.push(plain("test_extra_tool", &format!("Changed {changes} times.")));
    Value::Array(tools)
}

const PLAIN: [(&str, &str); 16] = [
    ("test_simple_text", "Answers with a text."),
    ("test_image_content", "Answers with a picture."),
    ("test_audio_content", "Answers with a sound."),
    ("test_embedded_resource", "Answers with a resource."),
    ("test_multiple_content_types", "Answers with a text, a picture and a resource."),
    ("test_error_handling", "Always fails."),
    ("test_missing_capability", "Works only for clients that can sample."),
    ("test_tool_with_logging", "Logs three messages while it runs."),
    ("test_logging_tool", "Logs a message, if the caller wants any."),
    ("test_tool_with_progress", "Reports its progress three times."),
    ("test_reconnection", "Takes longer than a stream may be open."),
    ("test_wait", "Waits until it is cancelled, reporting progress."),
    ("test_trigger_tool_change", "Changes the list of tools."),
    ("test_trigger_prompt_change", "Changes the list of prompts."),
    ("test_trigger_resource_change", "Notifies that the list of resources has changed."),
    ("test_trigger_resource_update", "Notifies that the watched resource has changed."),
];

fn plain(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": {}, "additionalProperties": false },
    })
}

fn require_text(tool: &mut Value, parameter: &str) {
    tool["inputSchema"]["properties"][parameter] = json!({ "type": "string" });
    tool["inputSchema"]["required"] = json!([parameter]);
}

/// The tool whose schema contains keywords that a careless reader drops.
fn schema_tool() -> Value {
    json!({
        "name": "json_schema_2020_12_tool",
        "description": "Takes a name and contact details.",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {
                "address": {
                    "$anchor": "addressDef",
                    "type": "object",
                    "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
                },
            },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": {
                "properties": { "contactMethod": { "const": "phone" } },
                "required": ["contactMethod"],
            },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        },
    })
}

/// The tool with a parameter that stateless clients repeat in a header.
fn header_tool() -> Value {
    json!({
        "name": "test_header_parameter",
        "description": "Returns the region of the request.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "region": { "type": "string", "x-mcp-header": "Region" },
                "count": { "type": "integer" },
            },
            "required": ["region"],
        },
    })
}

/// The tool with everything that a tool and its result may contain.
fn structured_tool() -> Value {
    json!({
        "name": "test_structured_content",
        "title": "Structured content",
        "description": "Measures a text.",
        "inputSchema": {
            "type": "object",
            "properties": { "text": { "type": "string" } },
            "required": ["text"],
        },
        "outputSchema": {
            "type": "object",
            "properties": { "characters": { "type": "integer" }, "words": { "type": "integer" } },
            "required": ["characters", "words"],
        },
        "annotations": { "title": "Measure", "readOnlyHint": true, "idempotentHint": true },
        "icons": [{ "src": "https://example.com/ruler.png", "mimeType": "image/png", "sizes": ["48x48"] }],
        "_meta": { "example.com/kept": { "depth": [1, 2.5, null] } },
    })
}

/// The result of a tool that only returns an answer; `None` for other tools.
pub(crate) fn answer(name: &str, arguments: &Map<String, Value>) -> Option<Value> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let blocks = match name {
        "test_simple_text" => vec![content::text("This is a simple text response for testing.")],
        "test_image_content" => vec![content::image()],
        "test_audio_content" => vec![content::audio()],
        "test_embedded_resource" => vec![content::resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )],
        "test_multiple_content_types" => vec![
            content::text("Multiple content types test:"),
            content::image(),
            content::resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ],
        "test_error_handling" => {
            let text = content::text("This tool intentionally returns an error for testing");
            return Some(json!({ "content": [text], "isError": true }));
        }
        "json_schema_2020_12_tool" => vec![content::text(&format!("Met {}.", argument("name")))],
        "test_header_parameter" => vec![content::text(&format!("In {}.", argument("region")))],
        "test_extra_tool" => vec![content::text("Here today.")],
        "test_structured_content" => return Some(measure(argument("text"))),
        _ => return None,
    };
    Some(json!({ "content": blocks }))
}

fn measure(text: &str) -> Value {
    let (characters, words) = (text.chars().count(), text.split_whitespace().count());
    json!({
        "content": [{
            "type": "text",
            "text": format!("{characters} characters, {words} words"),
            "annotations": { "audience": ["assistant"], "priority": 1.0 },
        }],
        "structuredContent": { "characters": characters, "words": words },
        "_meta": { "example.com/measured": true },
    })
}

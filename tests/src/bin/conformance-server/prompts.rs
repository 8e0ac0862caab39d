//! The prompts and their messages.

use serde_json::{Map, Value, json};

use crate::content;

/// The prompt that requires input first.
pub(crate) const ASKING: &str = "test_input_required_result_prompt";

/// All prompts; `extra` includes the optional one.
pub(crate) fn list(extra: bool) -> Value {
    let required =
        |name: &str| json!({ "name": name, "description": format!("What {name} is."), "required": true });
    let prompt = |name: &str, description: &str, arguments: Value| json!({ "name": name, "description": description, "arguments": arguments });
    let mut prompts = vec![
        prompt("test_simple_prompt", "A prompt without arguments.", json!([])),
        prompt(
            "test_prompt_with_arguments",
            "A prompt with two arguments.",
            json!([required("arg1"), required("arg2")]),
        ),
        prompt(
            "test_prompt_with_embedded_resource",
            "A prompt that holds a resource.",
            json!([required("resourceUri")]),
        ),
        prompt("test_prompt_with_image", "A prompt that holds a picture.", json!([])),
        prompt(ASKING, "A prompt that asks for its context first.", json!([])),
    ];
    if extra {
        prompts.push(prompt("test_extra_prompt", "A prompt that comes and goes.", json!([])));
    }
    Value::Array(prompts)
}

/// The messages of a prompt; `None` if there is no such prompt. `context` is the client's input, if it was requested.
pub(crate) fn messages(name: &str, arguments: &Map<String, Value>, context: &str) -> Option<Value> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let blocks = match name {
        "test_simple_prompt" => vec![content::text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => vec![content::text(&format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => vec![
            content::resource(
                argument("resourceUri"),
                "text/plain",
                "Embedded resource content for testing.",
            ),
            content::text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => {
            vec![content::image(), content::text("Please analyze the image above.")]
        }
        ASKING => vec![content::text(&format!("Use this context: {context}"))],
        "test_extra_prompt" => vec![content::text("Here today.")],
        _ => return None,
    };
    Some(blocks.into_iter().map(|block| json!({ "role": "user", "content": block })).collect())
}

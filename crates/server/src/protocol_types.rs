//! The protocol library's types: the server's name, and results converted to them.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, CreateTaskResult, GetPromptResponse, GetPromptResult,
    Implementation, InputRequiredResult, ReadResourceResponse, ReadResourceResult,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Name, title and version of this program as a server.
pub fn server_info() -> Implementation {
    Implementation::new("toolsmith", env!("CARGO_PKG_VERSION")).with_title("Toolsmith")
}

/// Parses a result.
///
/// # Errors
/// If it does not have the expected form.
pub fn read<T: DeserializeOwned>(result: Value) -> Result<T, ErrorData> {
    serde_json::from_value(result).map_err(|error| {
        ErrorData::internal_error(format!("the server's answer has an invalid form: {error}"), None)
    })
}

fn asks(result: &Value) -> bool {
    result["resultType"] == "input_required"
}

/// The result of a call. Content that the library does not know becomes a text, so that it is not lost.
pub fn call(mut result: Value) -> Result<CallToolResponse, ErrorData> {
    if asks(&result) {
        return read::<InputRequiredResult>(result).map(CallToolResponse::InputRequired);
    }
    if result["resultType"] == "task" {
        return read::<CreateTaskResult>(result).map(CallToolResponse::Task);
    }
    for part in result["content"].as_array_mut().into_iter().flatten() {
        if serde_json::from_value::<ContentBlock>(part.clone()).is_err() {
            *part = json!({ "type": "text", "text": part.to_string() });
        }
    }
    read::<CallToolResult>(result).map(CallToolResponse::Complete)
}

/// The result of `prompts/get`, with its content blocks repaired.
pub(crate) fn prompt(mut result: Value) -> Result<GetPromptResponse, ErrorData> {
    if asks(&result) {
        return read::<InputRequiredResult>(result).map(GetPromptResponse::InputRequired);
    }
    for message in result["messages"].as_array_mut().into_iter().flatten() {
        if let Some(content) = message.get_mut("content") {
            *content = runner::presentable(content.take());
        }
    }
    read::<GetPromptResult>(result).map(GetPromptResponse::Complete)
}

/// The result of `resources/read`, with its contents repaired.
pub(crate) fn resource(mut result: Value) -> Result<ReadResourceResponse, ErrorData> {
    if asks(&result) {
        return read::<InputRequiredResult>(result).map(ReadResourceResponse::InputRequired);
    }
    for content in result["contents"].as_array_mut().into_iter().flatten() {
        repair(content);
    }
    read::<ReadResourceResult>(result).map(ReadResourceResponse::Complete)
}

/// Repairs an item of a resource's contents, or replaces it by a text that says why it can't be.
fn repair(item: &mut Value) {
    let uri = item["uri"].clone();
    let mut block = runner::presentable(json!({ "type": "resource", "resource": item.take() }));
    *item = match &block["type"] {
        kind if kind == "resource" => block["resource"].take(),
        _ => json!({ "uri": uri, "mimeType": "text/plain", "text": block["text"].take() }),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_prompts_and_contents_of_resources_are_repaired() {
        let image = json!({ "type": "image", "data": "data:image/png;base64,iVBORw0KGgo=" });
        let Ok(GetPromptResponse::Complete(prompt)) = prompt(
            json!({ "messages": [{ "role": "user", "content": image }, { "role": "user", "content": "a" }] }),
        ) else {
            panic!("no prompt");
        };
        let whole = json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" });
        let text = json!({ "type": "text", "text": "a" });
        let read = serde_json::to_value(&prompt.messages).unwrap();
        assert_eq!((&read[0]["content"], &read[1]["content"]), (&whole, &text));
        let sent = json!({ "contents": [
            { "uri": "file:///a", "blob": "data:image/png;base64,iVBORw0KGgo=" },
            { "uri": "file:///b", "text": "b", "mimeType": "text/plain" },
            { "uri": "file:///c", "blob": "not Base64!" },
        ] });
        let Ok(ReadResourceResponse::Complete(resource)) = resource(sent) else { panic!("no resource") };
        let read = serde_json::to_value(&resource.contents).unwrap();
        assert_eq!(read[0], json!({ "uri": "file:///a", "mimeType": "image/png", "blob": "iVBORw0KGgo=" }));
        assert_eq!(read[1], json!({ "uri": "file:///b", "mimeType": "text/plain", "text": "b" }));
        assert_eq!((&read[2]["uri"], &read[2]["mimeType"]), (&json!("file:///c"), &json!("text/plain")));
        assert!(read[2]["text"].as_str().unwrap().contains("not Base64!"), "{read:#}");
    }
}

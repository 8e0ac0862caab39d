//! The protocol library's types: the server's name, and results converted to them.

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, GetPromptResponse, GetPromptResult, Implementation,
    InputRequiredResult, ReadResourceResponse, ReadResourceResult,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Name, title and version of this program as a server.
pub(crate) fn server_info() -> Implementation {
    Implementation::new("toolsmith", env!("CARGO_PKG_VERSION")).with_title("Toolsmith")
}

/// Parses a result.
///
/// # Errors
/// If it does not have the expected form.
pub(crate) fn read<T: DeserializeOwned>(result: Value) -> Result<T, ErrorData> {
    serde_json::from_value(result).map_err(|error| {
        ErrorData::internal_error(format!("the server's answer has an invalid form: {error}"), None)
    })
}

fn asks(result: &Value) -> bool {
    result["resultType"] == "input_required"
}

/// The result of a call. Content that the library does not know becomes a text, so that it is not lost.
pub(crate) fn call(mut result: Value) -> Result<CallToolResponse, ErrorData> {
    if asks(&result) {
        return read::<InputRequiredResult>(result).map(CallToolResponse::InputRequired);
    }
    for part in result["content"].as_array_mut().into_iter().flatten() {
        if serde_json::from_value::<ContentBlock>(part.clone()).is_err() {
            *part = json!({ "type": "text", "text": part.to_string() });
        }
    }
    read::<CallToolResult>(result).map(CallToolResponse::Complete)
}

/// The result of `prompts/get`.
pub(crate) fn prompt(result: Value) -> Result<GetPromptResponse, ErrorData> {
    if asks(&result) {
        return read::<InputRequiredResult>(result).map(GetPromptResponse::InputRequired);
    }
    read::<GetPromptResult>(result).map(GetPromptResponse::Complete)
}

/// The result of `resources/read`.
pub(crate) fn resource(result: Value) -> Result<ReadResourceResponse, ErrorData> {
    if asks(&result) {
        return read::<InputRequiredResult>(result).map(ReadResourceResponse::InputRequired);
    }
    read::<ReadResourceResult>(result).map(ReadResourceResponse::Complete)
}

//! Converts MCP results to messages: texts and media.

use agent::{Block, ToolCall, ToolResult};
use serde_json::Value;

/// Limit on the media of a resource, in bytes of Base64 (8 MiB).
const MEDIA_LIMIT: usize = 8 << 20;

/// Converts the result of a call, a `CallToolResult` (MCP, server/tools).
pub(super) fn result(call: &ToolCall, answer: &Value) -> ToolResult {
    let parts = answer.get("content").and_then(Value::as_array);
    let mut blocks: Vec<Block> = parts.into_iter().flatten().map(block).collect();
    if let (true, Some(structured)) = (blocks.is_empty(), answer.get("structuredContent")) {
        blocks.push(Block::text(structured.to_string()));
    }
    if blocks.is_empty() {
        blocks.push(Block::text("(no content)"));
    }
    let is_error = answer.get("isError").and_then(Value::as_bool).unwrap_or(false);
    ToolResult { id: call.id.clone(), name: call.name.clone(), blocks, is_error }
}

/// Converts the contents of a resource (`ReadResourceResult`). Texts are cut later, like all results.
pub(super) fn contents(answer: &Value) -> Vec<Block> {
    let parts = answer.get("contents").and_then(Value::as_array);
    let mut left = MEDIA_LIMIT;
    let blocks = parts.into_iter().flatten().map(resource).map(|block| match block {
        Block::Media { media_type, data, .. } if data.len() > left => {
            Block::text(format!("({media_type}, about {} bytes, too large to show)", data.len() / 4 * 3))
        }
        Block::Media { data, media_type, name } => {
            left -= data.len();
            Block::Media { data, media_type, name }
        }
        block => block,
    });
    blocks.collect()
}

fn block(part: &Value) -> Block {
    let text = |name: &str| part.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    match part.get("type").and_then(Value::as_str) {
        Some("text") => Block::text(text("text")),
        Some("image" | "audio") => {
            Block::Media { media_type: text("mimeType"), data: text("data"), name: None }
        }
        Some("resource") => resource(part.get("resource").unwrap_or(&Value::Null)),
        Some("resource_link") => Block::text(format!("resource {} ({})", text("uri"), text("name"))),
        _ => Block::text(part.to_string()),
    }
}

fn resource(resource: &Value) -> Block {
    let text = |name: &str| resource.get(name).and_then(Value::as_str);
    match (text("text"), text("blob")) {
        (Some(found), _) => Block::text(found),
        (None, Some(data)) => Block::Media {
            media_type: text("mimeType").unwrap_or("application/octet-stream").to_owned(),
            data: data.to_owned(),
            name: text("uri").map(str::to_owned),
        },
        (None, None) => Block::text(resource.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_stay_texts_and_bytes_become_media_up_to_the_limit() {
        let blob = "A".repeat(MEDIA_LIMIT);
        let blocks = contents(&json!({ "contents": [
            { "uri": "a://1", "text": "one" },
            { "uri": "a://2", "mimeType": "image/png", "blob": blob },
            { "uri": "a://3", "mimeType": "image/png", "blob": "AAAA" },
        ] }));
        assert_eq!(blocks[0], Block::text("one"));
        assert!(matches!(&blocks[1], Block::Media { media_type, .. } if media_type == "image/png"));
        assert_eq!(blocks[2], Block::text("(image/png, about 3 bytes, too large to show)"));
    }
}

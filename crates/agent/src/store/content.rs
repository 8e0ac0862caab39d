//! Encodes blocks for the store: as JSON, complete up to limits.

use std::borrow::Cow;

use serde_json::Value;

use crate::message::{Block, Message, ToolCall, ToolResult};

/// Maximum size of a stored media block, in characters of base64 (32 MiB): more than providers accept in one request.
pub(super) const MAX_MEDIA: usize = 32 << 20;

/// Maximum nesting of arguments that are stored as JSON: JSON with more than 128 levels can't be read back, and
/// arguments are nested in a block.
const MAX_DEPTH: usize = 96;

/// An encoded block.
#[derive(Debug)]
pub(super) struct StoredBlock {
    /// The kind of block, as in its JSON.
    pub(super) kind: &'static str,
    /// Its JSON.
    pub(super) json: String,
}

/// The blocks of a message.
pub(super) fn blocks(message: &Message) -> Vec<StoredBlock> {
    let blocks = message.blocks.iter().map(|block| {
        let block = bounded(block);
        // These are texts, numbers and maps with texts as keys, so encoding them does not fail.
        StoredBlock { kind: kind(&block), json: serde_json::to_string(block.as_ref()).unwrap_or_default() }
    });
    blocks.collect()
}

fn kind(block: &Block) -> &'static str {
    match block {
        Block::Text { .. } => "text",
        Block::Thinking { .. } => "thinking",
        Block::Media { .. } => "media",
        Block::ToolCall(_) => "tool_call",
        Block::ToolResult(_) => "tool_result",
        Block::Summary { .. } => "summary",
    }
}

/// Replaces the parts of a block that exceed the limits.
fn bounded(block: &Block) -> Cow<'_, Block> {
    match block {
        Block::Media { media_type, data, name } if data.len() > MAX_MEDIA => {
            let name = name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
            Cow::Owned(Block::text(format!(
                "[{media_type}{name} of {} bytes was not stored: more than {} MiB]",
                data.len() / 4 * 3,
                MAX_MEDIA >> 20
            )))
        }
        Block::ToolResult(result) => {
            let kept: Vec<_> = result.blocks.iter().map(bounded).collect();
            if kept.iter().all(|block| matches!(block, Cow::Borrowed(_))) {
                return Cow::Borrowed(block);
            }
            let blocks = kept.into_iter().map(Cow::into_owned).collect();
            let (id, name) = (result.id.clone(), result.name.clone());
            Cow::Owned(Block::ToolResult(ToolResult { id, name, blocks, is_error: result.is_error }))
        }
        Block::ToolCall(call) if deeper(&call.arguments, MAX_DEPTH) => {
            Cow::Owned(Block::ToolCall(ToolCall {
                arguments: Value::String(call.arguments.to_string()),
                ..call.clone()
            }))
        }
        _ => Cow::Borrowed(block),
    }
}

/// Whether a value is nested more deeply than `levels`.
fn deeper(value: &Value, levels: usize) -> bool {
    let Some(left) = levels.checked_sub(1) else { return value.is_array() || value.is_object() };
    match value {
        Value::Array(items) => items.iter().any(|item| deeper(item, left)),
        Value::Object(members) => members.values().any(|member| deeper(member, left)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;

    fn kept(block: Block) -> Block {
        let message = Message { role: Role::User, blocks: vec![block] };
        serde_json::from_str(&blocks(&message)[0].json).unwrap()
    }

    fn media(length: usize) -> Block {
        Block::Media { media_type: "image/png".into(), data: "A".repeat(length), name: Some("x".into()) }
    }

    #[test]
    fn media_are_stored_up_to_a_limit_also_in_results() {
        assert_eq!(kept(media(MAX_MEDIA)), media(MAX_MEDIA));
        let note = Block::text("[image/png \"x\" of 25165824 bytes was not stored: more than 32 MiB]");
        assert_eq!(kept(media(MAX_MEDIA + 3)), note);
        let result = |blocks| {
            Block::ToolResult(ToolResult { id: "1".into(), name: "t".into(), blocks, is_error: true })
        };
        assert_eq!(
            kept(result(vec![Block::text("a"), media(MAX_MEDIA + 3)])),
            result(vec![Block::text("a"), note])
        );
    }

    #[test]
    fn deeply_nested_arguments_are_stored_as_text() {
        let nested = |levels| (0..levels).fold(Value::Null, |value, _| Value::Array(vec![value]));
        let call = |arguments| {
            Block::ToolCall(ToolCall { id: "1".into(), name: "t".into(), arguments, signatures: Vec::new() })
        };
        assert_eq!(kept(call(nested(MAX_DEPTH))), call(nested(MAX_DEPTH)));
        let text = nested(MAX_DEPTH + 1).to_string();
        assert_eq!(kept(call(nested(MAX_DEPTH + 1))), call(Value::String(text)));
    }
}

//! Blocks as they are kept: as JSON, whole up to bounds.

use std::borrow::Cow;

use serde_json::Value;

use crate::message::{Block, Message, ToolCall, ToolResult};

/// Most characters of a media block's base64 that are kept (32 MiB): more than providers take in one request.
pub(super) const LARGEST_MEDIA: usize = 32 << 20;

/// How deep arguments may nest to be kept as they are: JSON that nests deeper than 128 levels is not read back, and they
/// stand within a block.
const DEEPEST: usize = 96;

/// A block to be kept.
#[derive(Debug)]
pub(super) struct StoredBlock {
    /// The kind of block, as it stands in its JSON.
    pub(super) kind: &'static str,
    /// Its JSON.
    pub(super) json: String,
}

/// The blocks of a message.
pub(super) fn blocks(message: &Message) -> Vec<StoredBlock> {
    let blocks = message.blocks.iter().map(|block| {
        let block = bounded(block);
        // Texts, numbers and maps with texts as keys: writing them as JSON does not fail.
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
    }
}

/// A block without what is too much to be kept.
fn bounded(block: &Block) -> Cow<'_, Block> {
    match block {
        Block::Media { media_type, data, name } if data.len() > LARGEST_MEDIA => {
            let name = name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
            Cow::Owned(Block::text(format!(
                "[{media_type}{name} of {} bytes is not kept: more than {} MiB]",
                data.len() / 4 * 3,
                LARGEST_MEDIA >> 20
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
        Block::ToolCall(call) if deeper(&call.arguments, DEEPEST) => Cow::Owned(Block::ToolCall(ToolCall {
            arguments: Value::String(call.arguments.to_string()),
            ..call.clone()
        })),
        _ => Cow::Borrowed(block),
    }
}

/// Whether a value nests deeper than so many levels.
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
    fn media_are_whole_up_to_a_bound_also_within_results() {
        assert_eq!(kept(media(LARGEST_MEDIA)), media(LARGEST_MEDIA));
        let note = Block::text("[image/png \"x\" of 25165824 bytes is not kept: more than 32 MiB]");
        assert_eq!(kept(media(LARGEST_MEDIA + 3)), note);
        let result = |blocks| {
            Block::ToolResult(ToolResult { id: "1".into(), name: "t".into(), blocks, is_error: true })
        };
        assert_eq!(
            kept(result(vec![Block::text("a"), media(LARGEST_MEDIA + 3)])),
            result(vec![Block::text("a"), note])
        );
    }

    #[test]
    fn arguments_that_nest_too_deep_to_be_read_back_are_kept_as_text() {
        let nested = |levels| (0..levels).fold(Value::Null, |value, _| Value::Array(vec![value]));
        let call = |arguments| {
            Block::ToolCall(ToolCall { id: "1".into(), name: "t".into(), arguments, signatures: Vec::new() })
        };
        assert_eq!(kept(call(nested(DEEPEST))), call(nested(DEEPEST)));
        let text = nested(DEEPEST + 1).to_string();
        assert_eq!(kept(call(nested(DEEPEST + 1))), call(Value::String(text)));
    }
}

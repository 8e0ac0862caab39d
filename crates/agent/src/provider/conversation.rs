//! Converts a conversation to genai's form: what each API supports, and texts that replace what it does not.

use genai::chat::{Binary, CacheControl, ChatMessage, ContentPart, MessageContent, ToolResponse};
use serde_json::{Map, Value, json};

use crate::message::{Block, Message, Role, ToolCall, ToolResult};
use crate::settings::Api;

/// The text of an empty message: no API accepts one without text.
const NOTHING: &str = "(nothing)";

/// The prefix of the data of Anthropic's redacted thoughts.
const REDACTED: &str = "redacted:";

/// The messages, in order.
pub(super) fn messages(api: Api, conversation: &[Message]) -> Vec<ChatMessage> {
    let mut messages: Vec<ChatMessage> = conversation.iter().flat_map(|it| message(api, it)).collect();
    if api == Api::Anthropic {
        // The next request starts with all of this one: Anthropic caches up to the marked message.
        if let Some(last) = messages.pop() {
            messages.push(last.with_options(CacheControl::Ephemeral));
        }
    }
    messages
}

fn message(api: Api, message: &Message) -> Vec<ChatMessage> {
    match message.role {
        Role::User => {
            let mut parts: Vec<_> = message.blocks.iter().filter_map(|block| user_part(api, block)).collect();
            if parts.is_empty() {
                parts.push(ContentPart::from_text(NOTHING));
            }
            vec![ChatMessage::user(MessageContent::from_parts(parts))]
        }
        Role::Assistant => {
            let parts: Vec<_> = message.blocks.iter().flat_map(|block| assistant_parts(api, block)).collect();
            if parts.is_empty() {
                return Vec::new();
            }
            vec![ChatMessage::assistant(MessageContent::from_parts(parts))]
        }
        Role::Tool => results(api, message),
    }
}

/// A block of a user message.
fn user_part(api: Api, block: &Block) -> Option<ContentPart> {
    match block {
        Block::Text { text } => text_part(text),
        Block::Media { media_type, data, name } => Some(media(api, media_type, data, name.as_deref())),
        _ => None,
    }
}

/// A block of an assistant message: text, thoughts or a call.
fn assistant_parts(api: Api, block: &Block) -> Vec<ContentPart> {
    match block {
        Block::Text { text } => text_part(text).into_iter().collect(),
        Block::Thinking { text, signature } => thought(api, text, signature.as_deref()),
        Block::ToolCall(call) => vec![ContentPart::ToolCall(genai::chat::ToolCall {
            call_id: id(api, &call.id),
            fn_name: call.name.clone(),
            fn_arguments: arguments(call),
            thought_signatures: signatures(api, call),
        })],
        _ => Vec::new(),
    }
}

fn text_part(text: &str) -> Option<ContentPart> {
    (!text.trim().is_empty()).then(|| ContentPart::from_text(text))
}

/// A thought is returned unchanged to the API that sent it; others can't use it.
fn thought(api: Api, text: &str, signature: Option<&str>) -> Vec<ContentPart> {
    let Some(signature) = signature.and_then(|signature| unmarked(api, signature)) else { return Vec::new() };
    match api {
        Api::Anthropic => {
            let block = match signature.strip_prefix(REDACTED) {
                Some(data) => json!({ "type": "redacted_thinking", "data": data }),
                None => json!({ "type": "thinking", "thinking": text, "signature": signature }),
            };
            vec![ContentPart::from_custom(block, None)]
        }
        Api::OpenAi => vec![ContentPart::ReasoningContent(text.to_owned())],
        Api::OpenAiResponses | Api::Gemini => vec![ContentPart::ThoughtSignature(signature.to_owned())],
    }
}

fn signatures(api: Api, call: &ToolCall) -> Option<Vec<String>> {
    let own = call.signatures.iter().filter_map(|signature| unmarked(api, signature));
    let own: Vec<_> = own.map(str::to_owned).collect();
    (!own.is_empty()).then_some(own)
}

/// Marks a signature with its API: a conversation may continue with another model.
pub(super) fn marked(api: Api, signature: &str) -> String {
    format!("{}:{signature}", api.name())
}

/// Marks the data of a redacted thought.
pub(super) fn marked_redacted(api: Api, data: &str) -> String {
    marked(api, &format!("{REDACTED}{data}"))
}

fn unmarked(api: Api, signature: &str) -> Option<&str> {
    signature.strip_prefix(api.name())?.strip_prefix(':')
}

/// Ids from other APIs may have characters that these two reject; their own ids don't change.
fn id(api: Api, id: &str) -> String {
    match api {
        Api::Anthropic | Api::OpenAiResponses => id
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' })
            .collect(),
        Api::OpenAi | Api::Gemini => id.to_owned(),
    }
}

/// APIs accept only objects; anything else that a model wrote is wrapped in one.
fn arguments(call: &ToolCall) -> Value {
    match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        Value::Null => Value::Object(Map::new()),
        other => json!({ "invalid_arguments": other }),
    }
}

/// The results of tools. Anthropic accepts media in results; for others they follow as a user message.
fn results(api: Api, message: &Message) -> Vec<ChatMessage> {
    let results = || {
        message.blocks.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(result),
            _ => None,
        })
    };
    if api == Api::Anthropic {
        let parts = results().map(|result| ContentPart::from_custom(anthropic(result), None));
        return vec![ChatMessage::tool(MessageContent::from_parts(parts.collect::<Vec<_>>()))];
    }
    let answers = results().map(|result| {
        let text = answer(result);
        let answer = ToolResponse::new(id(api, &result.id), text).with_fn_name(&result.name);
        ContentPart::ToolResponse(answer)
    });
    let mut messages = vec![ChatMessage::tool(MessageContent::from_parts(answers.collect::<Vec<_>>()))];
    let mut media_parts = Vec::new();
    for result in results() {
        let parts: Vec<_> = result
            .blocks
            .iter()
            .filter(|block| matches!(block, Block::Media { .. }))
            .filter_map(|block| user_part(api, block))
            .collect();
        if !parts.is_empty() {
            let line = format!("Media returned by the call {} of the tool {}:", result.id, result.name);
            media_parts.push(ContentPart::from_text(line));
            media_parts.extend(parts);
        }
    }
    if !media_parts.is_empty() {
        messages.push(ChatMessage::user(MessageContent::from_parts(media_parts)));
    }
    messages
}

/// The text of a result, marked as an error if the tool failed.
fn answer(result: &ToolResult) -> String {
    let text = result.texts();
    let has_media = result.blocks.iter().any(|block| matches!(block, Block::Media { .. }));
    let text = match text.trim() {
        "" if has_media => "(see the media below)".to_owned(),
        "" => NOTHING.to_owned(),
        _ => text,
    };
    if result.is_error { format!("Error: {text}") } else { text }
}

/// A result in Anthropic's form, including images and documents.
fn anthropic(result: &ToolResult) -> Value {
    let blocks = result.blocks.iter().filter_map(|block| match block {
        Block::Text { text } if !text.trim().is_empty() => Some(json!({ "type": "text", "text": text })),
        Block::Media { media_type, data, name } => Some(match supports(Api::Anthropic, media_type) {
            true => {
                let kind = if media_type.starts_with("image/") { "image" } else { "document" };
                let source = json!({ "type": "base64", "media_type": media_type, "data": data });
                json!({ "type": kind, "source": source })
            }
            false => json!({ "type": "text", "text": left_out(media_type, name.as_deref()) }),
        }),
        _ => None,
    });
    let mut blocks: Vec<Value> = blocks.collect();
    if blocks.is_empty() {
        blocks.push(json!({ "type": "text", "text": NOTHING }));
    }
    json!({
        "type": "tool_result",
        "tool_use_id": id(Api::Anthropic, &result.id),
        "content": blocks,
        "is_error": result.is_error,
    })
}

fn media(api: Api, media_type: &str, data: &str, name: Option<&str>) -> ContentPart {
    if !supports(api, media_type) {
        return ContentPart::from_text(left_out(media_type, name));
    }
    // OpenAI requires names for files.
    let name = name.unwrap_or(if media_type == "application/pdf" { "document.pdf" } else { "media" });
    ContentPart::Binary(Binary::from_base64(media_type, data, Some(name.to_owned())))
}

fn left_out(media_type: &str, name: Option<&str>) -> String {
    let name = name.map(|name| format!(" {name:?}")).unwrap_or_default();
    format!("[Content of the type {media_type}{name} was left out: the model's API does not support it.]")
}

/// Whether an API supports a media type, according to its documentation.
fn supports(api: Api, media_type: &str) -> bool {
    let (kind, subtype) = media_type.split_once('/').unwrap_or((media_type, ""));
    match (api, kind, subtype) {
        (Api::Gemini, "image", "gif") => false,
        (Api::Gemini, "image", "heic" | "heif") => true,
        (_, "image", "png" | "jpeg" | "webp" | "gif") | (_, "application", "pdf") => true,
        (Api::OpenAi, "audio", "wav" | "mp3" | "mpeg") | (Api::Gemini, "audio" | "video", _) => true,
        _ => false,
    }
}

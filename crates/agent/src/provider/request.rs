//! Builds a request in genai's form, including the parts of each API's body that genai does not cover.

use std::sync::Arc;

use genai::chat::{ChatOptions, ChatRequest, ReasoningEffort};
use serde_json::{Map, Value, json};

use super::conversation;
use super::stream_events::StreamEvents;
use crate::model::Request;
use crate::settings::{Api, ModelSettings, Thinking};
use crate::toolset::ToolDefinition;

/// Up to this number of tokens, thinking is low, for APIs that support only levels.
const LOW_THINKING: u32 = 2_048;

/// Up to this number of tokens, thinking is medium.
const MEDIUM_THINKING: u32 = 12_000;

/// The minimum number of tokens for thinking in Gemini's large models, which can't turn it off.
const MIN_THINKING: u32 = 128;

/// The messages of the request; its tools are in the options.
pub(super) fn chat(settings: &ModelSettings, request: &Request<'_>) -> ChatRequest {
    let chat = ChatRequest::new(conversation::messages(settings.api, request.messages));
    if request.system.trim().is_empty() { chat } else { chat.with_system(request.system) }
}

/// The options of the request: generation, tools, and the parts of the reply to capture.
pub(super) fn options(
    settings: &ModelSettings,
    tools: &[ToolDefinition],
    frames: Arc<StreamEvents>,
) -> ChatOptions {
    let generation = &settings.generation;
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_content(true)
        .with_capture_tool_calls(true)
        .with_capture_reasoning_content(settings.api != Api::Gemini || thinks(settings))
        .with_stop_sequences(generation.stop_sequences.clone())
        .with_extra_body(Value::Object(body(settings, tools)))
        .with_raw_frame_sink_arc(frames);
    options.temperature = generation.temperature;
    options.top_p = generation.top_p;
    options.seed = generation.seed;
    options.max_tokens = settings.max_output;
    options.reasoning_effort = effort(settings);
    options
}

/// Members that are sent unchanged: tools under their own names (genai takes some for the provider's own), the model's
/// id (genai reads efforts from its end), and the user's extra members.
fn body(settings: &ModelSettings, tools: &[ToolDefinition]) -> Map<String, Value> {
    let mut body = Map::new();
    if !tools.is_empty() {
        let declared: Vec<_> = tools.iter().map(|tool| declaration(settings.api, tool)).collect();
        let declared = match settings.api {
            Api::Gemini => json!([{ "functionDeclarations": declared }]),
            _ => Value::Array(declared),
        };
        body.insert("tools".to_owned(), declared);
    }
    if settings.api != Api::Gemini {
        body.insert("model".to_owned(), Value::String(settings.id.clone()));
    }
    if settings.api == Api::OpenAiResponses {
        responses(settings, &mut body);
    }
    body.extend(settings.generation.extra.clone());
    body
}

/// Responses models without thinking reject requests for thoughts, so those members are removed for them. Summaries are
/// requested in the form that all thinking models support.
fn responses(settings: &ModelSettings, body: &mut Map<String, Value>) {
    if !thinks(settings) {
        body.insert("reasoning".to_owned(), Value::Null);
        body.insert("include".to_owned(), Value::Null);
        return;
    }
    let mut reasoning = json!({ "summary": "auto" });
    if let Some(level) = settings.thinking.map(|thinking| level(thinking, "none")) {
        reasoning["effort"] = json!(level);
    }
    body.insert("reasoning".to_owned(), reasoning);
}

fn declaration(api: Api, tool: &ToolDefinition) -> Value {
    let ToolDefinition { name, description, input_schema } = tool;
    match api {
        Api::Anthropic => json!({ "name": name, "description": description, "input_schema": input_schema }),
        Api::OpenAi => json!({
            "type": "function",
            "function": { "name": name, "description": description, "parameters": input_schema },
        }),
        // The default makes every property required.
        Api::OpenAiResponses => json!({
            "type": "function",
            "name": name,
            "description": description,
            "parameters": input_schema,
            "strict": false,
        }),
        Api::Gemini => {
            json!({ "name": name, "description": description, "parametersJsonSchema": input_schema })
        }
    }
}

/// Whether thoughts are requested: if the settings say so, or the model is known to think.
fn thinks(settings: &ModelSettings) -> bool {
    let id = settings.id.rsplit('/').next().unwrap_or_default();
    let begins = |names: &[&str]| names.iter().any(|name| id.starts_with(name));
    match (settings.thinking, settings.api) {
        (Some(Thinking::Off), Api::Gemini) => false,
        (Some(_), _) => true,
        (None, Api::Gemini) => begins(&["gemini-2.5", "gemini-3"]),
        (None, _) => begins(&["o1", "o3", "o4", "gpt-5", "gpt-6", "codex"]) && !id.contains("chat"),
    }
}

/// The thinking effort in genai's form. Without a setting it returns a value that adds nothing to the request, so that
/// genai does not look for an effort at the end of the model's name.
fn effort(settings: &ModelSettings) -> Option<ReasoningEffort> {
    let Some(thinking) = settings.thinking else {
        return match settings.api {
            Api::OpenAi | Api::OpenAiResponses => Some(ReasoningEffort::Budget(0)),
            Api::Gemini => Some(ReasoningEffort::Zero),
            Api::Anthropic => ReasoningEffort::from_model_name(&settings.id).0.map(|_| ReasoningEffort::Zero),
        };
    };
    let by_level = settings.api == Api::OpenAi
        || settings.api == Api::OpenAiResponses
        || settings.id.contains("gemini-3")
        || settings.id.contains("gemma-4");
    Some(match thinking {
        Thinking::Off if settings.api == Api::Gemini => match (by_level, settings.id.contains("pro")) {
            (true, true) => ReasoningEffort::Low,
            (true, false) => ReasoningEffort::Minimal,
            (false, true) => ReasoningEffort::Budget(MIN_THINKING),
            (false, false) => ReasoningEffort::Budget(0),
        },
        Thinking::Off => ReasoningEffort::Zero,
        Thinking::Tokens(tokens) if !by_level => ReasoningEffort::Budget(tokens),
        other => match level(other, "low") {
            "low" => ReasoningEffort::Low,
            "medium" => ReasoningEffort::Medium,
            _ => ReasoningEffort::High,
        },
    })
}

fn level(thinking: Thinking, off: &'static str) -> &'static str {
    match thinking {
        Thinking::Off => off,
        Thinking::Low => "low",
        Thinking::Medium => "medium",
        Thinking::High => "high",
        Thinking::Tokens(tokens) if tokens <= LOW_THINKING => "low",
        Thinking::Tokens(tokens) if tokens <= MEDIUM_THINKING => "medium",
        Thinking::Tokens(_) => "high",
    }
}

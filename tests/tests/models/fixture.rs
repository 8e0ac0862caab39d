//! A scripted model, and a log of its streamed output.

use std::time::Duration;

use agent::{
    Api, ChatModel as _, Delta, DeltaSink, Message, ModelError, ModelSettings, Provider, Reply, Request,
    Role, ToolDefinition,
};
pub(crate) use end_to_end::checks::watched;
use end_to_end::models::ModelServer;
use parking_lot::Mutex;
use serde_json::{Value, json};

/// All APIs with a model that thinks.
pub(crate) const APIS: [(Api, &str); 4] = [
    (Api::Anthropic, "claude-sonnet-4-5"),
    (Api::OpenAi, "deepseek-reasoner"),
    (Api::OpenAiResponses, "gpt-5"),
    (Api::Gemini, "gemini-2.5-pro"),
];

/// Polling interval.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

pub(crate) fn server(script: &Value) -> ModelServer {
    let arguments = ["--key", "secret-key"];
    ModelServer::start_with(env!("CARGO_BIN_EXE_model-server"), script, &arguments)
}

/// One rule for all requests, with these answers in order.
pub(crate) fn always(answers: &Value) -> Value {
    json!({ "rules": [{ "answers": answers }] })
}

/// The streamed parts of a reply, and its retries.
#[derive(Debug, Default)]
pub(crate) struct Log(Mutex<LogEntries>);

#[derive(Debug, Default)]
struct LogEntries {
    text: String,
    thinking: String,
    retries: Vec<(u32, Duration, String)>,
}

impl DeltaSink for Log {
    fn delta(&self, delta: Delta<'_>) {
        let LogEntries { text, thinking, retries } = &mut *self.0.lock();
        match delta {
            Delta::Text(more) => text.push_str(more),
            Delta::Thinking(more) => thinking.push_str(more),
            Delta::Retry { attempt, wait, why } => {
                // The failed attempt's output does not count.
                text.clear();
                thinking.clear();
                retries.push((attempt, wait, why.to_owned()));
            }
        }
    }
}

impl Log {
    pub(crate) fn text(&self) -> String {
        self.0.lock().text.clone()
    }

    pub(crate) fn thinking(&self) -> String {
        self.0.lock().thinking.clone()
    }

    /// The failed attempts, with delay and reason.
    pub(crate) fn retries(&self) -> Vec<(u32, Duration, String)> {
        self.0.lock().retries.clone()
    }
}

pub(crate) fn user(text: &str) -> Message {
    Message::text(Role::User, text)
}

/// A tool that the scripts call.
pub(crate) fn tool() -> ToolDefinition {
    ToolDefinition {
        // Some providers have their own tool with this name.
        name: "web_search".to_owned(),
        description: "Searches.".to_owned(),
        input_schema: json!({ "type": "object", "properties": { "query": { "type": "string" } } }),
    }
}

pub(crate) async fn ask(
    settings: ModelSettings,
    messages: &[Message],
    heard: &Log,
) -> Result<Reply, ModelError> {
    let tools = [tool()];
    let request = Request { system: "Be short.", messages, tools: &tools };
    let provider = Provider::new(settings).unwrap();
    watched(provider.reply(&request, heard)).await
}

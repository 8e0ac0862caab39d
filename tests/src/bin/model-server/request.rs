//! A request as the script sees it, for every API.

use axum::http::Uri;
use serde_json::Value;

/// A wire format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

impl Api {
    /// Detects the API by the end of the path, and whether to stream if the path says so.
    pub(crate) fn of(uri: &Uri) -> Option<(Api, Option<bool>)> {
        let path = uri.path();
        match path.rsplit_once(':') {
            Some((_, "streamGenerateContent")) => return Some((Api::Gemini, Some(true))),
            Some((_, "generateContent")) => return Some((Api::Gemini, Some(false))),
            _ => {}
        }
        let ends =
            [("/chat/completions", Api::Chat), ("/responses", Api::Responses), ("/messages", Api::Anthropic)];
        ends.iter().find(|(end, _)| path.ends_with(end)).map(|(_, api)| (*api, None))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Api::Anthropic => "anthropic",
            Api::Chat => "openai",
            Api::Responses => "openai-responses",
            Api::Gemini => "gemini",
        }
    }
}

/// A request.
pub(crate) struct ModelRequest {
    pub(crate) api: Api,
    pub(crate) streams: bool,
    pub(crate) body: Value,
    pub(crate) model: String,
    pub(crate) system: String,
    /// The user's last message with text.
    pub(crate) user: String,
    pub(crate) first_user: String,
    /// The number of the model's messages.
    pub(crate) turn: usize,
    /// Tools and texts of the results at the end of the conversation; empty if the last message is the user's.
    pub(crate) results: Vec<(String, String)>,
    pub(crate) tools: Vec<String>,
}

/// A message by its author.
enum Turn {
    User(String),
    Model,
    Result(String, String),
}

impl ModelRequest {
    pub(crate) fn new(api: Api, streams: Option<bool>, uri: &Uri, body: Value) -> Self {
        let turns = match api {
            Api::Anthropic => anthropic(&body),
            Api::Chat => chat(&body),
            Api::Responses => responses(&body),
            Api::Gemini => gemini(&body),
        };
        let mut request = ModelRequest {
            api,
            streams: streams.unwrap_or(body["stream"] == true),
            model: model(api, uri, &body),
            system: system(api, &body),
            tools: tools(api, &body),
            user: String::new(),
            first_user: String::new(),
            turn: 0,
            results: Vec::new(),
            body,
        };
        let mut spoke = false;
        for turns in turns {
            let speaks = matches!(turns, Turn::Model);
            match turns {
                // Media of results, which the API cannot hold in the results themselves.
                Turn::User(text) if text.starts_with("Media returned by the call ") => {}
                Turn::User(text) => {
                    if request.first_user.is_empty() {
                        request.first_user.clone_from(&text);
                    }
                    request.user = text;
                    request.results.clear();
                }
                // Thoughts, text and calls of one message may be several items.
                Turn::Model if spoke => {}
                Turn::Model => {
                    request.turn += 1;
                    request.results.clear();
                }
                Turn::Result(tool, text) => request.results.push((tool, text)),
            }
            spoke = speaks;
        }
        request
    }

    pub(crate) fn result(&self) -> &str {
        self.results.last().map(|(_, text)| text.as_str()).unwrap_or_default()
    }

    pub(crate) fn result_of(&self) -> &str {
        self.results.last().map(|(tool, _)| tool.as_str()).unwrap_or_default()
    }
}

/// The items of an array; empty for other values.
pub(crate) fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A text, or the texts of parts.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => {
            let texts = items(parts).iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
    }
}

fn model(api: Api, uri: &Uri, body: &Value) -> String {
    match api {
        Api::Gemini => {
            let name = uri.path().rsplit_once("/models/").map(|(_, name)| name).unwrap_or_default();
            name.split(':').next().unwrap_or_default().to_owned()
        }
        _ => text(&body["model"]).to_owned(),
    }
}

fn system(api: Api, body: &Value) -> String {
    match api {
        Api::Anthropic => texts(&body["system"]),
        Api::Chat => {
            let found = items(&body["messages"]).iter().find(|message| message["role"] == "system");
            found.map(|message| texts(&message["content"])).unwrap_or_default()
        }
        Api::Responses => text(&body["instructions"]).to_owned(),
        Api::Gemini => texts(&body["systemInstruction"]["parts"]),
    }
}

fn tools(api: Api, body: &Value) -> Vec<String> {
    let tools = items(&body["tools"]).iter();
    let names: Vec<&Value> = match api {
        Api::Chat => tools.map(|tool| &tool["function"]["name"]).collect(),
        Api::Anthropic => tools.map(|tool| &tool["name"]).collect(),
        // Tools may be in a namespace, or in the conversation.
        Api::Responses => {
            let added = items(&body["input"]).iter().filter(|item| item["type"] == "additional_tools");
            tools
                .chain(added.flat_map(|item| items(&item["tools"])))
                .flat_map(|tool| {
                    if tool["tools"].is_array() { items(&tool["tools"]) } else { std::slice::from_ref(tool) }
                })
                .map(|tool| &tool["name"])
                .collect()
        }
        Api::Gemini => {
            tools.flat_map(|tool| items(&tool["functionDeclarations"])).map(|tool| &tool["name"]).collect()
        }
    };
    names.into_iter().map(|name| text(name).to_owned()).collect()
}

fn anthropic(body: &Value) -> Vec<Turn> {
    let messages = items(&body["messages"]);
    let name = |id: &Value| {
        let parts = messages.iter().flat_map(|message| items(&message["content"]));
        let call = parts.filter(|part| part["type"] == "tool_use").find(|part| part["id"] == *id);
        call.map(|call| text(&call["name"]).to_owned()).unwrap_or_default()
    };
    let mut turns = Vec::new();
    for message in messages {
        if message["role"] == "assistant" {
            turns.push(Turn::Model);
            continue;
        }
        let results = items(&message["content"]).iter().filter(|part| part["type"] == "tool_result");
        turns.extend(results.map(|it| Turn::Result(name(&it["tool_use_id"]), texts(&it["content"]))));
        let text = texts(&message["content"]);
        if !text.is_empty() {
            turns.push(Turn::User(text));
        }
    }
    turns
}

fn chat(body: &Value) -> Vec<Turn> {
    let messages = items(&body["messages"]);
    let name = |id: &Value| {
        let mut calls = messages.iter().flat_map(|message| items(&message["tool_calls"]));
        let call = calls.find(|call| call["id"] == *id);
        call.map(|call| text(&call["function"]["name"]).to_owned()).unwrap_or_default()
    };
    let turns = messages.iter().filter_map(|message| match text(&message["role"]) {
        "user" => Some(Turn::User(texts(&message["content"]))),
        "assistant" => Some(Turn::Model),
        "tool" => Some(Turn::Result(name(&message["tool_call_id"]), texts(&message["content"]))),
        _ => None,
    });
    turns.collect()
}

fn responses(body: &Value) -> Vec<Turn> {
    let input = items(&body["input"]);
    let name = |id: &Value| {
        let mut calls = input.iter().filter(|item| item["type"] == "function_call");
        let call = calls.find(|call| call["call_id"] == *id);
        call.map(|call| text(&call["name"]).to_owned()).unwrap_or_default()
    };
    let turns = input.iter().filter_map(|item| match (text(&item["type"]), text(&item["role"])) {
        ("function_call_output", _) => Some(Turn::Result(name(&item["call_id"]), texts(&item["output"]))),
        ("reasoning" | "function_call", _) | (_, "assistant") => Some(Turn::Model),
        (_, "user") => Some(Turn::User(texts(&item["content"]))),
        _ => None,
    });
    turns.collect()
}

fn gemini(body: &Value) -> Vec<Turn> {
    let mut turns = Vec::new();
    for content in items(&body["contents"]) {
        if content["role"] == "model" {
            turns.push(Turn::Model);
            continue;
        }
        for part in items(&content["parts"]) {
            let response = &part["functionResponse"];
            if response.is_object() {
                let result = match &response["response"]["content"] {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                };
                turns.push(Turn::Result(text(&response["name"]).to_owned(), result));
            }
        }
        let text = texts(&content["parts"]);
        if !text.is_empty() {
            turns.push(Turn::User(text));
        }
    }
    turns
}

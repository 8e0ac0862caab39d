//! `toolsmith mcp serve` from end to end: the real binary, real servers, and a scripted model behind a real API.

mod answers;
mod ending;
mod fan_out;
mod levels;
mod limits;
mod logs;
mod start;
mod tools;
mod typical;

use end_to_end::models::ModelServer;
use serde_json::{Value, json};

use crate::serving::{Serve, Server};

/// The name of the subagent.
const NAME: &str = "helper";

/// A scripted model.
pub(crate) fn model(rules: &Value) -> ModelServer {
    ModelServer::start(env!("CARGO_BIN_EXE_model-server"), &json!({ "rules": rules }))
}

/// A configuration of a subagent with this model and further settings.
pub(crate) fn described(model: &ModelServer, of_subagent: &str, more: &str) -> String {
    format!(
        "models:\n  - {{ ref: scripted, id: scripted, type: openai, api_key_env: SCRIPTED_KEY, base_url: {:?}, retries: 2 }}\n\
         subagent: {{ name: {NAME}, description: It helps.{of_subagent} }}\n{more}",
        model.base_url()
    )
}

/// A subagent with this model, over pipes, after the handshake.
fn serving(model: &ModelServer, of_subagent: &str, more: &str) -> Server {
    let mut server = Serve::subagent(&described(model, of_subagent, more)).start();
    server.shake_hands();
    server
}

/// The parameters of a call.
pub(crate) fn task(prompt: &str) -> Value {
    json!({ "name": NAME, "arguments": { "prompt": prompt } })
}

/// The text of a result.
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer:#}"))
}

/// The text of a result that reports a failed subagent.
#[track_caller]
fn failure(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer:#}");
    text(answer)
}

//! Scripted models, and the subagents that they drive.

#![allow(clippy::unwrap_used, missing_docs, reason = "only tests use it")]

use serde_json::{Value, json};

use crate::harness::MODEL_SERVER;
use crate::models::ModelServer;

/// The name of the subagent.
pub const NAME: &str = "helper";

/// A scripted model.
pub fn model(rules: &Value) -> ModelServer {
    ModelServer::start(&MODEL_SERVER.path(), &json!({ "rules": rules }))
}

/// A configuration of a subagent with this model and further settings.
pub fn described(model: &ModelServer, of_subagent: &str, more: &str) -> String {
    format!(
        "models:\n  - {{ ref: scripted, id: scripted, type: openai, api_key_env: SCRIPTED_KEY, base_url: {:?}, retries: 2 }}\n\
         subagent: {{ name: {NAME}, description: It helps.{of_subagent} }}\n{more}",
        model.base_url()
    )
}

/// The parameters of a call.
pub fn task(prompt: &str) -> Value {
    json!({ "name": NAME, "arguments": { "prompt": prompt } })
}

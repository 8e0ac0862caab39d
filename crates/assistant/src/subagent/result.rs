//! The result for the caller of a subagent: MCP's `CallToolResult`.

use agent::Answer;
use gateway::permission::FLOWS_META;
use serde_json::{Value, json};
use server::session::ClientSession;

use super::reporter::RunCounts;

/// The member of `_meta` with the id of the run and its cost.
const RUN: &str = "io.toolsmith/run";

/// The result of a run with an answer.
pub(super) fn answered(answer: &Answer) -> Value {
    match &answer.structured {
        // Repeated as text for clients without structured results (MCP, server/tools, "Structured Content").
        Some(structured) => json!({
            "content": [{ "type": "text", "text": structured.to_string() }],
            "structuredContent": structured,
            "isError": false,
        }),
        None => json!({ "content": [{ "type": "text", "text": answer.text }], "isError": false }),
    }
}

/// The answer as text.
pub(super) fn text(answer: &Answer) -> String {
    answer.structured.as_ref().map_or_else(|| answer.text.clone(), Value::to_string)
}

/// Adds the run's id and counters to a result, and the labels of what the run's `client` has received.
pub(super) fn of_run(mut result: Value, run: &str, done: RunCounts, client: Option<&ClientSession>) -> Value {
    result["_meta"] = json!({
        RUN: {
            "id": run,
            "turns": done.turns,
            "tokenUsage": {
                "input": done.usage.input, "output": done.usage.output, "cached": done.usage.cached,
            },
        },
    });
    let labels = client.map(ClientSession::flow_labels).filter(|labels| !labels.is_empty());
    if let Some(labels) = labels {
        result["_meta"][FLOWS_META] = json!(labels);
    }
    result
}

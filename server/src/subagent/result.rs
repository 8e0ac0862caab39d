//! What the caller of a subagent gets: MCP's `CallToolResult`.

use agent::Answer;
use serde_json::{Value, json};

use super::reporter::RunCounts;

/// The member of `_meta` with the name of the run and what it cost.
const RUN: &str = "io.toolsmith/run";

/// The result of a run that has an answer.
pub(super) fn answered(answer: &Answer) -> Value {
    match &answer.structured {
        // The same as text, for clients that know no structured results (MCP, server/tools, "Structured Content").
        Some(structured) => json!({
            "content": [{ "type": "text", "text": structured.to_string() }],
            "structuredContent": structured,
            "isError": false,
        }),
        None => json!({ "content": [{ "type": "text", "text": answer.text }], "isError": false }),
    }
}

/// What an answer says, for people.
pub(super) fn said(answer: &Answer) -> String {
    answer.structured.as_ref().map_or_else(|| answer.text.clone(), Value::to_string)
}

/// A result that says which run it comes of.
pub(super) fn of_run(mut result: Value, run: &str, done: RunCounts) -> Value {
    result["_meta"] = json!({
        RUN: {
            "id": run,
            "turns": done.turns,
            "tokenUsage": {
                "input": done.usage.input, "output": done.usage.output, "cached": done.usage.cached,
            },
        },
    });
    result
}

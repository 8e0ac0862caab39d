//! Modes that count their calls or sessions in a file, so that all their processes count together.

use std::fs::OpenOptions;
use std::io::{self, Write};

use serde_json::{Value, json};

use crate::server::{text_result, tool};
use crate::{silence, with};

/// Adds one to the count in a file; returns the new count.
fn count(file: &str) -> io::Result<usize> {
    OpenOptions::new().create(true).append(true).open(file)?.write_all(b"+")?;
    Ok(std::fs::read(file)?.len())
}

/// Each call of its tools, `get_count` (read-only) and `next_count`, returns the number of calls so far; with the
/// message `fail`, as an error.
pub(crate) fn counts(state: &str) -> io::Result<()> {
    let state = state.to_owned();
    let mut get = tool("get_count");
    get["annotations"] = json!({ "readOnlyHint": true });
    let tools = json!({ "tools": [get, tool("next_count")] });
    with(|faults| {
        faults.list = Some(Box::new(move |_| Ok(Some(json!({ "result": tools })))));
        faults.call = Some(Box::new(move |request| {
            let mut result = text_result(&count(&state)?.to_string());
            let message = request["params"]["arguments"]["message"].as_str().unwrap_or_default();
            result["isError"] = json!(message == "fail");
            Ok(Some(json!({ "result": result })))
        }));
    })
    .serve()
}

/// The first session never answers a ping; later sessions do. Counts its sessions in a file.
pub(crate) fn silent_ping(state: &str) -> io::Result<()> {
    let is_first = count(state)? == 1;
    with(|faults| {
        faults.other = Some(if is_first {
            silence()
        } else {
            Box::new(|request: &Value| {
                let answer = json!({ "result": {} });
                let unknown = json!({ "error": { "code": -32601, "message": "method not found" } });
                Ok(Some(if request["method"] == "ping" { answer } else { unknown }))
            })
        });
    })
    .serve()
}

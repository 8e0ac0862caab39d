//! A minimal MCP server over lines of JSON, with hooks for faults.

use std::io::{self, BufRead, Write};

use serde_json::{Value, json};

/// Returns the members `result` or `error` of the response, or `None` for no response.
pub(crate) type Reply = Box<dyn FnMut(&Value) -> io::Result<Option<Value>>>;

/// Observes a notification.
pub(crate) type Notice = Box<dyn FnMut(&Value) -> io::Result<()>>;

/// Observes a line.
pub(crate) type Line = Box<dyn FnMut(&str) -> io::Result<()>>;

/// Replacements for the correct answers.
#[derive(Default)]
pub(crate) struct Faults {
    pub(crate) initialize: Option<Reply>,
    pub(crate) list: Option<Reply>,
    pub(crate) call: Option<Reply>,
    /// Answers every other method.
    pub(crate) other: Option<Reply>,
}

/// The server; without faults it is correct and has one tool, `echo`.
#[derive(Default)]
pub(crate) struct Server {
    pub(crate) faults: Faults,
    pub(crate) on_notification: Option<Notice>,
    /// Called with each line before it is parsed.
    pub(crate) on_line: Option<Line>,
    /// Stop after receiving this method.
    pub(crate) stop_after: Option<&'static str>,
    /// Answer with ids as strings.
    pub(crate) ids_as_text: bool,
    /// Write [`HALF`] as a lone surrogate.
    pub(crate) halves: bool,
}

/// Placeholder for a lone surrogate, which no Rust string can hold.
pub(crate) const HALF: &str = "{half}";

impl Server {
    /// Serves until the end of the input.
    pub(crate) fn serve(mut self) -> io::Result<()> {
        for line in io::stdin().lock().lines() {
            let line = line?;
            if let Some(note) = &mut self.on_line {
                note(&line)?;
            }
            let message: Value = serde_json::from_str(&line)?;
            if message.get("id").is_some() {
                self.answer(&message)?;
            } else if let Some(notice) = &mut self.on_notification {
                notice(&message)?;
            }
            if self.stop_after.is_some_and(|method| message["method"] == method) {
                break;
            }
        }
        Ok(())
    }

    fn answer(&mut self, request: &Value) -> io::Result<()> {
        let fault = match request["method"].as_str() {
            Some("initialize") => &mut self.faults.initialize,
            Some("tools/list") => &mut self.faults.list,
            Some("tools/call") => &mut self.faults.call,
            _ => &mut self.faults.other,
        };
        let answer = match fault {
            Some(reply) => reply(request)?,
            None => Some(sound(request)),
        };
        let Some(mut answer) = answer else {
            return Ok(());
        };
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = match &request["id"] {
            id if self.ids_as_text => json!(id.to_string()),
            id => id.clone(),
        };
        if self.halves {
            return write(&halved(&answer));
        }
        send(&answer)
    }
}

fn sound(request: &Value) -> Value {
    match request["method"].as_str() {
        Some("initialize") => json!({ "result": initialize_result() }),
        Some("tools/list") => json!({ "result": { "tools": [tool("echo")] } }),
        Some("tools/call") => json!({ "result": echo(request) }),
        _ => json!({ "error": { "code": -32601, "message": "method not found" } }),
    }
}

/// Writes one message.
pub(crate) fn send(message: &Value) -> io::Result<()> {
    write(&message.to_string())
}

/// The text of a message, with lone surrogates.
pub(crate) fn halved(message: &Value) -> String {
    message.to_string().replace(HALF, "\\ud83d")
}

/// Writes one line.
pub(crate) fn write(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(line.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()
}

/// The correct answer to `initialize`.
pub(crate) fn initialize_result() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "fault-server", "version": "1.0.0" },
        "instructions": "Expect the worst."
    })
}

/// A valid tool with this name that takes a message.
pub(crate) fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "A tool of the fault server.",
        "inputSchema": { "type": "object", "properties": { "message": { "type": "string" } } }
    })
}

/// A result with one text block.
pub(crate) fn text_result(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// The correct answer to a call: its message.
pub(crate) fn echo(request: &Value) -> Value {
    text_result(request["params"]["arguments"]["message"].as_str().unwrap_or_default())
}

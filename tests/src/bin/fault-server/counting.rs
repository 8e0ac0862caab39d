//! Modes that count their calls or sessions in a file, so that all their processes count together.

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::{self, Seek, Write};
use std::rc::Rc;

use serde_json::{Value, json};

use crate::server::{initialize_result, send, text_result, tool};
use crate::talkative;
use crate::{always, silence, with};

/// Adds one to the count in a file; returns the new count, which no other process gets: an append moves the position
/// behind its own byte.
fn count(file: &str) -> io::Result<u64> {
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(b"+")?;
    file.stream_position()
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

fn pong() -> Value {
    json!({ "result": {} })
}

fn unknown() -> Value {
    json!({ "error": { "code": -32601, "message": "method not found" } })
}

/// The first session never answers a ping; later sessions do. Counts its sessions in a file.
pub(crate) fn silent_ping(state: &str) -> io::Result<()> {
    let is_first = count(state)? == 1;
    with(|faults| {
        faults.other = Some(if is_first {
            silence()
        } else {
            Box::new(|request: &Value| Ok(Some(if request["method"] == "ping" { pong() } else { unknown() })))
        });
    })
    .serve()
}

/// Counts its initialisations in a file. Its tool `session` returns the number of this session, and how many calls it
/// has answered.
pub(crate) fn sessions(state: &str) -> io::Result<()> {
    let state = state.to_owned();
    let session = Rc::new(Cell::new(0));
    let opened = session.clone();
    let mut calls = 0;
    with(|faults| {
        faults.initialize = Some(Box::new(move |_| {
            opened.set(count(&state)?);
            Ok(Some(json!({ "result": initialize_result() })))
        }));
        faults.list = Some(always(json!({ "tools": [tool("session")] })));
        faults.call = Some(Box::new(move |_| {
            calls += 1;
            let text = format!("session {} call {calls}", session.get());
            Ok(Some(json!({ "result": text_result(&text) })))
        }));
    })
    .serve()
}

/// A change of the list of tools of [`records_sessions`], and the time at which the server announces it. The flag is a
/// file with the suffix `.changed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    Never,
    /// It has the tool `late` as well after the first `tools/list`; announced at once.
    AfterListing,
    /// It has the tool `late` as well while there is the flag; announced before the answer to each ping.
    BeforePong,
    /// The arguments of `session` must have a message while there is the flag; never announced, nor declared.
    Silently,
    /// If there was the flag at the handshake, the first `tools/list` is refused.
    AfterRefusal,
}

/// Appends its process id and whether the client answers questions to a file for each `initialize`. Its tool `session`
/// returns the same and the number of calls in this process.
pub(crate) fn records_sessions(file: &str, change: Change) -> io::Result<()> {
    let flag = format!("{file}.changed");
    let file = file.to_owned();
    let (sessions, elicits) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
    let (seen, declared) = (sessions.clone(), elicits.clone());
    let is_flagged = move || fs::exists(&flag).unwrap_or(false);
    let (flagged, refuses) = (is_flagged.clone(), Rc::new(Cell::new(false)));
    let refused = refuses.clone();
    let mut lists = 0;
    let mut calls = 0;
    with(|faults| {
        faults.initialize = Some(Box::new(move |request| {
            seen.set(seen.get() + 1);
            declared.set(request["params"]["capabilities"]["elicitation"].is_object());
            refuses.set(change == Change::AfterRefusal && flagged());
            let line = format!("{} {}\n", std::process::id(), declared.get());
            OpenOptions::new().create(true).append(true).open(&file)?.write_all(line.as_bytes())?;
            let mut result = initialize_result();
            result["capabilities"]["tools"]["listChanged"] = json!(change != Change::Silently);
            Ok(Some(json!({ "result": result })))
        }));
        let flagged = is_flagged.clone();
        faults.list = Some(Box::new(move |request| {
            lists += 1;
            if refused.take() {
                return Ok(Some(json!({ "error": { "code": -32603, "message": "not ready" } })));
            }
            let mut tools = vec![tool("session")];
            if change == Change::Silently && flagged() {
                tools[0]["inputSchema"]["required"] = json!(["message"]);
            }
            if change == Change::AfterListing && lists > 1 || change == Change::BeforePong && flagged() {
                tools.push(tool("late"));
            }
            if change == Change::AfterListing && lists == 1 {
                // The notification follows the answer.
                send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "tools": tools } }))?;
                send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }))?;
                return Ok(None);
            }
            Ok(Some(json!({ "result": { "tools": tools } })))
        }));
        faults.other = Some(Box::new(move |request: &Value| {
            if request["method"] == "ping" && change == Change::BeforePong && is_flagged() {
                send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }))?;
            }
            Ok(Some(if request["method"] == "ping" { pong() } else { unknown() }))
        }));
        faults.call = Some(Box::new(move |_| {
            calls += 1;
            let (sessions, elicits) = (sessions.get(), elicits.get());
            let state = json!({
                "process": std::process::id(), "calls": calls, "sessions": sessions, "elicits": elicits,
            });
            Ok(Some(json!({ "result": text_result(&state.to_string()) })))
        }));
    })
    .serve()
}

/// Supports only the stateless protocol. Appends lines to a file: `discover` and `cancelled`, with its process id. Its
/// tool `process` returns that id, according to its message:
///
/// - `hold`: with the answers to all held calls, when `release` is called,
/// - `meet`: when two such calls wait,
/// - `ask`: after a question to the user, with the user's answer,
/// - `die`: never.
pub(crate) fn stateless_process(file: &str) -> io::Result<()> {
    let process = std::process::id();
    let note = |what: &str| {
        let line = format!("{what} {process}\n");
        OpenOptions::new().create(true).append(true).open(file)?.write_all(line.as_bytes())
    };
    let answer = |id: &Value, result: Value| send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    let (mut held, mut meeting): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    for line in io::stdin().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let params = &message["params"];
        let Some(id) = message.get("id") else {
            if message["method"] == "notifications/cancelled" {
                held.retain(|held| *held != params["requestId"]);
                note("cancelled")?;
            }
            continue;
        };
        let plain = || text_result(&process.to_string());
        match (message["method"].as_str(), params["arguments"]["message"].as_str()) {
            (Some("server/discover"), _) => {
                note("discover")?;
                answer(id, talkative::discovery())?;
            }
            (Some("tools/list"), _) => {
                answer(id, json!({ "resultType": "complete", "tools": [tool("process")] }))?;
            }
            (Some("tools/call"), Some("die")) => return Ok(()),
            (Some("tools/call"), Some("hold")) => {
                note("held")?;
                held.push(id.clone());
            }
            (Some("tools/call"), Some("release")) => {
                held.drain(..).try_for_each(|held| answer(&held, plain()))?;
                answer(id, plain())?;
            }
            (Some("tools/call"), Some("meet")) => {
                meeting.push(id.clone());
                if meeting.len() == 2 {
                    meeting.drain(..).try_for_each(|met| answer(&met, plain()))?;
                }
            }
            (Some("tools/call"), Some("ask")) => {
                let given = &params["inputResponses"]["name"]["content"]["name"];
                let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
                let form = json!({ "mode": "form", "message": "Who is it?", "requestedSchema": schema });
                let question = json!({ "name": { "method": "elicitation/create", "params": form } });
                let asked = json!({ "resultType": "input_required", "inputRequests": question });
                answer(id, given.as_str().map_or(asked, |name| text_result(&format!("{process} {name}"))))?;
            }
            (Some("tools/call"), _) => answer(id, plain())?,
            _ => {
                let error = json!({ "code": -32601, "message": "method not found" });
                send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
            }
        }
    }
    Ok(())
}

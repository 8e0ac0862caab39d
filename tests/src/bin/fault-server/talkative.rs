//! Modes that send requests, progress or change notifications to the client, or support only the newer protocol.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use crate::server::{self, Faults, Server, send, text_result, tool};

/// Sends the client a request with the method that a call's `message` names, and answers the call with the client's
/// response. An address after the method is one that the user should visit.
pub(crate) fn asks() -> io::Result<()> {
    let mut calls = Vec::new();
    for line in io::stdin().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message["id"] == "question" {
            let answer = text_result(&json!([message["result"], message["error"]["message"]]).to_string());
            if let Some(call) = calls.pop() {
                send(&json!({ "jsonrpc": "2.0", "id": call, "result": answer }))?;
            }
        } else if message["method"] == "tools/call" {
            calls.push(message["id"].clone());
            let words = message["params"]["arguments"]["message"].as_str().unwrap_or_default();
            let (method, address) = words.split_once(' ').unwrap_or((words, ""));
            let params = if address.is_empty() { question(method) } else { visit(address) };
            send(&json!({ "jsonrpc": "2.0", "id": "question", "method": method, "params": params }))?;
        } else if message["method"] == "initialize" {
            let mut result = server::initialize_result();
            result["instructions"] = message["params"]["capabilities"].clone();
            result["instructions"] = json!(result["instructions"].to_string());
            send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }))?;
        } else if message["method"] == "tools/list" {
            send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "tools": [tool("echo")] } }))?;
        }
    }
    Ok(())
}

/// A URL elicitation.
fn visit(address: &str) -> Value {
    json!({ "mode": "url", "elicitationId": "1", "message": "Please agree.", "url": address })
}

fn question(method: &str) -> Value {
    match method {
        "elicitation/create" => json!({
            "message": "How many?",
            "requestedSchema": { "type": "object", "properties": { "count": { "type": "integer", "default": 3 } } }
        }),
        "sampling/createMessage" => json!({
            "messages": [{ "role": "user", "content": { "type": "text", "text": "Hello?" } }], "maxTokens": 10
        }),
        _ => json!({}),
    }
}

/// Takes `message` milliseconds to answer and reports progress ten times before.
pub(crate) fn slow_with_progress() -> io::Result<()> {
    let mut server = Server::default();
    server.faults.call = Some(Box::new(|request| {
        let token = &request["params"]["_meta"]["progressToken"];
        let milliseconds = request["params"]["arguments"]["message"].as_str().unwrap_or_default();
        let milliseconds: u64 = milliseconds.parse().map_err(io::Error::other)?;
        for done in 1..=10 {
            std::thread::sleep(Duration::from_millis(milliseconds / 10));
            let params =
                json!({ "progressToken": token, "progress": done, "total": 10, "message": "working" });
            send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))?;
        }
        Ok(Some(json!({ "result": text_result("done") })))
    }));
    server.serve()
}

/// Closes its output at the first call and then keeps running until it is killed. Writes its process id to a file; if
/// the file already exists, it behaves correctly.
pub(crate) fn hangs_up(state: &str) -> io::Result<()> {
    let mut server = Server::default();
    if let Ok(mut file) = OpenOptions::new().create_new(true).write(true).open(state) {
        write!(file, "{}", std::process::id())?;
        // The same process continues as another program.
        server.faults.call =
            Some(Box::new(|_| Err(Command::new("sleep").arg("1000").stdout(Stdio::null()).exec())));
    }
    server.serve()
}

/// Answers a call only with progress, as fast as the client reads.
pub(crate) fn endless_progress() -> io::Result<()> {
    let mut server = Server::default();
    server.faults.call = Some(Box::new(|request| {
        let token = &request["params"]["_meta"]["progressToken"];
        for done in 1_u64.. {
            let params = json!({ "progressToken": token, "progress": done });
            send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }))?;
        }
        Ok(None)
    }));
    server.serve()
}

/// With each call, sends many `list_changed` notifications and adds one tool.
pub(crate) fn storm() -> io::Result<()> {
    let tools = Arc::new(AtomicUsize::new(1));
    let mut server = Server::default();
    let mut result = server::initialize_result();
    result["capabilities"]["tools"]["listChanged"] = json!(true);
    server.faults.initialize = Some(Box::new(move |_| Ok(Some(json!({ "result": result })))));
    let count = Arc::clone(&tools);
    server.faults.list = Some(Box::new(move |_| {
        let tools: Vec<Value> =
            (0..count.load(Ordering::Relaxed)).map(|number| tool(&format!("echo_{number}"))).collect();
        Ok(Some(json!({ "result": { "tools": tools } })))
    }));
    server.faults.call = Some(Box::new(move |request| {
        tools.fetch_add(1, Ordering::Relaxed);
        for _ in 0..1000 {
            send(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }))?;
        }
        Ok(Some(json!({ "result": server::echo(request) })))
    }));
    server.serve()
}

/// Supports only the stateless protocol. Its tool requests input before it answers.
pub(crate) fn stateless() -> io::Result<()> {
    let (mut subscription, mut tools) = (Value::Null, vec![tool("echo")]);
    for line in io::stdin().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else { continue };
        let params = &message["params"];
        let version = &params["_meta"]["io.modelcontextprotocol/protocolVersion"];
        let answer = match message["method"].as_str() {
            Some("initialize") => json!({ "error": { "code": -32601, "message": "method not found" } }),
            _ if version != "2026-07-28" => {
                json!({ "error": { "code": -32022, "message": "which version?" } })
            }
            Some("server/discover") => json!({ "result": discovery() }),
            Some("subscriptions/listen") => {
                subscription = id.clone();
                notify("subscriptions/acknowledged", &subscription, &params["notifications"])?;
                // The answer would end the subscription.
                continue;
            }
            Some("tools/call") if params["arguments"]["message"] == "grow" => {
                tools.push(tool("another"));
                notify("tools/list_changed", &subscription, &Value::Null)?;
                json!({ "result": text_result("grown") })
            }
            Some("tools/list") => json!({ "result": { "resultType": "complete", "tools": tools } }),
            Some("tools/call") => json!({ "result": round(params) }),
            _ => json!({ "error": { "code": -32601, "message": "method not found" } }),
        };
        let mut answer = answer;
        answer["jsonrpc"] = json!("2.0");
        answer["id"] = id.clone();
        send(&answer)?;
    }
    Ok(())
}

/// Sends a notification to a subscription.
fn notify(what: &str, subscription: &Value, notifications: &Value) -> io::Result<()> {
    let mut params = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": subscription } });
    if !notifications.is_null() {
        params["notifications"] = notifications.clone();
    }
    send(&json!({ "jsonrpc": "2.0", "method": format!("notifications/{what}"), "params": params }))
}

pub(crate) fn discovery() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": { "tools": { "listChanged": true } },
        "serverInfo": { "name": "fault-server", "version": "1.0.0" },
        "ttlMs": 0,
        "cacheScope": "private"
    })
}

/// The first round of a call requests input; the second returns it.
fn round(params: &Value) -> Value {
    let message = &params["arguments"]["message"];
    if message == "plain" {
        return text_result("plain");
    }
    if message == "metadata" {
        return text_result(&params["_meta"].to_string());
    }
    match (&params["inputResponses"]["how_many"], &params["requestState"]) {
        (Value::Null, _) => json!({
            "resultType": "input_required",
            "inputRequests": { "how_many": { "method": message, "params": question(message.as_str().unwrap_or_default()) } },
            "requestState": "round-2"
        }),
        (answer, state) => text_result(&json!([answer, state]).to_string()),
    }
}

/// Sends lone surrogates in all of its texts.
pub(crate) fn half_characters() -> io::Result<()> {
    let mut faults = Faults::default();
    let mut cut = tool("echo");
    cut["description"] = json!("cut {half}");
    faults.list = Some(Box::new(move |_| Ok(Some(json!({ "result": { "tools": [&cut] } })))));
    faults.call = Some(Box::new(|request| {
        let log = json!({ "level": "info", "data": "log {half}" });
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log });
        server::write(&server::halved(&log))?;
        if request["params"]["arguments"]["message"] == "error" {
            return Ok(Some(
                json!({ "error": { "code": -32000, "message": "error {half}", "data": "{half}" } }),
            ));
        }
        let mut result = text_result("result {half}");
        result["isError"] = true.into();
        result["structuredContent"] = json!({ "{half}": "\\{half}" });
        Ok(Some(json!({ "result": result })))
    }));
    Server { faults, halves: true, ..Server::default() }.serve()
}

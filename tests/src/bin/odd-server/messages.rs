//! The server's answers to messages: those of a correct server, and how each mode changes them.

use serde_json::{Value, json};

/// The texts to send, in order, in response to a message; not all are JSON.
pub(crate) fn answers(mode: &str, message: &Value) -> Vec<Vec<u8>> {
    let method = message["method"].as_str().unwrap_or_default();
    if message.get("id").is_none() {
        return match (mode, method) {
            ("initialized-error", "notifications/initialized") => {
                vec![text(&failure(&Value::Null, "not now"))]
            }
            _ => Vec::new(),
        };
    }
    if method.is_empty() {
        // A response to the server's own request.
        return Vec::new();
    }
    let mut sound = sound(mode, method, message);
    oddly(mode, method, &mut sound);
    around(mode, method, message, &sound)
}

/// The answer of a correct server, except in modes about its supported versions and methods.
fn sound(mode: &str, method: &str, message: &Value) -> Value {
    let id = &message["id"];
    let result = match method {
        "server/discover" => match mode {
            "discover-older" => introduction(),
            "discover-refused" => return refusal(id, Value::Null),
            "discover-refused-with-list" => {
                return refusal(id, json!({ "requested": "2026-07-28", "supported": ["2025-11-25"] }));
            }
            _ => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                return json!({ "jsonrpc": "2.0", "id": id, "error": error });
            }
        },
        "initialize" => {
            let version = &message["params"]["protocolVersion"];
            let version = match mode {
                "batch" => json!("2025-03-26"),
                "oldest-version" => json!("2024-11-05"),
                "unknown-version" => json!("2099-01-01"),
                _ if *version == "2026-07-28" => json!("2025-11-25"),
                _ => version.clone(),
            };
            json!({
                "protocolVersion": version,
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "odd-server", "version": "1.0.0" }
            })
        }
        "tools/list" => tools(mode, &message["params"]["cursor"]),
        "tools/call" => {
            let message_text = message["params"]["arguments"]["message"].as_str().unwrap_or_default();
            json!({ "content": [{ "type": "text", "text": message_text }] })
        }
        _ => json!({}),
    };
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The introduction of a server that supports only an older version.
fn introduction() -> Value {
    json!({
        "resultType": "complete", "supportedVersions": ["2025-11-25"], "capabilities": { "tools": {} },
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "odd-server", "version": "1.0.0" } },
        "ttlMs": 0, "cacheScope": "private"
    })
}

fn refusal(id: &Value, data: Value) -> Value {
    let mut error = json!({ "code": -32022, "message": "Unsupported protocol version" });
    if !data.is_null() {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

fn failure(id: &Value, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": message } })
}

/// One tool, `echo`; in some modes on the second of two pages.
fn tools(mode: &str, cursor: &Value) -> Value {
    let schema = json!({ "type": "object", "properties": { "message": { "type": "string" } } });
    let tool = |name: &str| json!({ "name": name, "description": "Says it again.", "inputSchema": schema });
    match (mode, cursor) {
        ("numeric-cursor", Value::Null) => json!({ "tools": [tool("other")], "nextCursor": 2 }),
        ("string-cursor", Value::Null) => json!({ "tools": [tool("other")], "nextCursor": "2" }),
        ("empty-cursor", Value::Null) => json!({ "tools": [tool("echo")], "nextCursor": "" }),
        ("null-cursor", _) => json!({ "tools": [tool("echo")], "nextCursor": null }),
        ("repeated-cursor", _) => json!({ "tools": [tool("echo")], "nextCursor": "same" }),
        ("duplicate-tools", _) => json!({ "tools": [tool("echo"), tool("echo")] }),
        ("tool-names", _) => {
            json!({ "tools": [tool("echo"), tool("two words"), tool("größe/尺寸"), tool("a.b:c")] })
        }
        ("surrogate-in-description", _) => {
            let mut tool = tool("echo");
            tool["description"] = json!("Says it @@ again.");
            json!({ "tools": [tool] })
        }
        ("tool-without-schema", _) => json!({ "tools": [tool("echo"), { "name": "bare" }] }),
        ("tool-members-null", _) => {
            let mut tool = tool("echo");
            for member in ["title", "annotations", "outputSchema", "_meta", "icons"] {
                tool[member] = Value::Null;
            }
            json!({ "tools": [tool] })
        }
        ("wrong-structure" | "no-structure", _) => {
            let mut tool = tool("echo");
            tool["outputSchema"] =
                json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"] });
            json!({ "tools": [tool] })
        }
        _ => json!({ "tools": [tool("echo")] }),
    }
}

/// Changes the answer itself.
fn oddly(mode: &str, method: &str, answer: &mut Value) {
    match (mode, method) {
        ("no-capabilities", "initialize") => answer["result"]["capabilities"] = json!({}),
        ("no-server-info", "initialize") => {
            answer["result"].as_object_mut().map(|result| result.remove("serverInfo"));
        }
        ("surrogate-in-result" | "nan-in-result" | "raw-control-in-result", "tools/call") => {
            answer["result"]["structuredContent"] = json!({ "odd": "@@" });
        }
        ("surrogate-in-error", "tools/call") => *answer = failure(&answer["id"], "hello @@"),
        ("null-result-with-error", "tools/call") => {
            *answer = failure(&answer["id"], "hello");
            answer["result"] = Value::Null;
        }
        ("null-error-with-result", _) => answer["error"] = Value::Null,
        ("text-code-in-error", "tools/call") => {
            *answer = failure(&answer["id"], "hello");
            answer["error"]["code"] = json!("E_BUSY");
        }
        ("string-id", _) => answer["id"] = json!(answer["id"].to_string()),
        ("float-id", _) => answer["id"] = json!(answer["id"].as_f64()),
        ("no-jsonrpc", _) => {
            answer.as_object_mut().map(|answer| answer.remove("jsonrpc"));
        }
        ("unknown-members", _) => {
            answer["odd"] = json!([1]);
            answer["result"]["odd"] = json!({ "deep": [null] });
            for list in ["tools", "content"] {
                if answer["result"][list].is_array() {
                    answer["result"][list][0]["odd"] = json!(true);
                }
            }
        }
        ("unknown-content", "tools/call") => {
            if let Some(content) = answer["result"]["content"].as_array_mut() {
                content.push(json!({ "type": "hologram", "data": "x" }));
            }
        }
        ("no-content", "tools/call") => {
            let text = answer["result"]["content"][0]["text"].clone();
            answer["result"] = json!({ "structuredContent": { "text": text } });
        }
        ("wrong-structure", "tools/call") => answer["result"]["structuredContent"] = json!({ "n": "seven" }),
        ("list-structure", "tools/call") => answer["result"]["structuredContent"] = json!(["a", "b"]),
        ("null-members", "tools/call") => {
            for member in ["isError", "structuredContent", "_meta"] {
                answer["result"][member] = Value::Null;
            }
        }
        _ => {}
    }
}

/// The texts that are sent instead of an answer, or around it.
fn around(mode: &str, method: &str, message: &Value, sound: &Value) -> Vec<Vec<u8>> {
    let log = json!({
        "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "starting" }
    });
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let ping = json!({ "jsonrpc": "2.0", "id": "ping-1", "method": "ping" });
    match (mode, method) {
        ("discover-silent", "server/discover") => Vec::new(),
        ("notifications-first", "initialize") => vec![text(&log), text(&changed), text(sound)],
        ("ping-first", "initialize") => vec![text(&ping), text(sound)],
        ("ping-in-call", "tools/call") => vec![text(&ping), text(sound)],
        ("unknown-request", "tools/call") => {
            let request = json!({ "jsonrpc": "2.0", "id": "odd-1", "method": "odd/request", "params": {} });
            vec![text(&request), text(sound)]
        }
        ("unknown-notification", "tools/call") => {
            vec![text(&json!({ "jsonrpc": "2.0", "method": "notifications/odd", "params": 7 })), text(sound)]
        }
        ("unknown-log-level", "tools/call") => {
            let mut log = log;
            log["params"]["level"] = json!("loud");
            vec![text(&log), text(sound)]
        }
        ("unknown-progress", "tools/call") => {
            let params = json!({ "progressToken": "unknown", "progress": 1 });
            vec![
                text(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })),
                text(sound),
            ]
        }
        ("unknown-id", _) => {
            vec![text(&json!({ "jsonrpc": "2.0", "id": 987_654, "result": {} })), text(sound)]
        }
        ("answers-twice", _) => vec![text(sound), text(sound)],
        ("batch", "tools/list" | "tools/call") => vec![text(&json!([log, sound]))],
        ("ping-error", "ping") => vec![text(&failure(&message["id"], "no pings here"))],
        ("surrogate-in-result" | "surrogate-in-description" | "surrogate-in-error", _) => {
            vec![with(sound, "@@", "\\ud800")]
        }
        ("nan-in-result", _) => vec![with(sound, "\"@@\"", "NaN")],
        ("raw-control-in-result", _) => vec![with(sound, "@@", "tab\there")],
        ("large-number-in-result", "tools/call") => {
            vec![with(sound, "\"result\":{", "\"result\":{\"_meta\":{\"odd\":1e999},")]
        }
        ("duplicate-member", "tools/call") => {
            vec![with(sound, "\"result\":{", "\"result\":{\"isError\":false,\"isError\":false,")]
        }
        _ => vec![text(sound)],
    }
}

fn text(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

/// The text of a message with a replacement that a JSON value cannot hold.
fn with(message: &Value, from: &str, to: &str) -> Vec<u8> {
    message.to_string().replace(from, to).into_bytes()
}

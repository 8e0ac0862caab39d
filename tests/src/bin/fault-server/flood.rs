//! A mode that floods its client as the call's `message` specifies.

use std::io::{self, Write as _};

use serde_json::{Value, json};

use crate::server::{self, Server, send, text_result};

/// The message of a call is `KIND COUNT BYTES`: that many messages of that kind and size precede the answer, and
/// the server reads nothing in between. Any other message is echoed.
pub(crate) fn flood() -> io::Result<()> {
    let mut server = Server::default();
    let mut result = server::initialize_result();
    result["capabilities"] = json!({ "tools": { "listChanged": true }, "logging": {}, "resources": {} });
    server.faults.initialize = Some(Box::new(move |_| Ok(Some(json!({ "result": result })))));
    server.faults.call = Some(Box::new(|request| {
        let message = request["params"]["arguments"]["message"].as_str().unwrap_or_default();
        let words: Vec<&str> = message.split(' ').collect();
        let [kind, count, bytes] = words[..] else {
            return Ok(Some(json!({ "result": server::echo(request) })));
        };
        let number = |text: &str| text.parse::<usize>().map_err(io::Error::other);
        answer(kind, number(count)?, number(bytes)?, &request["params"]["_meta"]["progressToken"])
    }));
    server.serve()
}

fn answer(kind: &str, count: usize, bytes: usize, token: &Value) -> io::Result<Option<Value>> {
    let text = "x".repeat(bytes);
    let message = match kind {
        "answer" => return Ok(Some(json!({ "result": text_result(&text) }))),
        "failure" => {
            let mut result = text_result(&text);
            result["isError"] = json!(true);
            return Ok(Some(json!({ "result": result })));
        }
        "error" => {
            return Ok(Some(
                json!({ "error": { "code": -32000, "message": text, "data": { "more": text } } }),
            ));
        }
        "stderr" => {
            let mut errors = io::stderr().lock();
            for _ in 0..count {
                writeln!(errors, "{text}")?;
            }
            writeln!(errors, "flooded")?;
            return Ok(Some(json!({ "result": text_result("done") })));
        }
        "log" => notification("message", &json!({ "level": "error", "data": text })),
        "progress" => {
            notification("progress", &json!({ "progressToken": token, "progress": 1, "message": text }))
        }
        "updated" => notification("resources/updated", &json!({ "uri": format!("x:{text}") })),
        "changed" => notification("tools/list_changed", &json!({})),
        "unknown" => notification(&format!("unknown/{text}"), &json!({})),
        "ping" => request("ping", &json!({})),
        "elicit" => request(
            "elicitation/create",
            &json!({
                "message": text,
                "requestedSchema": { "type": "object", "properties": { "count": { "type": "integer" } } }
            }),
        ),
        _ => return Err(io::Error::other(format!("no flood of {kind}"))),
    };
    for _ in 0..count {
        send_text(&message)?;
    }
    eprintln!("flooded");
    Ok(Some(json!({ "result": text_result("done") })))
}

fn notification(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params }).to_string()
}

fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": "flood", "method": method, "params": params }).to_string()
}

fn send_text(message: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(message.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()
}

/// Has `count` tools, each with a description of 1 KiB.
pub(crate) fn many_tools(count: &str) -> io::Result<()> {
    let count: usize = count.parse().map_err(io::Error::other)?;
    let mut server = Server::default();
    server.faults.list = Some(Box::new(move |request| {
        let tools: Vec<Value> = (0..count)
            .map(|number| {
                let mut tool =
                    server::tool(&if number == 0 { "echo".to_owned() } else { format!("echo_{number}") });
                tool["description"] = json!("d".repeat(1024));
                tool
            })
            .collect();
        send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": { "tools": tools } }))?;
        Ok(None)
    }));
    server.serve()
}

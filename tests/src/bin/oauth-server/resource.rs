//! The MCP server: a token for everything, and for one tool a token with more scopes.

use axum::{body::Body, http::Response};
use serde_json::{Value, json};

use crate::{ParsedRequest, ServerState, built, reply, text};

/// Where the metadata of the resource lie (RFC 9728, section 3.1).
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

/// The scope that every request needs.
const SCOPE: &str = "tools";

pub(crate) fn answer(world: &ServerState, asked: &ParsedRequest) -> Response<Body> {
    match asked.path.as_str() {
        METADATA if !world.is("no-metadata") => reply(200, &metadata(world)),
        "/mcp" => guarded(world, asked),
        _ => text(404, "nothing here"),
    }
}

/// What the resource says of itself.
pub(crate) fn metadata(world: &ServerState) -> Value {
    let resource =
        if world.is("wrong-resource") { format!("{}/mcp", world.elsewhere) } else { world.resource() };
    json!({
        "resource": resource,
        "authorization_servers": [world.authority],
        "scopes_supported": [SCOPE]
    })
}

fn guarded(world: &ServerState, asked: &ParsedRequest) -> Response<Body> {
    let token = asked.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let scopes = token.and_then(|token| world.grants().scopes(token).cloned());
    if world.is("echoes") {
        let is_configured = asked.header("authorization").is_some_and(|value| CONFIGURED.contains(&value));
        return if scopes.is_some() || is_configured {
            echoed(asked)
        } else {
            challenge(world, token.is_some())
        };
    }
    let Some(scopes) = scopes else { return challenge(world, token.is_some()) };
    let needed = if asked.json["params"]["name"] == "admin" { "admin" } else { SCOPE };
    if !scopes.contains(needed) {
        let header = format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\", {}", pointer(world));
        return built(403, &[("WWW-Authenticate", &header)], "not with this token".to_owned());
    }
    serve(world, asked)
}

/// What the mode `echoes` lets in beside tokens; the second is `me:configured-password-1`.
const CONFIGURED: [&str; 2] = ["Bearer configured-token-1", "Basic bWU6Y29uZmlndXJlZC1wYXNzd29yZC0x"];

/// Repeats in every place what it was sent as `Authorization`, and the password in it.
fn echoed(asked: &ParsedRequest) -> Response<Body> {
    let sent = asked.header("authorization").unwrap_or_default();
    let sent = if sent == CONFIGURED[1] { "me:configured-password-1" } else { sent };
    let escaped: String = sent.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let (id, method) = (&asked.json["id"], asked.json["method"].as_str().unwrap_or_default());
    let structured = json!({ "headers": { "authorization": sent }, "escaped": "ESCAPED" });
    let result = match (method, asked.json["params"]["name"].as_str()) {
        ("initialize", _) => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "oauth-server", "version": sent },
            "instructions": sent
        }),
        ("tools/list", _) => {
            let tools = ["echo", "fail", "refuse"];
            let tool =
                |name| json!({ "name": name, "description": sent, "inputSchema": { "type": "object" } });
            json!({ "tools": tools.map(tool) })
        }
        ("tools/call", Some("fail")) => {
            let error = json!({ "code": -32000, "message": format!("failed with {sent}"), "data": sent });
            return reply(200, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
        ("tools/call", Some("refuse")) => return built(500, &[], format!("refused {sent}")),
        ("tools/call", _) => {
            json!({ "content": [{ "type": "text", "text": structured.to_string() }], "structuredContent": structured })
        }
        ("server/discover", _) => {
            let error = json!({ "code": -32601, "message": sent });
            return reply(200, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
        _ if id.is_null() => return text(202, ""),
        _ => json!({}),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    built(200, &[("Content-Type", "application/json")], answer.replace("ESCAPED", &escaped))
}

fn challenge(world: &ServerState, rejected: bool) -> Response<Body> {
    let mut header = "Bearer".to_owned();
    if !world.is("no-metadata") {
        header = format!("Bearer {}", pointer(world));
        if rejected {
            header.push_str(", error=\"invalid_token\"");
        }
    }
    built(401, &[("WWW-Authenticate", &header)], "no entry".to_owned())
}

fn pointer(world: &ServerState) -> String {
    let origin = if world.is("metadata-elsewhere") { &world.elsewhere } else { &world.address };
    format!("resource_metadata=\"{origin}{METADATA}\"")
}

fn serve(world: &ServerState, asked: &ParsedRequest) -> Response<Body> {
    let id = &asked.json["id"];
    let result = match (asked.method.as_str(), asked.json["method"].as_str().unwrap_or_default()) {
        ("GET", _) => return resumed(asked),
        (_, "tools/call") if world.is("redirects") => {
            return built(307, &[("Location", &format!("{}/mcp", world.elsewhere))], String::new());
        }
        ("DELETE", _) => return text(200, ""),
        (_, "initialize") => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "oauth-server", "version": "1.0.0" }
        }),
        (_, "tools/list") => {
            let tools = ["echo", "admin", "slow"];
            json!({ "tools": tools.map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })) })
        }
        (_, "tools/call") if asked.json["params"]["name"] == "slow" => return begun(world, id),
        (_, "tools/call") => said(&asked.json["params"]["name"]),
        (_, "server/discover") => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return reply(200, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
        _ if id.is_null() => return text(202, ""),
        _ => json!({}),
    };
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
    let session = [("Content-Type", "application/json"), ("Mcp-Session-Id", "session")];
    built(200, &session, answer)
}

fn said(text: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// A call whose answer comes over another stream, for which its token is too old.
fn begun(world: &ServerState, id: &Value) -> Response<Body> {
    world.grants().expire();
    let stream = format!("id: call-{id}\nretry: 10\ndata: \n\n");
    built(200, &[("Content-Type", "text/event-stream")], stream)
}

fn resumed(asked: &ParsedRequest) -> Response<Body> {
    let last = asked.header("last-event-id").and_then(|last| last.strip_prefix("call-"));
    let Some(id) = last.and_then(|id| id.parse::<Value>().ok()) else {
        return text(405, "no listening here");
    };
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": said(&json!("slow")) });
    built(200, &[("Content-Type", "text/event-stream")], format!("data: {answer}\n\n"))
}

//! The MCP server: every request needs a token, and one tool needs more scopes.

use axum::{body::Body, http::Response};
use serde_json::{Value, json};

use crate::{ParsedRequest, ServerState, built, reply, text};

/// Path of the resource's metadata (RFC 9728, section 3.1).
pub(crate) const METADATA: &str = "/.well-known/oauth-protected-resource/mcp";

/// The scope that every request needs.
const SCOPE: &str = "tools";

pub(crate) fn answer(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    match request.path.as_str() {
        METADATA if !state.is("no-metadata") => reply(200, &metadata(state)),
        "/mcp" => guarded(state, request),
        _ => text(404, "nothing here"),
    }
}

/// The protected resource metadata.
pub(crate) fn metadata(state: &ServerState) -> Value {
    let resource =
        if state.is("wrong-resource") { format!("{}/mcp", state.elsewhere) } else { state.resource() };
    json!({
        "resource": resource,
        "authorization_servers": [state.authority],
        "scopes_supported": [SCOPE]
    })
}

fn guarded(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
    let scopes = token.and_then(|token| state.grants().scopes(token).cloned());
    if state.is("echoes") {
        let is_configured = request.header("authorization").is_some_and(|value| CONFIGURED.contains(&value));
        return if scopes.is_some() || is_configured {
            echoed(request)
        } else {
            challenge(state, token.is_some())
        };
    }
    let Some(scopes) = scopes else { return challenge(state, token.is_some()) };
    let needed = if request.json["params"]["name"] == "admin" { "admin" } else { SCOPE };
    if !scopes.contains(needed) {
        let header = format!("Bearer error=\"insufficient_scope\", scope=\"{needed}\", {}", pointer(state));
        return built(403, &[("WWW-Authenticate", &header)], "not with this token".to_owned());
    }
    if state.is("exchanges") {
        let user = scopes.iter().find_map(|scope| scope.strip_prefix("subject:"));
        if let Some(result) = of_user(user.unwrap_or("nobody"), &request.json) {
            return answered(state, request, &result);
        }
    }
    serve(state, request)
}

/// The result for a user: answers name the user, and alice has one tool less.
fn of_user(user: &str, message: &Value) -> Option<Value> {
    match message["method"].as_str()? {
        "tools/list" => {
            let tools = ["echo", "audit"].iter().filter(|name| user != "alice" || **name == "echo");
            let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
            Some(json!({ "tools": tools.map(tool).collect::<Vec<_>>() }))
        }
        "tools/call" => Some(text_result(&json!(format!("for {user}")))),
        _ => None,
    }
}

/// Credentials that the mode `echoes` accepts in addition to tokens; the second is `me:configured-password-1`.
const CONFIGURED: [&str; 2] = ["Bearer configured-token-1", "Basic bWU6Y29uZmlndXJlZC1wYXNzd29yZC0x"];

/// Repeats the `Authorization` it received, and the password in it, in every place.
fn echoed(request: &ParsedRequest) -> Response<Body> {
    let sent = request.header("authorization").unwrap_or_default();
    let sent = if sent == CONFIGURED[1] { "me:configured-password-1" } else { sent };
    let escaped: String = sent.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let (id, method) = (&request.json["id"], request.json["method"].as_str().unwrap_or_default());
    let structured = json!({ "headers": { "authorization": sent }, "escaped": "ESCAPED" });
    let result = match (method, request.json["params"]["name"].as_str()) {
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

fn challenge(state: &ServerState, rejected: bool) -> Response<Body> {
    let mut header = "Bearer".to_owned();
    if !state.is("no-metadata") {
        header = format!("Bearer {}", pointer(state));
        if rejected {
            header.push_str(", error=\"invalid_token\"");
        }
    }
    built(401, &[("WWW-Authenticate", &header)], "no entry".to_owned())
}

fn pointer(state: &ServerState) -> String {
    let origin = if state.is("metadata-elsewhere") { &state.elsewhere } else { &state.address };
    format!("resource_metadata=\"{origin}{METADATA}\"")
}

fn serve(state: &ServerState, request: &ParsedRequest) -> Response<Body> {
    let id = &request.json["id"];
    let result = match (request.method.as_str(), request.json["method"].as_str().unwrap_or_default()) {
        ("GET", _) => return resumed(request),
        (_, "tools/call") if state.is("redirects") => {
            return built(307, &[("Location", &format!("{}/mcp", state.elsewhere))], String::new());
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
        (_, "tools/call") if request.json["params"]["name"] == "slow" => return started(state, id),
        (_, "tools/call") => text_result(&request.json["params"]["name"]),
        (_, "server/discover") => {
            let error = json!({ "code": -32601, "message": "Method not found" });
            return reply(200, &json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
        _ if id.is_null() => return text(202, ""),
        _ => json!({}),
    };
    answered(state, request, &result)
}

fn answered(state: &ServerState, request: &ParsedRequest, result: &Value) -> Response<Body> {
    let answer = json!({ "jsonrpc": "2.0", "id": request.json["id"], "result": result }).to_string();
    let session = state.session(request);
    built(200, &[("Content-Type", "application/json"), ("Mcp-Session-Id", &session)], answer)
}

fn text_result(text: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

/// Starts a call whose answer arrives on another stream, for which its token is expired.
fn started(state: &ServerState, id: &Value) -> Response<Body> {
    state.grants().expire();
    let stream = format!("id: call-{id}\nretry: 10\ndata: \n\n");
    built(200, &[("Content-Type", "text/event-stream")], stream)
}

fn resumed(request: &ParsedRequest) -> Response<Body> {
    let last = request.header("last-event-id").and_then(|last| last.strip_prefix("call-"));
    let Some(id) = last.and_then(|id| id.parse::<Value>().ok()) else {
        return text(405, "no listening here");
    };
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": text_result(&json!("slow")) });
    built(200, &[("Content-Type", "text/event-stream")], format!("data: {answer}\n\n"))
}

//! Modes whose answers are malformed but unambiguous, or not JSON at all.

use std::io;

use serde_json::{Value, json};

use crate::server::{Faults, Server, echo, initialize_result, text_result, tool, write};

fn serve(faults: Faults) -> io::Result<()> {
    Server { faults, ..Server::default() }.serve()
}

/// Declares no capabilities, whether or not it has tools.
pub(crate) fn undeclared_tools(has_tools: bool) -> io::Result<()> {
    let mut answer = initialize_result();
    answer["capabilities"] = json!({});
    let mut faults = Faults {
        initialize: Some(Box::new(move |_| Ok(Some(json!({ "result": answer }))))),
        ..Faults::default()
    };
    if !has_tools {
        let unknown = json!({ "error": { "code": -32601, "message": "method not found" } });
        faults.list = Some(Box::new(move |_| Ok(Some(unknown.clone()))));
    }
    serve(faults)
}

pub(crate) fn numeric_cursor() -> io::Result<()> {
    let page = json!({ "result": { "tools": [tool("first")], "nextCursor": 7 } });
    serve(Faults { list: Some(Box::new(move |_| Ok(Some(page.clone())))), ..Faults::default() })
}

/// Sends an error together with a null result.
pub(crate) fn null_with_error() -> io::Result<()> {
    let call = |_: &Value| {
        Ok(Some(json!({ "result": null, "error": { "code": -32000, "message": "the backend is gone" } })))
    };
    serve(Faults { call: Some(Box::new(call)), ..Faults::default() })
}

/// Several messages in one line (JSON-RPC batches, MCP 2025-03-26).
pub(crate) fn batches() -> io::Result<()> {
    let call = |request: &Value| {
        let log = json!({ "level": "info", "data": "in a batch" });
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": echo(request) });
        write(&json!([log, answer]).to_string())?;
        Ok(None)
    };
    serve(Faults { call: Some(Box::new(call)), ..Faults::default() })
}

/// Sends what some JSON libraries write for numbers that JSON does not have.
pub(crate) fn not_a_number() -> io::Result<()> {
    let call = |request: &Value| {
        let mut result = text_result("NaN");
        result["structuredContent"] = json!({ "mean": "{nan}", "text": "is \"NaN\"" });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        write(&answer.to_string().replace("\"{nan}\"", "-Infinity"))?;
        Ok(None)
    };
    serve(Faults { call: Some(Box::new(call)), ..Faults::default() })
}

/// Has tools with non-object input schemas between two valid ones.
pub(crate) fn odd_schemas() -> io::Result<()> {
    let odd = |name: &str, schema: Value| json!({ "name": name, "inputSchema": schema });
    let tools = json!([
        tool("first"),
        odd("no_type", json!({ "properties": { "message": { "type": "string" } } })),
        odd("empty_list", json!({ "type": "object", "properties": [] })),
        odd("list", json!({ "type": "object", "properties": [{ "name": "message", "type": "string" }] })),
        odd("array", json!({ "type": "array", "items": { "type": "string" } })),
        tool("last"),
    ]);
    crate::with(|faults| faults.list = Some(crate::always(json!({ "tools": tools })))).serve()
}

/// Has tools for models and apps, for apps alone, and for nobody.
pub(crate) fn for_apps() -> io::Result<()> {
    let tool = |name: &str, visibility: Value| {
        let mut tool = tool(name);
        tool["_meta"] = json!({ "ui": { "resourceUri": "ui://cart", "visibility": visibility } });
        tool
    };
    let tools = json!([
        tool("open_cart", json!(["model", "app"])),
        tool("submit_order", json!(["app"])),
        tool("refresh", json!([])),
        tool("find_cart", Value::Null),
    ]);
    crate::with(|faults| faults.list = Some(crate::always(json!({ "tools": tools })))).serve()
}

/// Has tools, but answers `tools/list` with an error.
pub(crate) fn refuses_list() -> io::Result<()> {
    let error = json!({ "error": { "code": -32603, "message": "the index is broken" } });
    crate::with(|faults| faults.list = Some(Box::new(move |_| Ok(Some(error.clone()))))).serve()
}

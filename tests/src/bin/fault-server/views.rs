//! A mode with a tool that has a view (MCP Apps), and one that only the view's app calls. Both are for clients that
//! declare the extension; for others, the first is an ordinary tool.

use std::{cell::Cell, io, rc::Rc};

use serde_json::{Value, json};

use crate::server::{self, Faults, Server, tool};

const BOARD: &str = "ui://board";

/// Serves them; `title` is in the document of the view.
pub(crate) fn views(title: &str) -> io::Result<()> {
    let declared = Rc::new(Cell::new(false));
    let seen = declared.clone();
    let initialize = move |request: &Value| {
        let settings = &request["params"]["capabilities"]["extensions"]["io.modelcontextprotocol/ui"];
        seen.set(settings["mimeTypes"] == json!(["text/html;profile=mcp-app"]));
        let mut result = server::initialize_result();
        result["capabilities"] = json!({ "tools": {}, "resources": {} });
        Ok(Some(json!({ "result": result })))
    };
    let list = move |_: &Value| Ok(Some(json!({ "result": { "tools": tools(declared.get()) } })));
    let call = |request: &Value| {
        let said = &request["params"]["arguments"]["message"];
        Ok(Some(json!({ "result": {
            "content": [
                { "type": "text", "text": said },
                { "type": "resource_link", "uri": BOARD, "name": "board" },
            ],
            "structuredContent": { "said": said },
            "_meta": { "example/moves": 3 },
        } })))
    };
    let title = title.to_owned();
    let other = move |request: &Value| Ok(Some(resources(request, &title)));
    let faults = Faults {
        initialize: Some(Box::new(initialize)),
        list: Some(Box::new(list)),
        call: Some(Box::new(call)),
        other: Some(Box::new(other)),
    };
    Server { faults, ..Server::default() }.serve()
}

fn tools(with_views: bool) -> Value {
    let (mut show, mut press) = (tool("show"), tool("press"));
    if !with_views {
        return json!([show]);
    }
    show["_meta"] = json!({ "ui": { "resourceUri": BOARD }, "ui/resourceUri": BOARD });
    press["_meta"] = json!({ "ui": { "resourceUri": BOARD, "visibility": ["app"] } });
    json!([show, press])
}

fn resources(request: &Value, title: &str) -> Value {
    let kind = "text/html;profile=mcp-app";
    match (request["method"].as_str(), request["params"]["uri"].as_str()) {
        (Some("resources/list"), _) => {
            json!({ "result": { "resources": [{ "uri": BOARD, "name": "board", "mimeType": kind }] } })
        }
        (Some("resources/templates/list"), _) => json!({ "result": { "resourceTemplates": [] } }),
        (Some("resources/read"), Some(BOARD)) => {
            let settings = json!({
                "csp": { "connectDomains": ["https://api.example"] }, "permissions": { "camera": {} },
                "domain": "board.example", "prefersBorder": true,
            });
            let text = format!("<!DOCTYPE html><title>{title}</title>");
            let content =
                json!({ "uri": BOARD, "mimeType": kind, "text": text, "_meta": { "ui": settings } });
            json!({ "result": { "contents": [content] } })
        }
        _ => json!({ "error": { "code": -32601, "message": "method not found" } }),
    }
}

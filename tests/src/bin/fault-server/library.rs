//! A mode with resources and prompts, whose list of resources has pages that form a cycle.

use std::io;

use serde_json::{Value, json};

use crate::server::{self, Server};

/// The content of the text resource, with a terminal escape sequence.
const TEXT: &str = "first line\nsecond \u{1b}[2Jline";

/// `sixsix` in base64.
const BLOB: &str = "c2l4c2l4";

/// Two resources, one template, one prompt; no tools.
pub(crate) fn library() -> io::Result<()> {
    let mut server = Server::default();
    let mut result = server::initialize_result();
    result["capabilities"] = json!({ "resources": {}, "prompts": {} });
    server.faults.initialize = Some(Box::new(move |_| Ok(Some(json!({ "result": result })))));
    server.faults.other = Some(Box::new(|request| Ok(Some(answer(request)))));
    server.serve()
}

fn answer(request: &Value) -> Value {
    let params = &request["params"];
    match request["method"].as_str() {
        Some("resources/list") => json!({ "result": resources(params["cursor"].as_str()) }),
        Some("resources/templates/list") => json!({ "result": { "resourceTemplates": [{
            "uriTemplate": "shelf://{name}", "name": "shelf", "mimeType": "text/plain", "description": "A whole shelf."
        }] } }),
        Some("resources/read") => match params["uri"].as_str() {
            Some("book://text") => contents(&json!({ "uri": "book://text", "text": TEXT })),
            Some("book://blob") => {
                contents(&json!({ "uri": "book://blob", "mimeType": "image/png", "blob": BLOB }))
            }
            _ => wrong(-32002, "no such book"),
        },
        Some("prompts/list") => json!({ "result": { "prompts": [{
            "name": "review", "title": "Review a book", "description": "Asks for a review.",
            "arguments": [{ "name": "book", "required": true }, { "name": "tone" }]
        }] } }),
        Some("prompts/get") => match (params["name"].as_str(), params["arguments"]["book"].as_str()) {
            (Some("review"), Some(book)) => json!({ "result": { "messages": [
                { "role": "user", "content": { "type": "text", "text": format!("Review {book}.") } },
                { "role": "assistant", "content": { "type": "image", "mimeType": "image/png", "data": BLOB } }
            ] } }),
            (Some("review"), None) => wrong(-32602, "the argument book is missing"),
            _ => wrong(-32602, "no such prompt"),
        },
        _ => wrong(-32601, "method not found"),
    }
}

/// A page with a resource; the second points back to itself.
fn resources(cursor: Option<&str>) -> Value {
    let resource = match cursor {
        None => {
            json!({ "uri": "book://text", "name": "text", "mimeType": "text/plain", "description": "Two\nlines\u{202e}." })
        }
        Some(_) => json!({ "uri": "book://blob", "name": "blob", "mimeType": "image/png" }),
    };
    json!({ "resources": [resource], "nextCursor": "2" })
}

fn contents(content: &Value) -> Value {
    json!({ "result": { "contents": [content] } })
}

fn wrong(code: i32, message: &str) -> Value {
    json!({ "error": { "code": code, "message": message } })
}

//! The view of an answer (MCP Apps, SEP-1865) as a content block: a link with what its app needs besides.

use serde_json::{Map, Value, json};

use crate::content::Content;
use crate::tool::Tool;

/// The member of `_meta` by which the host marks answers of tools with a view (`crates/gateway/src/view_mark.rs`), and
/// that of the link.
const MARK: &str = "io.toolsmith/view";

/// The view of a tool, and the call that it shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct View {
    /// `server` and `tool`; `uri` and `arguments` too if the client shows views.
    mark: Value,
    /// The other metadata of the answer: apps read it.
    meta: Map<String, Value>,
}

impl View {
    /// The view in the metadata of an answer. The host removes marks that servers write.
    pub(crate) fn of(meta: Value, tool: &Tool) -> Option<Box<Self>> {
        let Value::Object(mut meta) = meta else { return None };
        let mark = meta.remove(MARK).filter(|mark| mark["server"] == tool.server)?;
        Some(Box::new(View { mark, meta }))
    }

    /// The block for the client, with the answer that the view shows.
    pub(crate) fn content(&self, content: &[Content], structured: Option<&Value>) -> Content {
        let text = |name: &str| self.mark[name].as_str().unwrap_or_default();
        let (server, tool) = (text("server"), text("tool"));
        let Some(uri) = self.mark["uri"].as_str() else {
            return Content::text(format!("[the view of {server}.{tool}: the client shows no views]"));
        };
        let mut result = json!({ "content": content });
        if let Some(structured) = structured {
            result["structuredContent"] = structured.clone();
        }
        if !self.meta.is_empty() {
            result["_meta"] = json!(self.meta);
        }
        let call = json!({
            "server": server, "tool": tool, "arguments": self.mark["arguments"], "result": result,
        });
        Content::received(json!({
            "type": "resource_link", "uri": uri, "name": tool, "mimeType": "text/html;profile=mcp-app",
            "description": format!("the view of {server}.{tool}"), "_meta": { MARK: call },
        }))
    }
}

//! A tool that somebody wants to call.

use mcp::LockedTool;
use serde_json::Value;

use crate::resources;
use crate::tool_list::ToolList;

/// A tool that somebody wants to call, as its server offers it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestedTool {
    /// The server's name in the configuration.
    pub server: String,
    /// The tool's name as its server has it.
    pub tool: String,
    /// The hash of the tool as it is offered; a tool that has changed is another one. Empty where it is not offered.
    pub hash: String,
    /// How its server is reached, as a hash with a key. Empty until a [`PermissionPolicy`](super::PermissionPolicy) is asked, which knows it.
    pub reached: String,
    /// What the server claims of the tool.
    pub(super) claims: Vec<&'static str>,
}

impl RequestedTool {
    /// A tool among those that its server offers.
    pub fn new(server: &str, tool: &str, offered: Option<&ToolList>) -> Self {
        let raw = offered.and_then(|list| list.tool(tool));
        RequestedTool {
            server: server.to_owned(),
            tool: tool.to_owned(),
            hash: raw.map(|raw| LockedTool::new(raw.clone()).hash).unwrap_or_default(),
            reached: String::new(),
            claims: raw.map(claims).unwrap_or_default(),
        }
    }

    /// To read resources of a server, which is as if it were a tool that never changes.
    pub fn reading(server: &str) -> Self {
        let (tool, hash) = (resources::READ.to_owned(), "resources".to_owned());
        RequestedTool { server: server.to_owned(), tool, hash, reached: String::new(), claims: Vec::new() }
    }

    /// What is known of it whatever its server offers.
    pub(super) fn key(&self) -> (String, String) {
        (self.server.clone(), self.tool.clone())
    }

    /// As `server.tool`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.server, self.tool)
    }
}

/// What a server claims of a tool (MCP's `ToolAnnotations`): shown, never believed.
fn claims(raw: &Value) -> Vec<&'static str> {
    let hint = |name: &str| raw["annotations"][name].as_bool();
    let claims = [
        (hint("readOnlyHint") == Some(true), "only reads"),
        (hint("readOnlyHint") == Some(false), "changes things"),
        (hint("destructiveHint") == Some(true), "may destroy"),
        (hint("openWorldHint") == Some(true), "reaches beyond its own data"),
    ];
    claims.into_iter().filter(|(is_claimed, _)| *is_claimed).map(|(_, words)| words).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn claims_are_the_servers() {
        let tool =
            json!({ "annotations": { "readOnlyHint": true, "destructiveHint": true, "openWorldHint": "x" } });
        assert_eq!(claims(&tool), ["only reads", "may destroy"]);
        assert!(claims(&json!({ "annotations": 7 })).is_empty() && claims(&json!(null)).is_empty());
    }
}

//! A tool that a program or a client wants to call.

use mcp::LockedTool;
use serde_json::Value;

use crate::resources;
use crate::tool_list::ToolList;

/// A tool that a program or a client wants to call, as its server offers it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestedTool {
    /// The server's name in the configuration.
    pub server: String,
    /// The server's name for the tool.
    pub tool: String,
    /// The hash of the tool as offered, which changes with the tool. Empty if the server does not offer it.
    pub hash: String,
    /// The identity of its server. Empty until a [`PermissionPolicy`](super::PermissionPolicy) sets it.
    pub reached: String,
    /// The server's claims about the tool.
    pub(super) claims: Vec<&'static str>,
}

impl RequestedTool {
    /// A tool from its server's list.
    pub fn new(server: &str, tool: &str, offered: Option<&ToolList>) -> Self {
        let raw = offered.and_then(|list| list.tool(tool));
        RequestedTool {
            server: server.to_owned(),
            tool: tool.to_owned(),
            claims: raw.as_ref().map(claims).unwrap_or_default(),
            hash: raw.map(|raw| LockedTool::new(raw).hash).unwrap_or_default(),
            reached: String::new(),
        }
    }

    /// The same tool, on the server with this identity.
    #[must_use]
    pub(crate) fn on(self, reached: String) -> Self {
        RequestedTool { reached, ..self }
    }

    /// The permission to read resources of a server, treated as a tool that never changes.
    pub fn reading(server: &str) -> Self {
        let (tool, hash) = (resources::READ.to_owned(), "resources".to_owned());
        RequestedTool { server: server.to_owned(), tool, hash, reached: String::new(), claims: Vec::new() }
    }

    /// Server and tool, independent of the tool's version.
    pub(super) fn key(&self) -> (String, String) {
        (self.server.clone(), self.tool.clone())
    }

    /// The name and the server's claims, to show to users.
    pub fn shown(&self) -> String {
        format!("{}{}", printable::name(&self.name()), self.claimed())
    }

    /// The server's claims, to follow the name; empty if there are none.
    pub(super) fn claimed(&self) -> String {
        match &self.claims[..] {
            [] => String::new(),
            claims => format!("  (the server claims: {})", claims.join(", ")),
        }
    }

    /// The name as `server.tool`.
    pub fn name(&self) -> String {
        format!("{}.{}", self.server, self.tool)
    }
}

/// A server's claims about a tool (MCP's `ToolAnnotations`): shown, never trusted.
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
    fn claims_are_read_from_annotations() {
        let tool =
            json!({ "annotations": { "readOnlyHint": true, "destructiveHint": true, "openWorldHint": "x" } });
        assert_eq!(claims(&tool), ["only reads", "may destroy"]);
        assert!(claims(&json!({ "annotations": 7 })).is_empty() && claims(&json!(null)).is_empty());
    }

    #[test]
    fn only_what_a_server_says_is_claimed() {
        for (annotations, words) in [
            (json!({}), vec![]),
            (json!({ "readOnlyHint": false }), vec!["changes things"]),
            (
                json!({ "readOnlyHint": true, "openWorldHint": true }),
                vec!["only reads", "reaches beyond its own data"],
            ),
            (json!({ "destructiveHint": false, "openWorldHint": false }), vec![]),
        ] {
            assert_eq!(claims(&json!({ "annotations": annotations })), words);
        }
    }

    #[test]
    fn a_tool_has_the_hash_and_the_claims_of_its_offer() {
        let of = |description: &str| {
            let tool =
                json!({ "name": "t", "description": description, "annotations": { "readOnlyHint": true } });
            RequestedTool::new("s", "t", Some(&ToolList::new(&[tool])))
        };
        let requested = of("x");
        assert_eq!((requested.name().as_str(), &requested.claims[..]), ("s.t", &["only reads"][..]));
        assert_eq!(requested.key(), ("s".to_owned(), "t".to_owned()));
        assert!(
            !requested.hash.is_empty() && requested.hash == of("x").hash && requested.hash != of("y").hash
        );
        let unknown = RequestedTool::new("s", "t", None);
        assert!(unknown.hash.is_empty() && unknown.claims.is_empty());
        let reading = RequestedTool::reading("s");
        assert!(resources::is_name(&reading.tool) && !reading.hash.is_empty() && reading.server == "s");
    }
}

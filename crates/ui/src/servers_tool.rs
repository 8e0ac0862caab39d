//! One tool: its description, its functions in Rust, its schemas, and how it was called lately.

use gateway::catalog::ToolLists;
use history::Reader;
use history::shown::duration;
use maud::html;
use serde_json::Value;
use terminal::Terminal;

use crate::access::Visitor;
use crate::configured::{Configured, address};
use crate::error::PageError;
use crate::layout::{self, Document, Section};
use crate::query::Query;
use crate::text::{count, line, lines};
use crate::try_form::ToolPath;
use crate::{code, schema, servers, servers_one, try_form};

/// The page of the tool that the query names.
///
/// # Errors
/// If there is none, or the history can't be read.
pub(crate) fn page(
    reader: Option<&Reader>,
    configured: &Configured,
    query: &Query,
    visitor: &Visitor,
) -> Result<Document, PageError> {
    let (Some(server), Some(name)) = (query.get("server"), query.get("name")) else {
        return Err(PageError::wrong("the address names no tool: add ?server=NAME&name=TOOL"));
    };
    let list = configured.lists.get(server);
    let raw = list.and_then(|list| list.tool(name));
    let (Some(list), Some(mut tool)) = (list, raw) else {
        return Err(PageError::missing(format!("no known tool is named {server}.{name}")));
    };
    configured.masker.mask_value(&mut tool);
    let title = line(&format!("{server}.{name}"));
    let place = servers_one::place(server, name, list, configured);
    let permission = servers_one::permission(configured.config.permission(server, name));
    let calls = servers::latest(reader)?;
    let text = |member: &str| tool[member].as_str().unwrap_or_default();
    let qualified = format!("{server}.{name}");
    let body = html! {
        h1 { code { bdi { (title) } } }
        dl.facts {
            div { dt { "Server" } dd { a href=(address("server", &[("name", server)])) { bdi { (line(server)) } } } }
            @if !text("title").is_empty() { div { dt { "Title" } dd { bdi { (line(text("title"))) } } } }
            div { dt { "Permission" } dd { (permission) } }
            div { dt { "Called by" } dd { (place) } }
            div { dt { "The server claims" } dd { (claims(&tool["annotations"])) } }
            @if let Some(calls) = calls.tool(server, name) {
                div { dt { "Calls" } dd {
                    a href=(address("executions", &[("tool", &qualified)])) { (count(calls.calls)) }
                    ", " (count(calls.failures)) " failed"
                    @if let (Some(median), Some(most)) = (calls.p50_ms, calls.p95_ms) {
                        "; median " (duration(median)) ", 95 % within " (duration(most))
                    }
                } }
                div { dt { "Last call" } dd { (servers::last_call(calls)) } }
            }
        }
        h2 { "Description" }
        @if text("description").is_empty() {
            p { "It has none." }
        } @else {
            pre tabindex="0" role="region" aria-label="Description" { bdi { (lines(text("description"))) } }
        }
        h2 { "In Rust" }
        @match signature(server, name, configured)? {
            Some(signature) => (code::named("Signature", &signature, &Value::Null)),
            None => p { "Snippets can't call it." },
        }
        @if visitor.may_act() {
            h2 #try { "Try a call" }
            (try_form::form(ToolPath { server, tool: name }, &tool["inputSchema"], visitor))
        }
        (schema::section("Arguments", &tool["inputSchema"]))
        @if tool["outputSchema"].is_object() {
            (schema::section("Result", &tool["outputSchema"]))
        } @else {
            h2 { "Result" }
            p { "The server declares no schema of the result." }
        }
    };
    Ok(layout::page(&title, Section::Servers, body))
}

/// Lists the claims in the annotations of a tool (MCP's `ToolAnnotations`). Nothing checks them.
fn claims(annotations: &Value) -> String {
    let claim = |name: &str, yes: &'static str, no: &'static str| {
        annotations[name].as_bool().map(|is| if is { yes } else { no })
    };
    let claims = [
        claim("readOnlyHint", "only reads", "changes things"),
        claim("destructiveHint", "may destroy", "destroys nothing"),
        claim("idempotentHint", "repeating it changes nothing more", "repeating it has another effect"),
        claim("openWorldHint", "reaches beyond its own data", "stays within its own data"),
    ];
    let claims: Vec<&str> = claims.into_iter().flatten().collect();
    if claims.is_empty() { "nothing".to_owned() } else { claims.join(", ") }
}

/// The signature of the function that snippets call, with its types.
fn signature(server: &str, tool: &str, configured: &Configured) -> Result<Option<String>, PageError> {
    let Some(list) = configured.lists.get(server) else { return Ok(None) };
    let mut lists = ToolLists::new(configured.known.clone());
    lists.insert(server, list.clone());
    // What can't be typed is a note for a terminal.
    let notifier = Terminal::new(true, false).notifier();
    let catalog = lists.generate(&configured.cache, &configured.config, &notifier);
    let Some(module) = catalog.modules().values().find(|module| module.server == server) else {
        return Ok(None);
    };
    let Some(entry) = module.tools().iter().find(|entry| entry.name == tool) else { return Ok(None) };
    let signature = module.signature(entry).map_err(|error| PageError::failed(error.to_string()))?;
    Ok(Some(configured.masked(&format!("// In the module {}\n{signature}", module.module))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_claims_of_the_server_are_shown() {
        let annotations = json!({ "readOnlyHint": true, "openWorldHint": "yes", "destructiveHint": false });
        assert_eq!(claims(&annotations), "only reads, destroys nothing");
        assert_eq!(claims(&Value::Null), "nothing");
    }
    #[test]
    fn a_tool_has_its_signature_and_schemas_and_no_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let tool = json!({ "name": "list", "description": "Lists secret-of-the-server", "inputSchema": {
            "type": "object", "required": ["limit"],
            "properties": { "limit": { "type": "integer", "description": "<b>how many</b>", "default": "secret-of-the-server" } } } });
        let configured = Configured::of_tools(folder.path(), &[tool]);
        let shown = |query: &str| {
            page(None, &configured, &Query::of(Some(query)).unwrap(), &Visitor::default())
                .map(|page| page.whole(0).into_string())
        };
        let text = shown("server=s&name=list").unwrap();
        for part in
            ["In the module s", "<code><bdi>limit</bdi></code>", "&lt;b&gt;how many&lt;/b&gt;", "snippets"]
        {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(text.contains(">list</span>") && !text.contains("secret-of"), "{text}");
        for wrong in ["server=s&name=other", "server=other&name=list", "name=list"] {
            assert!(shown(wrong).is_err(), "{wrong}");
        }
    }
}

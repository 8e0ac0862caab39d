//! MCP Apps (SEP-1865): names the views of servers so that each address belongs to one server, in tools, lists and
//! results. Servers need not list their views, so two servers may use one address unnoticed. Finds the tools that the
//! apps of views call.

use gateway::direct::{DirectTool, Partition};
use gateway::resource_address::{is_view, of_resource};
use rmcp::ErrorData;
use serde_json::{Value, json};

/// The direct tool that a client with apps calls by this name: one that is listed, or one that an app knows by the name
/// of its server.
///
/// # Errors
/// If an app may mean the tools of several servers.
pub(crate) fn tool<'a>(partition: &'a Partition, name: &str) -> Result<Option<&'a DirectTool>, ErrorData> {
    if let Some(listed) = partition.find(name).filter(|listed| listed.tool != name) {
        return Ok(Some(listed));
    }
    partition.find_for_app(name).map_err(|ambiguous| {
        let help = "a call does not say which app it is from: leave out all but one (`disabledTools`)";
        ErrorData::invalid_params(format!("{name:?} can't be called: {ambiguous}, and {help}"), None)
    })
}

/// Renames the address of a view of `server`; leaves any other value as it is.
fn rename(server: &str, uri: Option<&mut Value>) {
    if let Some(uri) = uri
        && let Some(own) = uri.as_str().filter(|own| is_view(own))
    {
        *uri = json!(of_resource(server, own));
    }
}

/// Renames the view in the metadata of a tool, also in the form before the extension was stable.
pub(crate) fn rename_in_tool(server: &str, tool: &mut Value) {
    for place in ["/_meta/ui/resourceUri", "/_meta/ui~1resourceUri"] {
        rename(server, tool.pointer_mut(place));
    }
}

/// Renames the views in the content blocks of a result: resource links, and embedded resources.
pub(crate) fn rename_in_result(server: &str, result: &mut Value) {
    let blocks = result.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten();
    for block in blocks {
        for place in ["/uri", "/resource/uri"] {
            rename(server, block.pointer_mut(place));
        }
    }
}

/// Gives the contents of a resource the address that the client asked for.
pub(crate) fn rename_in_contents(result: &mut Value, own: &str, asked: &str) {
    let contents = result.get_mut("contents").and_then(Value::as_array_mut).into_iter().flatten();
    for content in contents.filter(|content| content["uri"] == own) {
        content["uri"] = json!(asked);
    }
}

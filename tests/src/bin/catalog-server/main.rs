//! `catalog-server [--tools COUNT]`: an MCP server with very many tools, for tests of search and descriptions.
//!
//! Forty domains have twenty-five tools each: twenty-two common to all domains, and three specific ones. A smaller
//! count keeps the first tools, domain by domain. The same arguments always get the same answer.

mod answers;
mod tools;

use std::{error::Error, process::ExitCode, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    model::{
        CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams, ServerConfig, Tool,
    },
    service::RequestContext,
    transport::stdio,
};
use serde_json::json;

use tools::Entry;

/// Default and maximum number of tools.
const ALL: usize = 1000;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("catalog-server: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let count = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => ALL,
        ["--tools", count] => count.parse().ok().filter(|count| *count <= ALL).ok_or("at most 1000 tools")?,
        _ => return Err("expected no arguments, or --tools COUNT".into()),
    };
    let mut entries = tools::all()?;
    entries.truncate(count);
    Catalog { entries: Arc::new(entries) }.serve(stdio()).await?.waiting().await?;
    Ok(())
}

struct Catalog {
    entries: Arc<Vec<Entry>>,
}

impl ServerHandler for Catalog {
    fn get_info(&self) -> ServerConfig {
        let info = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "catalog-server", "version": env!("CARGO_PKG_VERSION") },
            "instructions": "Services of an office, made up. Ask for little at a time.",
        });
        serde_json::from_value(info).unwrap_or_default()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools: Result<Vec<Tool>, _> =
            self.entries.iter().map(|entry| serde_json::from_value(entry.tool.clone())).collect();
        let tools = tools.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let entry = self.entries.iter().find(|entry| entry.tool["name"] == request.name.as_ref());
        let Some(entry) = entry else {
            return Err(ErrorData::invalid_params(format!("there is no tool {}", request.name), None));
        };
        let mut result = answers::answer(entry, &request.arguments.unwrap_or_default());
        result["resultType"] = json!("complete");
        let result = serde_json::from_value(result);
        let result = result.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(CallToolResponse::Complete(result))
    }
}

//! A server of MCP that offers a [`Toolsmith`]: `execute_code`, and the tools that search.

use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

use crate::{Answer, Toolsmith};

/// Handles the requests of MCP clients (rmcp's [`ServerHandler`]). It can be served over any transport of rmcp, or be a
/// part of another handler, which passes `tools/list` and `tools/call` on to it.
///
/// ```no_run
/// use rmcp::ServiceExt as _;
///
/// # async fn example(toolsmith: toolsmith::Toolsmith, stream: tokio::io::DuplexStream)
/// # -> Result<(), Box<dyn std::error::Error>> {
/// let running = toolsmith.handler().serve(tokio::io::split(stream)).await?;
/// running.waiting().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Handler(Toolsmith);

impl Toolsmith {
    /// Returns a handler for MCP clients. Its questions go to [`Builder::permission`](crate::Builder::permission).
    #[must_use]
    pub fn handler(&self) -> Handler {
        Handler(self.clone())
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("toolsmith", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let definitions = self.0.definitions().await.map_err(|error| failed(&error))?;
        let tools: Result<Vec<Tool>, _> =
            definitions.iter().map(|definition| serde_json::from_value(definition.listed())).collect();
        Ok(ListToolsResult::with_all_items(tools.map_err(|error| failed(&error))?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let answer = tokio::select! {
            answer = self.0.answer(&request.name, arguments) => answer,
            () = context.ct.cancelled() => Ok("cancelled".into()),
        };
        // A failure of the host is an answer, so that the model learns of it.
        let Answer { content, is_error } = answer.unwrap_or_else(|error| error.to_string().as_str().into());
        let result = json!({ "content": content, "isError": is_error });
        let result: CallToolResult = serde_json::from_value(result).map_err(|error| failed(&error))?;
        Ok(result.into())
    }
}

fn failed(error: &dyn std::error::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

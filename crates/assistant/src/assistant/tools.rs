//! The tools of an agent: those that `toolsmith serve` offers to clients, and the servers' resources.

use std::sync::Arc;
use std::time::Duration;

use agent::{ToolCall, ToolDefinition, ToolResult, ToolsError, Toolset};
use config::Server;
use futures::FutureExt as _;
use futures::StreamExt as _;
use futures::future::{BoxFuture, join_all};
use futures::stream::FuturesUnordered;
use gateway::failure::Failure;
use gateway::resource_address;
use gateway::resources::{LIST, READ, fits_query};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use server::caller::Abilities;
use server::in_process::{self, InProcessClient};
use server::resources_and_prompts::AGENTS_WAIT;
use server::session::AgentIsolation;
use server::state::ServerState;
use server::upstreams::Upstreams;
use tokio::time::timeout;

use super::content;
use super::names::Names;

/// Limit on resources, and on templates, in a list; a model can filter to see the others.
const LIST_LIMIT: usize = 500;

/// The tools of an agent, over its own session.
pub(crate) struct Tools {
    inside: InProcessClient,
    names: Mutex<Names>,
    /// Handles progress of calls.
    on_progress: ProgressHandler,
    /// Members for the `_meta` of each call.
    meta: Map<String, Value>,
}

/// All servers have failed.
#[derive(Debug, thiserror::Error)]
#[error("no server is available:\n{}", .reasons.join("\n"))]
pub(crate) struct NoServer {
    /// The reason why each failed, with secrets masked.
    pub(crate) reasons: Vec<String>,
}

/// The reason why a call failed, as the model reads it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct CallError(String);

/// Handles the progress of a tool's call.
pub(crate) type ProgressHandler = Arc<dyn Fn(&str, mcp::ProgressMade) + Send + Sync>;

impl Tools {
    /// Starts a session; `host` answers questions of servers and permission questions.
    ///
    /// # Errors
    /// If no session can be started.
    pub(crate) async fn connect(
        state: &Arc<ServerState>,
        host: Arc<dyn mcp::Host>,
        isolation: AgentIsolation,
        on_progress: ProgressHandler,
    ) -> Result<Self, Failure> {
        let inside = in_process::connect(state, host, isolation).await?;
        Ok(Tools { inside, names: Mutex::default(), on_progress, meta: Map::new() })
    }

    /// The same tools, with these members in the `_meta` of each call, also to servers.
    pub(crate) fn marked(self, meta: Map<String, Value>) -> Self {
        Tools { meta, ..self }
    }

    /// The instructions of servers that connect in time, by server.
    pub(crate) async fn instructions(&self) -> Vec<(String, String)> {
        let live = self.inside.client.live(Abilities::default());
        let snapshot = live.now();
        let wait = snapshot.config().serve.list_wait.unwrap_or_default().max(AGENTS_WAIT);
        let mut texts = Vec::new();
        for server in &snapshot.config().servers {
            texts.push(instructions_of(server.connection.name.clone(), live.upstreams.clone(), wait).boxed());
        }
        join_all(texts).await.into_iter().flatten().collect()
    }

    /// Waits until a server is usable. A timeout is not an error, since a server may still become usable.
    ///
    /// # Errors
    /// If all servers have failed.
    pub(crate) async fn any_server(&self) -> Result<(), NoServer> {
        let live = self.inside.client.live(Abilities::default());
        let snapshot = live.now();
        let servers = &snapshot.config().servers;
        let settling = servers.iter().map(|server| live.upstreams.settled(server));
        let mut settling: FuturesUnordered<_> = settling.collect();
        let all_failed = async {
            let mut any = settling.is_empty();
            while let (false, Some(is_usable)) = (any, settling.next().await) {
                any = is_usable;
            }
            !any
        };
        if !timeout(AGENTS_WAIT, all_failed).await.unwrap_or(false) {
            return Ok(());
        }
        let why = |server: &Server| {
            let error = live.upstreams.status(&server.connection.name)?.last_error?;
            Some(snapshot.settings.masker.mask(&error).into_owned())
        };
        let reasons: Vec<String> = servers.iter().filter_map(why).collect();
        Err(NoServer { reasons })
    }

    /// A line about unavailable servers, after the servers had time to answer.
    pub(crate) async fn missing(&self) -> Option<String> {
        self.inside.client.live(Abilities::default()).within(AGENTS_WAIT).await.missing.line()
    }

    /// A line about what the user must do first, if a project's file is left out.
    pub(crate) fn untrusted(&self) -> Option<String> {
        self.inside.client.live(Abilities::default()).now().config().untrusted.clone()
    }

    /// This process's end of the session.
    pub(crate) fn inside(&self) -> &InProcessClient {
        &self.inside
    }

    /// Ends the session in order.
    pub(crate) async fn close(self) {
        self.inside.session.close().await;
    }

    async fn list(&self) -> Result<Vec<ToolDefinition>, ToolsError> {
        let listing = self.inside.session.list_tools().await.map_err(|error| ToolsError(Box::new(error)))?;
        let own = [LIST, READ];
        let names = Names::of(own.into_iter().chain(listing.tools.iter().map(|tool| tool.name.as_str())));
        let definitions = listing.tools.iter().filter_map(|tool| {
            let mut definition = tool.definition();
            Some(ToolDefinition {
                name: names.name(&tool.name)?.to_owned(),
                description: definition["description"].as_str().unwrap_or_default().to_owned(),
                input_schema: definition["inputSchema"].take(),
            })
        });
        let definitions = definitions.chain(resource_tools()).collect();
        *self.names.lock() = names;
        Ok(definitions)
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let Value::Object(arguments) = &call.arguments else {
            return ToolResult::of(call, "the arguments must be a JSON object", true);
        };
        let answered = match call.name.as_str() {
            LIST => self.resources(call, arguments).await,
            READ => self.resource(call, arguments).await,
            name => match self.tool(name) {
                Some(tool) => self.carry(call, tool, arguments).await,
                None => Err(CallError(format!("unknown tool {name:?}"))),
            },
        };
        answered.unwrap_or_else(|error| ToolResult::of(call, error.0, true))
    }

    /// The tool with this name.
    fn tool(&self, name: &str) -> Option<String> {
        self.names.lock().tool(name).map(str::to_owned)
    }

    async fn carry(
        &self,
        call: &ToolCall,
        tool: String,
        arguments: &Map<String, Value>,
    ) -> Result<ToolResult, CallError> {
        let (on_progress, name) = (self.on_progress.clone(), call.name.clone());
        let mut parameters = Map::from_iter([
            ("name".to_owned(), Value::String(tool)),
            ("arguments".to_owned(), Value::Object(arguments.clone())),
        ]);
        if !self.meta.is_empty() {
            parameters.insert("_meta".to_owned(), Value::Object(self.meta.clone()));
        }
        let progress: mcp::ProgressSink = Arc::new(move |made| on_progress(&name, made));
        let request = mcp::ForwardedRequest {
            parameters,
            progress: Some(progress),
            answers_input: true,
            arguments: None,
            ..mcp::ForwardedRequest::default()
        };
        let answer = self.ask("tools/call", request).await?;
        Ok(content::result(call, &answer))
    }

    async fn ask(&self, method: &'static str, request: mcp::ForwardedRequest) -> Result<Value, CallError> {
        let answer = self.inside.session.carry(method, request).await.map_err(|error| failed(&error))?;
        serde_json::from_str(answer.get()).map_err(|error| CallError(error.to_string()))
    }

    /// The resources and templates of all servers or of one, filtered by the words of a query.
    async fn resources(
        &self,
        call: &ToolCall,
        arguments: &Map<String, Value>,
    ) -> Result<ToolResult, CallError> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let (query, server) = (text("query").unwrap_or_default(), text("server"));
        let session = &self.inside.session;
        let (resources, templates) =
            tokio::join!(session.list_resources(), session.list_resource_templates());
        let (resources, templates) =
            (resources.map_err(|error| failed(&error))?, templates.map_err(|error| failed(&error))?);
        let fitting = |items: &[Value]| -> Vec<Value> {
            let owner = |item: &Value| item["server"].as_str().unwrap_or_default().to_owned();
            let of_server = |item: &&Value| server.is_none_or(|server| owner(item) == server);
            let fits = |item: &&Value| of_server(item) && fits_query(&owner(item), item, query);
            items.iter().filter(fits).cloned().collect()
        };
        let (mut resources, mut templates) = (fitting(&resources.items), fitting(&templates.items));
        let left_out =
            resources.len().saturating_sub(LIST_LIMIT) + templates.len().saturating_sub(LIST_LIMIT);
        resources.truncate(LIST_LIMIT);
        templates.truncate(LIST_LIMIT);
        let mut found = json!({ "resources": resources, "templates": templates });
        if left_out > 0 {
            found["left_out"] = json!(format!("{left_out} more; ask with query or server to see them"));
        }
        Ok(ToolResult::of(call, found.to_string(), false))
    }

    async fn resource(
        &self,
        call: &ToolCall,
        arguments: &Map<String, Value>,
    ) -> Result<ToolResult, CallError> {
        let Some(uri) = arguments.get("uri").and_then(Value::as_str) else {
            return Err(CallError("uri is missing; give the address of a resource".to_owned()));
        };
        let uri = match arguments.get("server").and_then(Value::as_str) {
            Some(server) => resource_address::of_resource(server, uri),
            None => uri.to_owned(),
        };
        let parameters = Map::from_iter([("uri".to_owned(), json!(uri))]);
        let request =
            mcp::ForwardedRequest { parameters, answers_input: true, ..mcp::ForwardedRequest::default() };
        let answer = self.ask("resources/read", request).await?;
        Ok(ToolResult { blocks: content::contents(&answer), ..ToolResult::of(call, "", false) })
    }
}

impl Toolset for Tools {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<ToolDefinition>, ToolsError>> {
        self.list().boxed()
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.answer(call).boxed()
    }
}

/// The error for a model, without this process's name: an error response already names its server.
fn failed(error: &mcp::Error) -> CallError {
    CallError(match &*error.kind {
        mcp::ErrorKind::Rpc { message, .. } => message.clone(),
        kind => kind.to_string(),
    })
}

/// A server's instructions, if it connects in time.
async fn instructions_of(
    server: String,
    upstreams: Arc<Upstreams>,
    wait: Duration,
) -> Option<(String, String)> {
    let session = timeout(wait, upstreams.connected(&server)).await.ok()??;
    let text = session.instructions().filter(|text| !text.trim().is_empty())?.to_owned();
    Some((server, text))
}

/// The tools over resources.
fn resource_tools() -> [ToolDefinition; 2] {
    [
        ToolDefinition {
            name: LIST.to_owned(),
            description: "Lists the resources of all MCP servers, and templates of addresses.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "only items that contain each of these words" },
                    "server": { "type": "string", "description": "only items of this server" },
                },
            }),
        },
        ToolDefinition {
            name: READ.to_owned(),
            description: "Reads a resource by its address.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "uri": { "type": "string" },
                    "server": { "type": "string", "description": "if several servers have the address" },
                },
                "required": ["uri"],
            }),
        },
    ]
}

#[cfg(test)]
mod tests;

//! The tools of an agent: what `toolsmith serve` offers to any client, and the servers' resources.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::{ToolCall, ToolDefinition, ToolResult, Toolset};
use config::Server;
use futures::FutureExt as _;
use futures::StreamExt as _;
use futures::future::{BoxFuture, join_all};
use futures::stream::FuturesUnordered;
use gateway::failure::Failure;
use gateway::resources::{LIST, READ, fits_query};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::content;
use super::names::Names;
use crate::caller::Abilities;
use crate::in_process::{self, InProcessClient};
use crate::resources_and_prompts;
use crate::resources_and_prompts::AGENTS_WAIT;
use crate::session::AgentIsolation;
use crate::state::ServerState;
use crate::upstreams::Upstreams;

/// Most resources, and most templates, that a list tells; a model asks for fewer to see the others.
const MOST_LISTED: usize = 500;

/// The tools of an agent, over a session of its own.
pub struct Tools {
    inside: InProcessClient,
    names: Mutex<Names>,
    /// Who is told how far calls are.
    told: ProgressHandler,
    /// What goes with each call (`_meta`).
    meta: Map<String, Value>,
}

/// Who is told how far a call is: the tool, and what there is to tell.
pub(crate) type ProgressHandler = Arc<dyn Fn(&str, mcp::ProgressMade) + Send + Sync>;

impl Tools {
    /// Begins a session; `host` answers what servers ask, and the questions whether tools may be called.
    ///
    /// # Errors
    /// Where there is no session.
    pub async fn connect(
        state: &Arc<ServerState>,
        host: Arc<dyn mcp::Host>,
        company: AgentIsolation,
        told: ProgressHandler,
    ) -> Result<Self, Failure> {
        let inside = in_process::connect(state, host, company).await?;
        Ok(Tools { inside, names: Mutex::default(), told, meta: Map::new() })
    }

    /// The same tools; these members go with each call (`_meta`), on to the servers.
    pub(crate) fn marked(self, meta: Map<String, Value>) -> Self {
        Tools { meta, ..self }
    }

    /// What servers say of their use, by server: of those that are there in time.
    pub(crate) async fn instructions(&self) -> Vec<(String, String)> {
        let live = self.inside.client.live(Abilities::default());
        let snapshot = live.now();
        let wait = snapshot.config().serve.list_wait.max(AGENTS_WAIT);
        let mut asked = Vec::new();
        for server in &snapshot.config().servers {
            asked.push(words_of(server.connection.name.clone(), live.upstreams.clone(), wait).boxed());
        }
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Waits until any server can be used; as long as it is not known that none can be, that is no error.
    ///
    /// # Errors
    /// Where no server can be used: why, one line for each.
    pub async fn any_server(&self) -> Result<(), String> {
        let live = self.inside.client.live(Abilities::default());
        let snapshot = live.now();
        let servers = &snapshot.config().servers;
        let settling = servers.iter().map(|server| live.upstreams.settled(server));
        let mut settling: FuturesUnordered<_> = settling.collect();
        let none_is_there = async {
            let mut any = settling.is_empty();
            while let (false, Some(is_there)) = (any, settling.next().await) {
                any = is_there;
            }
            !any
        };
        if !timeout(AGENTS_WAIT, none_is_there).await.unwrap_or(false) {
            return Ok(());
        }
        let why = |server: &Server| {
            let error = live.upstreams.status(&server.connection.name)?.last_error?;
            Some(snapshot.settings.masker.mask(&error).into_owned())
        };
        let reasons: Vec<String> = servers.iter().filter_map(why).collect();
        Err(format!("no server can be used:\n{}", reasons.join("\n")))
    }

    /// What can't be used, in one line, once the servers have had their time to answer.
    pub async fn missing(&self) -> Option<String> {
        self.inside.client.live(Abilities::default()).within(AGENTS_WAIT).await.missing.line()
    }

    /// What a person has to do first, in one line, where a project's file is left out.
    pub(crate) fn untrusted(&self) -> Option<String> {
        self.inside.client.live(Abilities::default()).now().config().untrusted.clone()
    }

    /// This process's end of the session.
    pub fn inside(&self) -> &InProcessClient {
        &self.inside
    }

    /// Ends the session in order.
    pub async fn close(self) {
        self.inside.session.close().await;
    }

    async fn list(&self) -> Result<Vec<ToolDefinition>, String> {
        let listing = self.inside.session.list_tools().await.map_err(|error| error.to_string())?;
        let own = [LIST, READ];
        let names = Names::of(own.into_iter().chain(listing.tools.iter().map(|tool| tool.name.as_str())));
        let definitions = listing.tools.iter().filter_map(|tool| {
            Some(ToolDefinition {
                name: names.name(&tool.name)?.to_owned(),
                description: tool.description.clone().unwrap_or_default(),
                input_schema: tool.input_schema.clone(),
            })
        });
        let definitions = definitions.chain(resource_tools()).collect();
        *self.names.lock().unwrap_or_else(PoisonError::into_inner) = names;
        Ok(definitions)
    }

    async fn answer(&self, call: &ToolCall) -> ToolResult {
        let Value::Object(arguments) = &call.arguments else {
            return ToolResult::of(call, "the arguments are no JSON object; write one", true);
        };
        let answered = match call.name.as_str() {
            LIST => self.resources(call, arguments).await,
            READ => self.resource(call, arguments).await,
            name => match self.tool(name) {
                Some(tool) => self.carry(call, tool, arguments).await,
                None => Err(format!("there is no tool {name:?}")),
            },
        };
        answered.unwrap_or_else(|message| ToolResult::of(call, message, true))
    }

    /// The tool that a name stands for.
    fn tool(&self, name: &str) -> Option<String> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).tool(name).map(str::to_owned)
    }

    async fn carry(
        &self,
        call: &ToolCall,
        tool: String,
        arguments: &Map<String, Value>,
    ) -> Result<ToolResult, String> {
        let (told, name) = (self.told.clone(), call.name.clone());
        let mut parameters = Map::from_iter([
            ("name".to_owned(), Value::String(tool)),
            ("arguments".to_owned(), Value::Object(arguments.clone())),
        ]);
        if !self.meta.is_empty() {
            parameters.insert("_meta".to_owned(), Value::Object(self.meta.clone()));
        }
        let progress: mcp::ProgressSink = Arc::new(move |made| told(&name, made));
        let request = mcp::ForwardedRequest {
            parameters,
            progress: Some(progress),
            answers_input: true,
            arguments: None,
        };
        let answer = self.ask("tools/call", request).await?;
        Ok(content::result(call, &answer))
    }

    async fn ask(&self, method: &'static str, request: mcp::ForwardedRequest) -> Result<Value, String> {
        let answer = self.inside.session.carry(method, request).await.map_err(|error| told(&error))?;
        serde_json::from_str(answer.get()).map_err(|error| error.to_string())
    }

    /// The resources and templates of all servers or of one, of which something has each word of a query.
    async fn resources(&self, call: &ToolCall, arguments: &Map<String, Value>) -> Result<ToolResult, String> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let (query, server) = (text("query").unwrap_or_default(), text("server"));
        let session = &self.inside.session;
        let (resources, templates) =
            tokio::join!(session.list_resources(), session.list_resource_templates());
        let (resources, templates) =
            (resources.map_err(|error| told(&error))?, templates.map_err(|error| told(&error))?);
        let fitting = |items: &[Value]| -> Vec<Value> {
            let owner = |item: &Value| item["server"].as_str().unwrap_or_default().to_owned();
            let of_server = |item: &&Value| server.is_none_or(|server| owner(item) == server);
            let fits = |item: &&Value| of_server(item) && fits_query(&owner(item), item, query);
            items.iter().filter(fits).cloned().collect()
        };
        let (mut resources, mut templates) = (fitting(&resources.items), fitting(&templates.items));
        let left_out =
            resources.len().saturating_sub(MOST_LISTED) + templates.len().saturating_sub(MOST_LISTED);
        resources.truncate(MOST_LISTED);
        templates.truncate(MOST_LISTED);
        let mut found = json!({ "resources": resources, "templates": templates });
        if left_out > 0 {
            found["left_out"] = json!(format!("{left_out} more; ask with query or server to see them"));
        }
        Ok(ToolResult::of(call, found.to_string(), false))
    }

    async fn resource(&self, call: &ToolCall, arguments: &Map<String, Value>) -> Result<ToolResult, String> {
        let Some(uri) = arguments.get("uri").and_then(Value::as_str) else {
            return Err("uri is missing; write the address of a resource".to_owned());
        };
        let uri = match arguments.get("server").and_then(Value::as_str) {
            Some(server) => resources_and_prompts::qualified(server, uri),
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
    fn tools(&self) -> BoxFuture<'_, Result<Vec<ToolDefinition>, String>> {
        self.list().boxed()
    }

    fn call<'a>(&'a self, call: &'a ToolCall) -> BoxFuture<'a, ToolResult> {
        self.answer(call).boxed()
    }
}

/// What a model reads of an error: this process is no server to it, and what a server answers names that server.
fn told(error: &mcp::Error) -> String {
    match &*error.kind {
        mcp::ErrorKind::Rpc { message, .. } => message.clone(),
        kind => kind.to_string(),
    }
}

/// What a server says of its use, if it is there in time.
async fn words_of(server: String, upstreams: Arc<Upstreams>, wait: Duration) -> Option<(String, String)> {
    let session = timeout(wait, upstreams.connected(&server)).await.ok()??;
    let words = session.instructions().filter(|words| !words.trim().is_empty())?.to_owned();
    Some((server, words))
}

/// The tools that are not a server's.
fn resource_tools() -> [ToolDefinition; 2] {
    [
        ToolDefinition {
            name: LIST.to_owned(),
            description: "Lists the resources of all MCP servers, and templates of addresses.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "query": { "type": "string", "description": "only what has each of these words" },
                    "server": { "type": "string", "description": "only those of this server" },
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
                    "server": { "type": "string", "description": "where several have the address" },
                },
                "required": ["uri"],
            }),
        },
    ]
}

#[cfg(test)]
mod tests;

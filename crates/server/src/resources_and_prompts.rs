//! Resources and prompts of the servers under stable names: a server's own name, unless an earlier server has it.

use std::collections::BTreeSet;
use std::time::Duration;

use config::{Config, Permission, Server};
use futures::future::join_all;
use gateway::direct::DirectTool;
use gateway::resource_address::{self, is_view};
use gateway::resources;
use gateway::resources::{READ, fits_template, meant};
use mcp::{Items, Session};
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::output_store;
use super::proxy::ProxiedRequest;

/// The time for which lists wait for servers that are starting, unless `serve.listWait` says otherwise: clients ask
/// again when a slower server is ready.
pub(crate) const LIST_WAIT: Duration = Duration::from_millis(500);

/// The time for which an agent of this process waits for servers before it gets the available lists, and a call of a
/// direct tool, or a look-up that finds nothing yet, waits for its server.
pub const AGENTS_WAIT: Duration = Duration::from_secs(5);

/// A kind of list that servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum List {
    Resources,
    Templates,
    Prompts,
}

impl List {
    /// The member of the result with the items.
    pub(crate) fn member(self) -> &'static str {
        match self {
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
            List::Prompts => "prompts",
        }
    }

    /// The member of an item that identifies it.
    fn key(self) -> &'static str {
        match self {
            List::Resources => "uri",
            List::Templates => "uriTemplate",
            List::Prompts => "name",
        }
    }

    fn capability(self) -> &'static str {
        match self {
            List::Resources | List::Templates => "resources",
            List::Prompts => "prompts",
        }
    }

    /// The name of an item of `server` if another server already has the plain name.
    fn qualified(self, server: &str, name: &str) -> String {
        match self {
            List::Resources => resource_address::of_resource(server, name),
            List::Templates => resource_address::of_template(server, name),
            List::Prompts => format!("{name}@{server}"),
        }
    }
}

/// The servers whose resources or prompts are offered: all that do not forbid it, even if only snippets call their
/// tools.
pub(crate) fn servers(proxied: &ProxiedRequest, list: List) -> Vec<&Server> {
    let config: &Config = proxied.snapshot.config();
    let is_offered = |server: &&Server| {
        let name = &server.connection.name;
        if list == List::Prompts {
            config.permits(name, resources::PROMPT)
        } else {
            resources::may_be_listed(config, name)
        }
    };
    config.servers.iter().filter(is_offered).collect()
}

impl ProxiedRequest {
    /// Whether the client uses a server directly, because at least one of its tools is not only for snippets.
    pub(crate) fn is_used_directly(&self, server: &Server) -> bool {
        let config = self.snapshot.config();
        let is_of_server = |tool: &DirectTool| tool.server == server.connection.name && !tool.is_for_apps;
        let has_direct = || self.snapshot.partition.direct.iter().any(is_of_server);
        !config.code_mode.enabled || !server.code_mode || has_direct()
    }

    /// Whether a client with apps reads this resource to show an answer: it is the view of a tool that may be called, and
    /// reading is not denied.
    pub(crate) fn shows_view(&self, server: &str, uri: &str) -> bool {
        let config = self.snapshot.config();
        let Some(list) = self.snapshot.lists.get(server) else { return false };
        let may = |name: &str| config.permission(server, name) != Permission::Deny;
        let may_read = || !config.denies(server, READ) && may(READ);
        let held = || self.snapshot.settings.known.pins.held(server, list);
        let is_shown = |tool: &str| config.admits(server, tool) && may(tool) && !held().contains(tool);
        self.caller.abilities.shows_apps
            && may_read()
            && list.views().any(|(tool, view)| view == uri && is_shown(tool))
    }

    /// A session for reading a server's lists. A client is not kept waiting but notified of lists that arrive later; it
    /// does not get its own sessions for them.
    pub(crate) async fn listing(&self, server: &Server) -> Option<Session> {
        // The lists of a server that knows its users belong to one of them.
        let has_own_lists = server.is_per_subject() && self.session.subject.is_some();
        if self.session.is_agent() || has_own_lists {
            return timeout(AGENTS_WAIT, self.upstreams.session(server)).await.ok()?.ok();
        }
        let name = &server.connection.name;
        let connected = async {
            match self.upstreams.connected(name).await {
                Some(session) => Some(session),
                None => self.shared.connected(name).await,
            }
        };
        timeout(self.snapshot.config().serve.list_wait.unwrap_or(LIST_WAIT), connected).await.ok()?
    }

    /// Merges the lists of all servers. Unavailable servers are left out.
    pub(crate) async fn list(&self, list: List) -> Vec<Value> {
        let mut items = Vec::new();
        let mut names = BTreeSet::new();
        for (server, found) in self.lists(list).await {
            for mut item in found {
                let Some(name) = item[list.key()].as_str().map(str::to_owned) else { continue };
                if list != List::Prompts && is_view(&name) || !names.insert(name.clone()) {
                    let qualified = list.qualified(&server.connection.name, &name);
                    names.insert(qualified.clone());
                    item[list.key()] = json!(qualified);
                }
                if self.session.is_agent() {
                    item["server"] = json!(server.connection.name);
                }
                items.push(item);
            }
        }
        items
    }

    async fn lists(&self, list: List) -> Vec<(&Server, Vec<Value>)> {
        let asking = servers(self, list).into_iter().map(|server| async move {
            let session = self.listing(server).await?;
            session.capabilities().get(list.capability()).filter(|capability| capability.is_object())?;
            let found: Result<Items, mcp::Error> = match list {
                List::Resources => session.list_resources().await,
                List::Templates => session.list_resource_templates().await,
                List::Prompts => session.list_prompts().await,
            };
            Some((server, found.ok()?.items))
        });
        join_all(asking).await.into_iter().flatten().collect()
    }

    /// The server that a name belongs to, and the server's own name for it.
    pub(crate) async fn owner(&self, list: List, name: &str) -> Option<(String, String)> {
        if let Some(owner) = self.qualified_owner(list, name) {
            return Some(owner);
        }
        for (server, items) in self.lists(list).await {
            let fits = |item: &Value| match (list, item[list.key()].as_str()) {
                (_, Some(known)) if known == name => true,
                (List::Templates, Some(template)) => fits_template(template, name),
                _ => false,
            };
            if items.iter().any(fits) {
                return Some((server.connection.name.clone(), name.to_owned()));
            }
        }
        None
    }

    pub(crate) fn qualified_owner(&self, list: List, name: &str) -> Option<(String, String)> {
        let (server, name) = match list {
            List::Prompts => name.rsplit_once('@').map(|(name, server)| (server, name.to_owned()))?,
            List::Resources | List::Templates => resource_address::parts(name)?,
        };
        let is_known = servers(self, list).iter().any(|known| known.connection.name == server);
        is_known.then(|| (server.to_owned(), name))
    }

    /// The server of a resource: one that lists it, one with a matching template, or the only server.
    pub(crate) async fn owner_of_resource(&self, uri: &str) -> Option<(String, String)> {
        if is_view(uri) && self.owners_of_view(uri).await > 1 {
            return None;
        }
        if let Some(owner) = self.owner(List::Resources, uri).await {
            return Some(owner);
        }
        if let Some(owner) = self.owner(List::Templates, uri).await {
            return Some(owner);
        }
        let all = servers(self, List::Resources);
        let direct: Vec<&Server> =
            all.iter().filter(|server| self.is_used_directly(server)).copied().collect();
        match if self.session.is_agent() || direct.is_empty() { all } else { direct }.as_slice() {
            [only] => Some((only.connection.name.clone(), uri.to_owned())),
            _ => None,
        }
    }

    /// The number of servers that have a tool with this view, or list it under this address.
    async fn owners_of_view(&self, uri: &str) -> usize {
        let lists = self.lists(List::Resources).await;
        let listing = lists.iter().filter(|(_, items)| items.iter().any(|item| item["uri"] == uri));
        let mut owners: BTreeSet<&str> = listing.map(|(server, _)| server.connection.name.as_str()).collect();
        for (server, list) in &self.snapshot.lists {
            if list.views().any(|(_, view)| view == uri) {
                owners.insert(server);
            }
        }
        owners.len()
    }

    /// A note that suggests similar addresses, for an error about an address that no server lists.
    pub(crate) async fn meant(&self, uri: &str) -> String {
        let lists = self.lists(List::Resources).await;
        let addresses = lists.iter().flat_map(|(_, items)| items).filter_map(|item| item["uri"].as_str());
        meant(uri, addresses)
    }

    /// Sends a request to all servers with a capability: the level of log messages.
    pub(crate) async fn send_to_all(
        &self,
        capability: &str,
        method: &'static str,
        parameters: &Map<String, Value>,
    ) {
        let direct = servers(self, List::Prompts).into_iter().filter(|server| self.is_used_directly(server));
        let asking = direct.map(|server| async move {
            // A server that is unavailable has nothing to log.
            let session = self.upstreams.session(server).await.ok()?;
            session.capabilities().get(capability).filter(|capability| capability.is_object())?;
            let request =
                mcp::ForwardedRequest { parameters: parameters.clone(), ..mcp::ForwardedRequest::default() };
            session.carry(method, request).await.ok()
        });
        join_all(asking).await;
    }
}

/// The template of stored outputs.
pub(crate) fn own_template() -> Value {
    json!({
        "uriTemplate": output_store::TEMPLATE, "name": "execution output", "mimeType": "text/plain",
        "description": "What an execution printed or returned beyond its answer, by range: offset and length in bytes",
    })
}

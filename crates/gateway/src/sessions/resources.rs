//! The resources of all servers, as the programs of an execution list and read them.
//!
//! Reading needs permission, since it shows a server's data to the program; listing does not, like looking up tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use config::Permission;
use futures::{StreamExt as _, stream};
use mcp::{ErrorKind, Items};
use runner::{CallFailure, FailureKind, FoundResource};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Sessions;
use super::resource_lists::{AmbiguousResource, Lists, addresses, owner};
use crate::permission::{Reason, RequestedTool};
use crate::reference::letters;
use crate::resources::{LIST, MAX_ADDRESS, READ, fits_query, meant};

/// Maximum servers that are asked at once.
const SERVERS_AT_ONCE: usize = 16;

/// Maximum resources in one list for a program.
const MAX_LISTED: usize = 10_000;

/// Maximum size of a resource's contents, in bytes of JSON (16 MiB).
const MAX_READ: usize = 16 << 20;

/// "Method not found" of JSON-RPC: a server with resources need not support templates, and vice versa.
const UNKNOWN_METHOD: i64 = -32_601;

impl Sessions {
    /// The resources of all servers, or of one, that match each word of `query`. A server that fails is skipped and
    /// reported, unless it was named or all have failed.
    pub(super) async fn resources(
        &self,
        server: Option<&str>,
        query: Option<&str>,
    ) -> Result<Vec<FoundResource>, CallFailure> {
        let servers = match server {
            Some(server) => vec![self.listable(server)?],
            None => self.all_listable()?,
        };
        let (lists, failures) = self.list(servers).await;
        match failures.into_values().next() {
            Some(failure) if lists.is_empty() => return Err(failure),
            _ => {}
        }
        let query = query.unwrap_or_default();
        let found = lists.values().flat_map(|list| list.iter());
        let found = found.filter(|resource| fits_query(&resource.server, &as_listed(resource), query));
        let found: Vec<FoundResource> = found.take(MAX_LISTED + 1).cloned().collect();
        if found.len() > MAX_LISTED {
            return Err(failed(
                FailureKind::InvalidParams,
                format!(
                    "more than {MAX_LISTED} resources match; narrow the search with .server(…) or .query(…)"
                ),
            ));
        }
        Ok(found)
    }

    /// The server of a resource: the named one, or the one that lists the address or a matching template, or the only
    /// one that lists any.
    pub(super) async fn server_of(&self, uri: &str, server: Option<&str>) -> Result<String, CallFailure> {
        let invalid = |message| failed(FailureKind::InvalidParams, message);
        let ambiguous = |error: AmbiguousResource| invalid(error.to_string());
        if uri.len() > MAX_ADDRESS {
            let message = format!("the address has {} bytes; the limit is {MAX_ADDRESS}", uri.len());
            return Err(invalid(message));
        }
        if let Some(server) = server {
            return self.named(server);
        }
        let servers = self.all_listable()?;
        let known = self.listed.known();
        // With incomplete lists, the address may belong to another server too.
        if servers.iter().all(|server| known.contains_key(server))
            && let Some(owner) = owner(&known, uri).map_err(ambiguous)?
        {
            return Ok(owner);
        }
        let (lists, failures) = self.list(servers).await;
        if let Some(owner) = owner(&lists, uri).map_err(ambiguous)? {
            return Ok(owner);
        }
        let with_any: Vec<&String> =
            lists.iter().filter(|(_, list)| !list.is_empty()).map(|(name, _)| name).collect();
        if let ([only], true) = (with_any.as_slice(), failures.is_empty()) {
            return Ok((*only).clone());
        }
        let mut message =
            format!("no server has the resource {uri:?}{}", meant(uri, addresses(lists.values())));
        for failure in failures.values() {
            message = format!("{message}\nnot asked: {}", failure.message);
        }
        Err(invalid(message))
    }

    /// Decides whether a resource may be read.
    pub(super) async fn may_read(&self, server: &str, uri: &str) -> Result<(), CallFailure> {
        let policy = self.policy()?;
        let arguments = serde_json::value::to_raw_value(&json!({ "uri": uri }))
            .map_err(|error| failed(FailureKind::Protocol, error.to_string()))?;
        let requested = || RequestedTool::reading(server);
        let decided = policy.decide_call((server, READ), requested, &arguments, &self.answers).await;
        decided.map_err(|refusal| match refusal.reason {
            Reason::NoTerminal if refusal.kind() == FailureKind::Denied => {
                denied(format!("{}, for example:\n{}", refusal.report().for_model(), refusal.entries()))
            }
            _ => failed(refusal.kind(), refusal.report().for_model()),
        })
    }

    /// The contents of a resource, as its server sent it.
    pub(super) async fn read(&self, server: &str, uri: &str) -> Result<Box<RawValue>, CallFailure> {
        drop(self.start(server));
        let opened = self.usable(server).await?;
        match opened.session.read_resource(uri).await {
            Ok(read) if read.get().len() > MAX_READ => {
                let bytes = read.get().len();
                let message =
                    format!("the resource {uri:?} has {bytes} bytes as JSON; the limit is {MAX_READ}");
                Err(failed(FailureKind::Protocol, message))
            }
            Ok(read) => Ok(read),
            Err(error) => {
                let mut failure = self.failure(&error);
                if failure.kind == FailureKind::Rejected {
                    let (lists, _) = self.list(vec![server.to_owned()]).await;
                    let is_known = addresses(lists.values()).any(|known| known == uri);
                    let near = if is_known { String::new() } else { meant(uri, addresses(lists.values())) };
                    failure.message.push_str(&near);
                }
                Err(failure)
            }
        }
    }

    /// Asks servers for their resources; returns the lists, and the failures of other servers.
    async fn list(&self, servers: Vec<String>) -> (Lists, BTreeMap<String, CallFailure>) {
        let asking = stream::iter(servers).map(|server| async move {
            let listed = self.list_of(&server).await;
            (server, listed)
        });
        let answers: Vec<_> = asking.buffered(SERVERS_AT_ONCE).collect().await;
        let (mut lists, mut failures) = (Lists::new(), BTreeMap::new());
        for (server, listed) in answers {
            match listed {
                Ok(list) => drop(lists.insert(server, list)),
                Err(failure) => {
                    let message = &failure.message;
                    let notifier = self.host.notifier();
                    notifier.note(&format!("warning: {server}: its resources can't be listed: {message}"));
                    failures.insert(server, failure);
                }
            }
        }
        self.listed.extend(&lists);
        (lists, failures)
    }

    async fn list_of(&self, server: &str) -> Result<Arc<[FoundResource]>, CallFailure> {
        drop(self.start(server));
        let session = self.usable(server).await?.session;
        if session.capabilities().get("resources").is_none_or(Value::is_null) {
            return Ok(Arc::default());
        }
        let (resources, templates) =
            tokio::join!(session.list_resources(), session.list_resource_templates());
        let (resources, templates) = (self.known_items(resources)?, self.known_items(templates)?);
        let found = resources.items.iter().filter_map(|item| found(server, item, "uri"));
        let templates = templates.items.iter().filter_map(|item| found_template(server, item));
        Ok(found.chain(templates).collect())
    }

    /// A list, empty if the server does not support it; warnings are reported.
    fn known_items(&self, listed: Result<Items, mcp::Error>) -> Result<Items, CallFailure> {
        let listed = match listed {
            Err(error) if matches!(*error.kind, ErrorKind::Rpc { code: UNKNOWN_METHOD, .. }) => {
                Items::default()
            }
            listed => listed.map_err(|error| self.failure(&error))?,
        };
        let warn = |warning: &String| {
            self.host.notifier().note(&format!("warning: {}", self.masker.mask(warning)));
        };
        listed.warnings.iter().for_each(warn);
        Ok(listed)
    }

    fn all_listable(&self) -> Result<Vec<String>, CallFailure> {
        let policy = self.policy()?;
        let may = |server: &&String| policy.holds(server, LIST) != Permission::Deny;
        Ok(self.servers().filter(may).cloned().collect())
    }

    /// The named server, unless its resources may not be listed.
    fn listable(&self, server: &str) -> Result<String, CallFailure> {
        let server = self.named(server)?;
        if self.policy()?.holds(&server, LIST) == Permission::Deny {
            let message = format!("the configuration denies {server}.{LIST}");
            return Err(denied(message));
        }
        Ok(server)
    }

    /// The server with this name, or with this module name.
    fn named(&self, name: &str) -> Result<String, CallFailure> {
        let names = || self.servers().map(String::as_str);
        let (requested, spelled) = (name.trim(), letters(name));
        let exact = names().find(|own| *own == requested);
        let found = exact.or_else(|| names().find(|own| !spelled.is_empty() && letters(own) == spelled));
        found.map(str::to_owned).ok_or_else(|| {
            let name = codegen::clean(name, MAX_NAME_SHOWN);
            let message = format!("{name:?}: there is no such server{}", meant(requested, names()));
            failed(FailureKind::InvalidParams, message)
        })
    }
}

/// Maximum characters of an unknown name in a message.
const MAX_NAME_SHOWN: usize = 80;

/// A resource from a server's list; `None` if it has no address.
fn found(server: &str, item: &Value, address: &str) -> Option<FoundResource> {
    let text = |member: &str| item.get(member).and_then(Value::as_str).map(str::to_owned);
    Some(FoundResource {
        server: server.to_owned(),
        uri: text(address)?,
        name: text("name").unwrap_or_default(),
        title: text("title"),
        description: text("description"),
        mime_type: text("mimeType"),
        size: item.get("size").and_then(Value::as_u64),
        is_template: false,
    })
}

fn found_template(server: &str, item: &Value) -> Option<FoundResource> {
    Some(FoundResource { is_template: true, ..found(server, item, "uriTemplate")? })
}

/// The members that a query is matched with.
fn as_listed(found: &FoundResource) -> Value {
    let FoundResource { uri, name, title, description, mime_type, .. } = found;
    json!({ "uri": uri, "name": name, "title": title, "description": description, "mimeType": mime_type })
}

fn failed(kind: FailureKind, message: String) -> CallFailure {
    CallFailure { kind, message }
}

fn denied(message: String) -> CallFailure {
    failed(FailureKind::Denied, message)
}

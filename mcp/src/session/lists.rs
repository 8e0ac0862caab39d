//! Lists, page by page: tools, resources, prompts. And what resources and prompts hold.

use std::{collections::BTreeMap, sync::PoisonError};

use serde_json::{Value, value::RawValue};
use tokio::time::timeout;

use super::{
    Session,
    exchange::{Ask, Parameters},
};
use crate::{
    error::{Error, ErrorKind, Phase},
    http::parameter_headers,
    listing::{Collector, Cursors, Listing, Next},
    server_config::Transport,
    text::shown,
    wire::HALVED,
};

/// How many resources or prompts of a server are kept.
pub const MAX_ITEMS: usize = 10_000;

/// How much of a tool's name is told, in bytes.
const TOLD_BYTES: usize = 80;

/// What a server lists beside tools, as it came, and what was wrong with its list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Items {
    /// MCP's `Resource`, `ResourceTemplate` or `Prompt`, each a JSON object.
    pub items: Vec<Value>,
    /// What was left out, and why; one sentence each.
    pub warnings: Vec<String>,
}

impl Session {
    /// Asks for all tools, page by page, within the request time per page and the connect time for all.
    ///
    /// What is malformed in the list is left out or replaced, with a warning; see [`Listing`].
    pub async fn list_tools(&self) -> Result<Listing, Error> {
        let mut collector = Collector::default();
        let declares_none = self.inner.server.capabilities.tools.is_none();
        if declares_none {
            collector.warn("the server does not declare the `tools` capability".to_owned());
        }
        let limit = self.inner.config.connect_timeout;
        let halved = self.inner.health.halved();
        let collected = timeout(limit, self.collect_pages(&mut collector)).await;
        if self.inner.health.halved() > halved {
            collector.warn(HALVED.to_owned());
        }
        match collected {
            Ok(Ok(())) => Ok(self.with_parameter_headers(collector.finish())),
            // It was asked for more than it says that it has.
            Ok(Err(error)) if declares_none && matches!(*error.kind, ErrorKind::Rpc { .. }) => {
                Ok(collector.finish())
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(self.timed_out(Phase::ListTools, limit)),
        }
    }

    async fn collect_pages(&self, collector: &mut Collector) -> Result<(), Error> {
        let mut parameters = Vec::new();
        loop {
            let page = self.ask(self.plain("tools/list", parameters)).await?;
            let next =
                collector.add_page(&page).map_err(|reason| self.fail(ErrorKind::Protocol { reason }))?;
            match next {
                Next::Done => return Ok(()),
                Next::Page(cursor) => parameters = vec![("cursor".into(), self.encode(&cursor)?)],
            }
        }
    }

    /// Remembers which arguments travel in headers. Tools that ask for it wrongly are left out, as MCP 2026-07-28 wants
    /// it (server/tools, `x-mcp-header`); over pipes there are no headers.
    fn with_parameter_headers(&self, mut listing: Listing) -> Listing {
        let is_http = matches!(self.inner.config.transport, Transport::Http(_));
        if !is_http || self.inner.server.protocol_version.has_initialize() {
            return listing;
        }
        let mut headers = BTreeMap::new();
        let warnings = &mut listing.warnings;
        listing.tools.retain(|tool| match parameter_headers(&tool.input_schema) {
            Ok(found) => {
                if !found.is_empty() {
                    headers.insert(tool.name.clone(), found);
                }
                true
            }
            Err(reason) => {
                let name = shown(&tool.name, TOLD_BYTES);
                warnings.push(format!("tool `{name}` was left out: {}", shown(&reason, 2 * TOLD_BYTES)));
                false
            }
        });
        *self.inner.parameter_headers.lock().unwrap_or_else(PoisonError::into_inner) = headers;
        listing
    }

    /// Asks for all resources.
    pub async fn list_resources(&self) -> Result<Items, Error> {
        self.items("resources/list", "resources").await
    }

    /// Asks for all templates of resources.
    pub async fn list_resource_templates(&self) -> Result<Items, Error> {
        self.items("resources/templates/list", "resourceTemplates").await
    }

    /// Asks for all prompts.
    pub async fn list_prompts(&self) -> Result<Items, Error> {
        self.items("prompts/list", "prompts").await
    }

    /// Reads a resource: MCP's `ReadResourceResult`, as it came.
    pub async fn read_resource(&self, uri: &str) -> Result<Box<RawValue>, Error> {
        let parameters = vec![("uri".into(), self.encode(uri)?)];
        self.ask_about("resources/read", parameters, uri).await
    }

    /// Fills in a prompt: MCP's `GetPromptResult`, as it came. `arguments` are texts by name.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Box<RawValue>, Error> {
        let parameters =
            vec![("name".into(), self.encode(name)?), ("arguments".into(), self.encode(arguments)?)];
        self.ask_about("prompts/get", parameters, name).await
    }

    async fn ask_about(
        &self,
        method: &'static str,
        parameters: Parameters,
        about: &str,
    ) -> Result<Box<RawValue>, Error> {
        let ask = Ask { about: Some((about.to_owned(), Vec::new())), ..self.plain(method, parameters) };
        self.ask_until_complete(ask).await
    }

    /// All pages of a list, within the request time per page and the connect time for all.
    async fn items(&self, method: &'static str, member: &'static str) -> Result<Items, Error> {
        let mut items = Items::default();
        let limit = self.inner.config.connect_timeout;
        match timeout(limit, self.collect_items(method, member, &mut items)).await {
            Ok(collected) => collected.map(|()| items),
            Err(_) => Err(self.timed_out(Phase::Request(method), limit)),
        }
    }

    async fn collect_items(
        &self,
        method: &'static str,
        member: &'static str,
        items: &mut Items,
    ) -> Result<(), Error> {
        let mut cursors = Cursors::default();
        let mut parameters = Vec::new();
        loop {
            let page = self.ask(self.plain(method, parameters)).await?;
            let malformed =
                || ErrorKind::Protocol { reason: format!("its answer to `{method}` has no list `{member}`") };
            let mut page: Value = serde_json::from_str(page.get()).map_err(|_| self.fail(malformed()))?;
            let Some(Value::Array(found)) = page.get_mut(member).map(Value::take) else {
                return Err(self.fail(malformed()));
            };
            items.items.extend(found.into_iter().filter(Value::is_object));
            if items.items.len() > MAX_ITEMS {
                items.items.truncate(MAX_ITEMS);
                items
                    .warnings
                    .push(format!("the server lists more than {MAX_ITEMS} {member}; the rest is left out"));
                return Ok(());
            }
            let cursor = page.get_mut("nextCursor").map(Value::take);
            match cursors.next(cursor, member) {
                Ok(Some(cursor)) => parameters = vec![("cursor".into(), self.encode(&cursor)?)],
                Ok(None) => return Ok(()),
                Err(warning) => {
                    items.warnings.push(warning);
                    return Ok(());
                }
            }
        }
    }
}

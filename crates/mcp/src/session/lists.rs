//! Lists, page by page: tools, resources, prompts. Also reads resources and gets prompts.

use std::collections::BTreeMap;

use serde_json::{Value, value::RawValue};
use system::event_loop::off_loop;
use tokio::time::timeout;

use super::{
    Session,
    exchange::{Ask, Parameters},
};
use crate::{
    error::{Error, ErrorKind, Phase},
    http::parameter_headers,
    listing::{Collector, Cursors, Listing, Next, PageDigest},
    server_config::Transport,
    text::shown,
    wire::HALVED,
};

/// Limit on the resources or prompts of a server.
pub const MAX_ITEMS: usize = 10_000;

/// The identifier of the extension for skills.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// Limit on quotes from a server, in bytes.
const QUOTED_BYTES: usize = 80;

/// A server's resources, templates or prompts as received, and the problems found in the list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Items {
    /// MCP's `Resource`, `ResourceTemplate` or `Prompt`, each a JSON object.
    pub items: Vec<Value>,
    /// The parts that were left out, with reasons; one sentence each.
    pub warnings: Vec<String>,
}

/// The result of reading a list of tools.
enum Pages {
    /// The collector has them.
    Collected,
    /// The list is the known one.
    Unchanged,
}

impl Session {
    /// Lists all tools, page by page, within the request timeout per page and the connect timeout in total.
    ///
    /// Malformed entries are left out or replaced, with a warning; see [`Listing`].
    pub async fn list_tools(&self) -> Result<Listing, Error> {
        self.list_changed_tools(None).await.map(Option::unwrap_or_default)
    }

    /// Lists all tools like [`Session::list_tools`]; `None` if the list is the one that was read from this page.
    pub async fn list_changed_tools(&self, known: Option<PageDigest>) -> Result<Option<Listing>, Error> {
        let mut collector = Collector::default();
        let declares_none = self.inner.server.capabilities.tools.is_none();
        if declares_none {
            collector.warn("the server does not declare the `tools` capability".to_owned());
        }
        let limit = self.inner.config.connect_timeout;
        let halved = self.inner.health.halved();
        let collected = timeout(limit, self.collect_pages(&mut collector, known)).await;
        if self.inner.health.halved() > halved {
            collector.warn(HALVED.to_owned());
        }
        match collected {
            Ok(Ok(Pages::Unchanged)) => Ok(None),
            Ok(Ok(Pages::Collected)) => Ok(Some(self.with_parameter_headers(collector.finish()))),
            // The server does not declare tools, so an error is no surprise.
            Ok(Err(error)) if declares_none && matches!(*error.kind, ErrorKind::Rpc { .. }) => {
                Ok(Some(collector.finish()))
            }
            Ok(Err(error)) => Err(error),
            Err(_) => Err(self.timed_out(Phase::ListTools, limit)),
        }
    }

    async fn collect_pages(
        &self,
        collector: &mut Collector,
        known: Option<PageDigest>,
    ) -> Result<Pages, Error> {
        let mut parameters = Vec::new();
        let mut is_first = true;
        loop {
            let page = self.ask(self.plain("tools/list", parameters)).await?;
            let bytes = page.get().len();
            let digest = off_loop(bytes, || PageDigest::of(&page));
            // Only a list of one page is known by its text.
            if is_first && known == Some(digest) {
                return Ok(Pages::Unchanged);
            }
            let next = off_loop(bytes, || collector.add_page(&page))
                .map_err(|error| self.fail(ErrorKind::Protocol { reason: error.to_string() }))?;
            if is_first && next == Next::Done {
                collector.read_from(digest);
            }
            match next {
                Next::Done => return Ok(Pages::Collected),
                Next::Page(cursor) => parameters = vec![("cursor".into(), self.encode(&cursor)?)],
            }
            is_first = false;
        }
    }

    /// Records which arguments are sent in headers. Tools with invalid annotations are left out, as MCP 2026-07-28
    /// requires (server/tools, `x-mcp-header`); over pipes there are no headers.
    fn with_parameter_headers(&self, mut listing: Listing) -> Listing {
        let is_http = matches!(self.inner.config.transport, Transport::Http(_));
        if !is_http || self.inner.server.protocol_version.has_initialize() {
            return listing;
        }
        let mut headers = BTreeMap::new();
        let warnings = &mut listing.warnings;
        listing.tools.retain(|tool| match parameter_headers(&tool.definition()["inputSchema"]) {
            Ok(found) => {
                if !found.is_empty() {
                    headers.insert(tool.name.clone(), found);
                }
                true
            }
            Err(reason) => {
                let name = shown(&tool.name, QUOTED_BYTES);
                warnings.push(format!(
                    "tool `{name}` was left out: {}",
                    shown(&reason.to_string(), 2 * QUOTED_BYTES)
                ));
                false
            }
        });
        *self.inner.parameter_headers.lock() = headers;
        listing
    }

    /// Lists all resources.
    pub async fn list_resources(&self) -> Result<Items, Error> {
        self.items("resources/list", "resources").await
    }

    /// Lists all resource templates.
    pub async fn list_resource_templates(&self) -> Result<Items, Error> {
        self.items("resources/templates/list", "resourceTemplates").await
    }

    /// Lists all prompts.
    pub async fn list_prompts(&self) -> Result<Items, Error> {
        self.items("prompts/list", "prompts").await
    }

    /// Whether the server declares skills (SEP-2640).
    pub fn has_skills(&self) -> bool {
        let extensions = self.inner.server.capabilities.extensions.as_ref();
        extensions.is_some_and(|extensions| extensions.contains_key(SKILLS))
    }

    /// Lists the skills that a server enumerates (SEP-2640, "Enumeration via `skills/list`"), which need not be all.
    pub async fn list_skills(&self) -> Result<Items, Error> {
        self.items("skills/list", "skills").await
    }

    /// Returns the entry of the skill whose `SKILL.md` has this address (SEP-2640, "Retrieval via `skills/get`").
    pub async fn get_skill(&self, uri: &str) -> Result<Value, Error> {
        let parameters = vec![("uri".into(), self.encode(uri)?)];
        let answer = self.ask(self.plain("skills/get", parameters)).await?;
        let answer = off_loop(answer.get().len(), || serde_json::from_str::<Value>(answer.get()));
        let entry = answer.ok().and_then(|mut answer| answer.get_mut("skill").map(Value::take));
        entry.ok_or_else(|| {
            let reason = "its answer to `skills/get` has no `skill`".to_owned();
            self.fail(ErrorKind::Protocol { reason })
        })
    }

    /// Reads a resource: MCP's `ReadResourceResult`, unchanged.
    pub async fn read_resource(&self, uri: &str) -> Result<Box<RawValue>, Error> {
        let parameters = vec![("uri".into(), self.encode(uri)?)];
        self.ask_about("resources/read", parameters, uri).await
    }

    /// Gets a prompt: MCP's `GetPromptResult`, unchanged. `arguments` are texts by name.
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

    /// Reads all pages of a list, within the request timeout per page and the connect timeout in total.
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
            let page = off_loop(page.get().len(), || serde_json::from_str(page.get()));
            let mut page: Value = page.map_err(|_| self.fail(malformed()))?;
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
                    items.warnings.push(warning.to_string());
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};

    use crate::{
        host::NoHost,
        server_config::{Command, ServerConfig, Transport},
        session::Session,
    };

    /// A server that answers each `tools/list` with the next of these results.
    async fn serve(stream: DuplexStream, lists: Vec<Value>) {
        let initialized = json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "s", "version": "1" },
        });
        let (input, mut output) = tokio::io::split(stream);
        let (mut lines, mut lists) = (BufReader::new(input).lines(), lists.into_iter());
        while let Ok(Some(line)) = lines.next_line().await {
            let request: Value = serde_json::from_str(&line).unwrap();
            let result = match request["method"].as_str().unwrap() {
                "initialize" => initialized.clone(),
                "tools/list" => lists.next().unwrap(),
                _ => continue,
            };
            let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
            output.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        }
    }

    #[tokio::test]
    async fn a_list_is_read_again_only_if_it_has_changed() {
        let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
        let one = json!({ "tools": [tool("a")] });
        let first_of_two = json!({ "tools": [tool("a")], "nextCursor": "2" });
        let other = json!({ "tools": [tool("b")] });
        let lists =
            [&one, &one, &other, &other, &first_of_two, &other, &first_of_two, &other].map(Value::clone);
        let (near, far) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(serve(far, lists.into()));
        let config = ServerConfig::new("s", Transport::Stdio(Command::default()));
        let connecting = Session::connect_over(&config, Arc::new(NoHost), tokio::io::split(near));
        let session = connecting.await.unwrap();
        let (mut names, mut known) = (Vec::new(), None);
        for _ in 0..4 {
            let listing = session.list_changed_tools(known).await.unwrap();
            names.push(listing.as_ref().map(|listing| listing.tools[0].name.clone()));
            known = listing.map_or(known, |listing| listing.page);
        }
        assert_eq!(names, [Some("a".to_owned()), None, Some("b".to_owned()), None]);
        // Lists of several pages are always read.
        for _ in 0..2 {
            let listing = session.list_changed_tools(known).await.unwrap().unwrap();
            assert_eq!((listing.tools.len(), listing.page), (2, None));
        }
        session.close().await;
        serving.await.unwrap();
    }
}

//! Tool lists: kept in the cache, and turned into the catalog that snippets are compiled against.
//!
//! A cached list is good enough to compile against. Before a program runs, each server that it can call is asked
//! again (see [`crate::sessions`]), and a changed list replaces the cached one.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::Arc;

use codegen::Warning;
use config::{Config, Permission, Server};
use runner::{Bucket, Cache};
use serde::{Deserialize, Serialize};
use terminal::{Masker, Notifier};

use crate::pins::{Known, Pins};
use crate::tool_list::{ToolList, digest};

/// The tool lists of servers.
#[derive(Debug, Clone, Default)]
pub struct ToolLists {
    lists: BTreeMap<String, Entry>,
    known: Known,
}

#[derive(Debug, Clone)]
struct Entry {
    tools: Arc<ToolList>,
    /// Bindings to use instead of generated ones.
    source: Option<String>,
}

/// The cached list of a server. Its key covers everything that the server's identity depends on.
pub fn remembered(cache: &Cache, server: &Server) -> Option<ToolList> {
    remembered_for(false, cache, server)
}

/// Like [`remembered`], for clients that show views (MCP Apps), or do not: servers may offer them other tools.
pub fn remembered_for(shows_apps: bool, cache: &Cache, server: &Server) -> Option<ToolList> {
    ToolList::from_record(cache.read(Bucket::Catalogs, &key(server, shows_apps))?)
}

fn key(server: &Server, shows_apps: bool) -> String {
    let identity = identity(server);
    if shows_apps { digest(format!("{identity} apps").as_bytes()) } else { identity }
}

/// The cached lists of all servers of a configuration, by server.
pub fn known_lists(cache: &Cache, config: &Config) -> BTreeMap<String, Arc<ToolList>> {
    let known =
        |server: &Server| Some((server.connection.name.clone(), Arc::new(remembered(cache, server)?)));
    config.servers.iter().filter_map(known).collect()
}

/// Caches the list of a server.
pub fn remember(cache: &Cache, server: &Server, tools: &ToolList) -> std::io::Result<()> {
    remember_for(false, cache, server, tools)
}

/// Like [`remember`], for clients that show views, or do not.
pub fn remember_for(
    shows_apps: bool,
    cache: &Cache,
    server: &Server,
    tools: &ToolList,
) -> std::io::Result<()> {
    let (key, record) = (key(server, shows_apps), tools.record());
    if cache.read(Bucket::Catalogs, &key).as_ref() == Some(&record) {
        return Ok(());
    }
    cache.write(Bucket::Catalogs, &key, &record)
}

/// A server's description of itself, apart from its tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerIntroduction {
    /// Whether it has resources.
    pub has_resources: bool,
    /// Whether it has skills.
    #[serde(default)]
    pub has_skills: bool,
    /// One line about the server; empty if it has none.
    pub about: String,
    /// Whether it keeps nothing between requests: its protocol has no sessions (MCP 2026-07-28 and later).
    #[serde(default)]
    pub is_stateless: bool,
}

impl ServerIntroduction {
    /// Returns a server's statements at the opening of its session, with secrets masked.
    #[must_use]
    pub fn of(session: &mcp::Session, masker: &Masker) -> Self {
        let about = session.about().unwrap_or_default();
        let has_resources = session.capabilities()["resources"].is_object();
        let (about, is_stateless) = (masker.mask(&about).into_owned(), session.is_stateless());
        ServerIntroduction { has_resources, has_skills: session.has_skills(), about, is_stateless }
    }
}

/// The cached introduction of a server.
pub fn introduced(cache: &Cache, server: &Server) -> ServerIntroduction {
    let record = cache.read(Bucket::Catalogs, &of_introduction(server));
    record.and_then(|record| serde_json::from_slice(&record).ok()).unwrap_or_default()
}

/// Caches the introduction of a server.
pub fn remember_introduction(
    cache: &Cache,
    server: &Server,
    introduction: &ServerIntroduction,
) -> std::io::Result<()> {
    if introduced(cache, server) == *introduction {
        return Ok(());
    }
    cache.write(Bucket::Catalogs, &of_introduction(server), &serde_json::to_vec(introduction)?)
}

fn of_introduction(server: &Server) -> String {
    let key = format!("{} introduction", identity(server));
    blake3::hash(key.as_bytes()).to_hex()[..32].to_owned()
}

/// A hash of how the server is reached and of the program that is started: a rebuilt server is another one.
pub fn identity(server: &Server) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(server.connection.name.as_bytes());
    part(server.connection.transport.name().as_bytes());
    match &server.connection.transport {
        mcp::Transport::Stdio(mcp::Command { command, args, env, cwd, launcher, .. }) => {
            part(command.as_bytes());
            // The counts separate arguments from variables.
            part(&(args.len() as u64).to_le_bytes());
            args.iter().for_each(|argument| part(argument.as_bytes()));
            pairs(env, &mut part);
            part(cwd.as_ref().map_or(&b""[..], |folder| folder.as_os_str().as_encoded_bytes()));
            part(&stamp(Path::new(command)).to_le_bytes());
            launcher.iter().for_each(|launcher| part(launcher.identity().as_bytes()));
        }
        mcp::Transport::Http(remote) | mcp::Transport::Sse(remote) => {
            part(remote.url.as_bytes());
            pairs(&remote.headers, &mut part);
            if let Some(subject) = remote.oauth.as_ref().and_then(|oauth| oauth.subject.as_ref()) {
                part(subject.key().as_bytes());
            }
        }
        mcp::Transport::InProcess(server) => part(server.identity().as_bytes()),
        mcp::Transport::OpenApi(mcp::OpenApi { document, remote, server }) => {
            part(document.as_bytes());
            part(&stamp(Path::new(document)).to_le_bytes());
            part(remote.url.as_bytes());
            pairs(&remote.headers, &mut part);
            part(server.identity().as_bytes());
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

fn pairs(pairs: &BTreeMap<String, String>, part: &mut impl FnMut(&[u8])) {
    part(&(pairs.len() as u64).to_le_bytes());
    for (name, value) in pairs {
        part(name.as_bytes());
        part(value.as_bytes());
    }
}

/// Hash of a file's size and time, if the text is the path of one.
fn stamp(program: &Path) -> u64 {
    let Ok(metadata) = fs_err::metadata(program) else { return 0 };
    let mut hasher = DefaultHasher::new();
    (metadata.len(), metadata.modified().ok()).hash(&mut hasher);
    hasher.finish()
}

impl ToolLists {
    /// An empty collection. Observed outputs replace missing output schemas, and tools that differ from their pins
    /// are excluded.
    pub fn new(known: Known) -> Self {
        ToolLists { lists: BTreeMap::new(), known }
    }

    /// The pins of tools.
    pub(crate) fn pins(&self) -> &Pins {
        &self.known.pins
    }

    /// Sets the list of a server.
    pub fn insert(&mut self, server: &str, tools: Arc<ToolList>) {
        self.lists.insert(server.to_owned(), Entry { tools, source: None });
    }

    /// Sets the list of a server, with bindings written for it.
    pub(crate) fn insert_with_source(&mut self, server: &str, tools: Arc<ToolList>, source: String) {
        self.lists.insert(server.to_owned(), Entry { tools, source: Some(source) });
    }

    /// Whether the list of a server is known.
    pub(crate) fn has(&self, server: &str) -> bool {
        self.lists.contains_key(server)
    }

    /// The bindings of all tools that the configuration admits. What can't be typed in their schemas is reported when
    /// they are generated, not when they are read from the cache.
    pub fn generate(&self, cache: &Cache, config: &Config, notifier: &Notifier) -> runner::Catalog {
        let servers = self.lists.iter().map(|(name, entry)| self.server_tools(name, entry, config));
        // A crate may use a server that is not configured; that is reported elsewhere.
        let denied = |name: &str, tool: &str| {
            config.server(name).is_some_and(|server| server.permissions.of(tool) == Permission::Deny)
        };
        let style = &config.code_mode.style;
        // A module's name does not depend on which servers have answered, because bindings contain it.
        let is_written = self.lists.values().any(|entry| entry.source.is_some());
        let others =
            config.servers.iter().filter(|_| !is_written).map(|server| server.connection.name.as_str());
        let catalog = runner::Catalog::generate(cache, servers.collect(), others, style, denied);
        for module in catalog.modules().values().filter(|module| module.is_new()) {
            let warnings: Vec<Warning> = module.warnings().collect();
            if let Some(note) = note_on_schemas(&module.server, &warnings) {
                notifier.info(&note);
            }
        }
        catalog
    }

    fn server_tools<'a>(
        &'a self,
        name: &'a str,
        entry: &'a Entry,
        config: &'a Config,
    ) -> runner::ServerTools<'a> {
        let selection = config.selection(name);
        let held = self.known.pins.held(name, &entry.tools);
        let observed = self.known.observed.digest(name);
        let for_apps: Vec<&str> = entry.tools.for_apps().collect();
        let checked = checks_output(name, config);
        let key = format!("{} {observed} {selection} {held:?} {for_apps:?} {checked}", entry.tools.digest());
        let tools = move || self.in_code_mode(name, &entry.tools, config);
        let source = entry.source.clone();
        runner::ServerTools { name, digest: digest(key.as_bytes()), tools: Box::new(tools), source }
    }

    fn in_code_mode(&self, name: &str, list: &ToolList, config: &Config) -> Vec<codegen::Tool> {
        let held = self.known.pins.held(name, list);
        let unchecked = !checks_output(name, config);
        let tools = list.tools().filter_map(|raw| self.known.observed.tool(name, &raw));
        let tools = tools.map(|mut tool| {
            tool.answers.unchecked = unchecked;
            tool
        });
        tools.filter(|tool| config.in_code_mode(name, &tool.name) && !held.contains(&tool.name)).collect()
    }

    /// All servers, with the tools that snippets may call.
    pub fn servers(&self, config: &Config) -> Vec<codegen::Server> {
        let server = |(name, entry): (&String, &Entry)| codegen::Server {
            name: name.clone(),
            tools: self.in_code_mode(name, &entry.tools, config),
        };
        self.lists.iter().map(server).collect()
    }

    /// The lists as the servers sent them, by server.
    pub fn all(&self) -> BTreeMap<String, Arc<ToolList>> {
        self.lists.iter().map(|(name, entry)| (name.clone(), entry.tools.clone())).collect()
    }

    /// The list of a server as it was sent.
    pub fn list(&self, server: &str) -> Option<&Arc<ToolList>> {
        self.lists.get(server).map(|entry| &entry.tools)
    }
}

/// Whether an answer that does not fit its tool's output schema is an error.
fn checks_output(server: &str, config: &Config) -> bool {
    config.server(server).is_none_or(|server| server.check_output)
}

/// Maximum characters of a note about one place in a schema, because the names come from the server.
const PLACE_SHOWN: usize = 300;

/// A one-line note about what can't be typed in a server's schemas, if anything.
fn note_on_schemas(server: &str, warnings: &[Warning]) -> Option<String> {
    let Warning { tool, path, reason } = warnings.first()?;
    let place = if path.is_empty() { String::new() } else { format!(" at {path}") };
    let first = printable::prose(&format!("{tool}{place}: {reason}"));
    let first: String = first.chars().take(PLACE_SHOWN).collect();
    let see = format!("see `toolsmith codegen --format report --server {server}`");
    Some(match warnings.len() {
        1 => format!("{server}: one part of its tools' schemas is not fully typed: {first}; {see}"),
        count => {
            format!(
                "{server}: {count} parts of its tools' schemas are not fully typed; the first: {first}; for all of them, {see}"
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use codegen::Warning;

    use super::{identity, note_on_schemas};
    use config::Server;

    #[test]
    fn arguments_variables_and_folder_are_distinguished() {
        let identity = |args: &[&str], env: &[(&str, &str)], cwd: Option<&str>| {
            let command = mcp::Command {
                command: "program".to_owned(),
                args: args.iter().map(|argument| (*argument).to_owned()).collect(),
                env: env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
                cwd: cwd.map(Into::into),
                ..mcp::Command::default()
            };
            let transport = mcp::Transport::Stdio(command);
            identity(&Server::new(mcp::ServerConfig::new("s", transport), String::new()))
        };
        let all = [
            identity(&["A", "B"], &[], None),
            identity(&[], &[("A", "B")], None),
            identity(&["A", "B", "C", "D"], &[], None),
            identity(&["A", "B"], &[("C", "D")], None),
            identity(&["AB"], &[], None),
            identity(&["A"], &[], Some("B")),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len(), "{all:?}");
    }

    #[test]
    fn untyped_schemas_are_one_note_per_server() {
        let warning = |path: &str| Warning {
            tool: "note".to_owned(),
            path: path.to_owned(),
            reason: "the reason".to_owned(),
        };
        assert_eq!(note_on_schemas("demo", &[]), None);
        let one = note_on_schemas("demo", &[warning("")]).unwrap();
        assert!(
            one.starts_with("demo: one part of its tools' schemas is not fully typed: note: the reason; see"),
            "{one}"
        );
        let many = note_on_schemas("demo", &[warning("input.a"), warning("input.b")]).unwrap();
        assert!(many.contains("2 parts") && many.contains("note at input.a: the reason"), "{many}");
        assert!(many.contains("`toolsmith codegen --format report --server demo`"), "{many}");
        assert!(!many.contains('\n') && !many.contains("input.b"), "{many}");
        let odd = note_on_schemas("demo", &[warning(&"\u{1b}[31m\n".repeat(1_000))]).unwrap();
        assert!(!odd.contains(char::is_control) && odd.len() < 500, "{odd}");
    }
}

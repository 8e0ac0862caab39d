//! The configuration: which servers there are, and what snippets may use.
//!
//! Which layers there are is `config::layers`' job, reading one `config::source`'s, its keys `config::form`'s, the
//! rules of values `config::check`'s and `config::server`'s; here are the checked values that everything else works
//! with.

mod agent;
mod check;
mod confinement;
mod decode;
#[cfg(test)]
mod fixtures;
mod form;
mod itself;
pub(crate) mod layers;
pub(crate) mod locks;
mod policy;
mod protected;
pub(crate) mod schema;
mod serve;
mod server;
mod settings;
pub(crate) mod show;
mod size;
pub(crate) mod source;
mod syntax;
pub(crate) mod text;
pub(crate) mod tree;
pub(crate) mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;

pub(crate) use agent::{Agent, Conversations, Model, Subagent};
pub(crate) use check::LONGEST_DESCRIPTION;
pub(crate) use itself::is_this_program;
pub(crate) use locks::LockFile;
pub(crate) use policy::{Filter, Glob, Permission, Rules};
pub(crate) use serve::Serve;
pub(crate) use server::command_line;

use crate::arguments::ConfigArguments;
use crate::failure::Failure;
use crate::resources::LIST;

/// A checked configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Config {
    /// The servers that can be used, by name.
    pub(crate) servers: Vec<Server>,
    /// The servers that are switched off, or whose entries are wrong, by name.
    pub(crate) absent: Vec<Absent>,
    /// Tools that are neither listed, generated nor callable (`globalSettings.deny`).
    pub(crate) deny: Vec<Glob>,
    /// How tools outside code mode are called.
    pub(crate) direct_names: DirectNames,
    /// What snippets may use.
    pub(crate) code_mode: CodeMode,
    /// What `toolsmith serve` offers, and within what bounds.
    pub(crate) serve: Serve,
    /// How large the cache may be.
    pub(crate) cache: CacheSettings,
    /// Where all this comes from, the weakest first.
    pub(crate) layers: Vec<Layer>,
    /// The lock files that hold: the user's, and those beside the other files, the weakest layer's first.
    pub(crate) locks: Vec<LockFile>,
    /// The models that can be used, by their `ref`s.
    pub(crate) models: Vec<Model>,
    /// The `ref` of the model where none is chosen.
    pub(crate) model: Option<String>,
    /// The file with the text that a conversation starts with.
    pub(crate) system_prompt: Option<PathBuf>,
    /// Within what bounds a model works.
    pub(crate) agent: Agent,
    /// The subagent that the configuration describes.
    pub(crate) subagent: Option<Subagent>,
    /// What is to be told besides [`Absent::wrong`].
    pub(crate) warnings: Vec<String>,
    /// Which file of a project is left out because nobody has agreed to it, and what a person has to type: one line.
    pub(crate) untrusted: Option<String>,
}

/// A server and what of it may be used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Server {
    /// How it is reached.
    pub(crate) connection: mcp::ServerConfig,
    /// Which of its tools are there.
    pub(crate) filter: Filter,
    /// Which of its tools may be called.
    pub(crate) permissions: Rules,
    /// Whether arguments are checked against the tools' input schemas before a call leaves.
    pub(crate) check_input: bool,
    /// Whether snippets may call its tools; otherwise each is called directly.
    pub(crate) code_mode: bool,
    /// Where its entry stands.
    pub(crate) layer: Layer,
    /// Its command line, or its address, as it is written: variables are not expanded, so that it may be shown.
    pub(crate) target: String,
}

/// A server that can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Absent {
    pub(crate) name: String,
    /// Its transport, where that much is known.
    pub(crate) transport: Option<&'static str>,
    /// Where its entry stands.
    pub(crate) layer: Layer,
    /// What is wrong with its entry: file, line, column and what to do. `None` where it is switched off.
    pub(crate) wrong: Option<String>,
}

/// How large the cache may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheSettings {
    /// Most bytes that it takes on the disk.
    pub(crate) size: u64,
}

impl Default for CacheSettings {
    fn default() -> Self {
        CacheSettings { size: runner::DEFAULT_SIZE }
    }
}

impl CacheSettings {
    /// Opens the cache.
    ///
    /// # Errors
    /// Where its folder is not known, or can't be used.
    pub(crate) fn open(self) -> Result<runner::Cache, Failure> {
        let folder = cache_folder().map_err(Failure::configuration)?;
        runner::Cache::open(&folder, self.size).map_err(Failure::host)
    }
}

/// How tools outside code mode are called (`directNames`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DirectNames {
    /// `tool`; the second server that has it offers `tool@server`.
    #[default]
    Plain,
    /// `tool@server`.
    At,
    /// `mcp_server_tool`.
    Prefix,
    /// `server::tool`.
    Namespace,
}

/// What snippets may use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CodeMode {
    /// Whether snippets may call tools; otherwise every tool is a direct tool.
    pub(crate) enabled: bool,
    /// Tools that are direct tools, by name or by `server.tool` (`excludedTools`).
    pub(crate) excluded: Vec<Glob>,
    /// Further crates for snippets, with their versions. Not offered yet.
    pub(crate) dependencies: BTreeMap<String, String>,
    /// The longest time for a whole execution.
    pub(crate) timeout: Duration,
    /// The longest time that whoever asks for an execution may give it.
    pub(crate) max_timeout: Duration,
    /// Memory, processor time, threads, output.
    pub(crate) limits: runner::Limits,
    /// What its program may work on.
    pub(crate) grants: runner::Grants,
    /// How compilers and programs are confined.
    pub(crate) confinement: sandbox::Confinement,
    /// Whether rustup may be asked to add the target of snippets.
    pub(crate) install_target: bool,
    /// How much of the servers' descriptions signatures show.
    pub(crate) style: codegen::Style,
}

/// Longest time of an execution unless configured, in seconds.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// Longest time that an execution may be given unless configured, in seconds.
const DEFAULT_MAX_TIMEOUT: Duration = Duration::from_secs(1800);

impl Default for CodeMode {
    fn default() -> Self {
        CodeMode {
            enabled: true,
            excluded: Vec::new(),
            dependencies: BTreeMap::new(),
            timeout: DEFAULT_TIMEOUT,
            max_timeout: DEFAULT_MAX_TIMEOUT,
            limits: runner::Limits::default(),
            grants: runner::Grants::default(),
            confinement: sandbox::Confinement::default(),
            install_target: true,
            style: codegen::Style::default(),
        }
    }
}

impl CodeMode {
    /// How an engine is to work in this cache.
    pub(crate) fn engine(&self, cache: runner::Cache) -> runner::Options {
        runner::Options { cache, install_target: self.install_target, confinement: self.confinement }
    }

    /// What is to be said before anything runs without the sandbox.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        let off = self.confinement == sandbox::Confinement::Exactly(sandbox::Layers::OFF);
        off.then_some(
            "warning: the sandbox is OFF (codeMode.sandbox.dangerouslyRunWithoutSandbox): \
             the compiler and every program can read, change and send whatever you can",
        )
    }
}

impl Server {
    /// A server of no file: all its tools, of which each is asked about. `target` may be shown.
    pub(crate) fn new(connection: mcp::ServerConfig, target: String) -> Self {
        Server {
            connection,
            filter: Filter::All,
            permissions: Rules::default(),
            check_input: true,
            code_mode: true,
            layer: Layer::Demo,
            target,
        }
    }

    /// The values of the variables in its command line or address.
    pub(crate) fn variables(&self) -> impl Iterator<Item = String> {
        variables::names(&self.target).into_iter().filter_map(|name| std::env::var(name).ok())
    }
}

impl Config {
    /// What is to be told before the configuration is used: what is wrong with servers that are left out, and warnings.
    pub(crate) fn complaints(&self) -> impl Iterator<Item = &str> {
        let wrong = self.absent.iter().filter_map(|absent| absent.wrong.as_deref());
        self.warnings.iter().map(String::as_str).chain(wrong)
    }

    /// A server by its name.
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.connection.name == name)
    }

    /// Whether nothing is configured but the built-in demo server.
    pub(crate) fn is_demo(&self) -> bool {
        self.servers.iter().any(|server| server.layer == Layer::Demo)
    }

    /// Whether a tool is there: neither filtered out nor denied for all servers.
    pub(crate) fn admits(&self, server: &str, tool: &str) -> bool {
        let filter = self.server(server).map_or(&Filter::All, |server| &server.filter);
        filter.admits(tool) && !self.denies(server, tool)
    }

    /// Whether `globalSettings.deny` names something of a server, whatever its filter of tools says.
    pub(crate) fn denies(&self, server: &str, name: &str) -> bool {
        self.deny.iter().any(|glob| glob.fits_tool(server, name))
    }

    /// Whether agents and programs may see which resources a server has.
    pub(crate) fn lists_resources(&self, server: &str) -> bool {
        !self.denies(server, LIST) && self.permission(server, LIST) != Permission::Deny
    }

    /// Whether snippets may call a tool.
    pub(crate) fn in_code_mode(&self, server: &str, tool: &str) -> bool {
        self.admits(server, tool) && !self.is_direct(server, tool)
    }

    /// All that [`Config::in_code_mode`] depends on for a server, as text to hash.
    pub(crate) fn selection(&self, server: &str) -> String {
        let filter = self.server(server).map(|server| &server.filter);
        let CodeMode { enabled, excluded, .. } = &self.code_mode;
        let code_mode = self.server(server).is_none_or(|server| server.code_mode);
        format!("{filter:?} {:?} {enabled} {code_mode} {excluded:?}", self.deny)
    }

    /// Whether a tool is called directly, and not from snippets.
    pub(crate) fn is_direct(&self, server: &str, tool: &str) -> bool {
        let excluded = &self.code_mode.excluded;
        let left_out = self.server(server).is_some_and(|server| !server.code_mode);
        !self.code_mode.enabled || left_out || excluded.iter().any(|glob| glob.fits_tool(server, tool))
    }

    /// Whether a tool may be called. One of a server that is not configured can't be: a call says so, which no rule
    /// does.
    pub(crate) fn permission(&self, server: &str, tool: &str) -> Permission {
        self.server(server).map_or(Permission::Allow, |server| server.permissions.of(tool))
    }
}

/// Where a part of a configuration comes from. A later one outdoes the earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Layer {
    /// Nothing is configured: the built-in demo server.
    Demo,
    /// The user's own file.
    User(PathBuf),
    /// The project's file, once it is trusted.
    Project(PathBuf),
    /// The file that `--config` names.
    Named(PathBuf),
    /// The variable `TOOLSMITH_MCP_SERVERS`.
    Environment,
}

impl Layer {
    /// The file, where it is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Layer::User(file) | Layer::Project(file) | Layer::Named(file) => Some(file),
            Layer::Demo | Layer::Environment => None,
        }
    }

    /// One word for tables.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Layer::Demo => "demo",
            Layer::User(_) => "user",
            Layer::Project(_) => "project",
            Layer::Named(_) => "config",
            Layer::Environment => "environment",
        }
    }
}

/// What is wrong with a configuration: file, line and column, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Error(String);

impl Error {
    /// What is wrong, in words for people.
    pub(crate) fn new(message: String) -> Self {
        Error(message)
    }
}

/// The configuration of all layers: the user's, the project's if it is trusted, the file that the arguments name, the
/// environment; without any server in them, the demo server.
///
/// # Errors
/// Where a layer can't be read or is wrong outside its servers, where the project's file is not trusted, where no
/// server can be used, and with `--strict` where any entry is wrong.
pub(crate) fn load(place: &ConfigArguments) -> Result<Config, Error> {
    checked(survey(place)?, place.strict)
}

/// The same for a process that serves others: a project's file that is not trusted is left out, which
/// [`Config::untrusted`] says, and there may be no server then.
///
/// # Errors
/// As [`load`], less what is left out.
pub(crate) fn load_without_untrusted(place: &ConfigArguments) -> Result<Config, Error> {
    let config = whole(layers::gather_trusted(place)?.merge()?)?;
    if config.untrusted.is_some() && config.servers.is_empty() && !place.strict {
        return Ok(config);
    }
    checked(config, place.strict)
}

fn checked(config: Config, strict: bool) -> Result<Config, Error> {
    let wrong: Vec<&str> = config.absent.iter().filter_map(|absent| absent.wrong.as_deref()).collect();
    if strict && !wrong.is_empty() {
        return Err(Error(wrong.join("\n")));
    }
    if config.servers.is_empty() && (config.subagent.is_none() || !wrong.is_empty()) {
        return Err(no_server(&config, &wrong));
    }
    Ok(config)
}

/// As [`load`], but tells nothing, and may have no server that can be used.
///
/// # Errors
/// Where a layer can't be read or is wrong outside its servers, and where the project's file is not trusted.
pub(crate) fn survey(place: &ConfigArguments) -> Result<Config, Error> {
    whole(layers::gather(place)?.merge()?)
}

/// With the demo server, where nothing is configured.
fn whole(mut config: Config) -> Result<Config, Error> {
    let is_empty = config.servers.is_empty() && config.absent.is_empty() && config.subagent.is_none();
    let is_named = config.layers.iter().any(|layer| matches!(layer, Layer::Named(_) | Layer::Environment));
    if is_empty && !is_named && config.untrusted.is_none() {
        config.servers.push(demo_server()?);
        config.layers.insert(0, Layer::Demo);
    }
    Ok(config)
}

fn no_server(config: &Config, wrong: &[&str]) -> Error {
    const HELP: &str = "toolsmith mcp add NAME -- COMMAND ARGUMENTS…, or under mcpServers such as\n  \
                        mcpServers:\n    files: { command: filesystem-mcp, args: [/data] }";
    if !wrong.is_empty() {
        return Error(format!(
            "{}\nno server is left\nhelp: correct the entry, or add a server: {HELP}",
            wrong.join("\n")
        ));
    }
    let place = match config.layers.last() {
        Some(Layer::Environment) => format!("the variable {}", source::SERVERS_VARIABLE),
        Some(layer) => format!("the configuration {}", layer.file().unwrap_or(Path::new("")).display()),
        None => "the configuration".to_owned(),
    };
    Error(format!("{place} has no enabled server\nhelp: add one: {HELP}"))
}

/// The folder of the cache: `TOOLSMITH_CACHE_DIR`, or the user's cache folder.
pub(crate) fn cache_folder() -> Result<PathBuf, Error> {
    if let Some(folder) = std::env::var_os("TOOLSMITH_CACHE_DIR").filter(|folder| !folder.is_empty()) {
        let folder = PathBuf::from(folder);
        return std::path::absolute(&folder).map_err(|error| {
            Error(format!("TOOLSMITH_CACHE_DIR={} is no folder: {error}", folder.display()))
        });
    }
    etcetera::choose_base_strategy()
        .map(|base| base.cache_dir().join("toolsmith"))
        .map_err(|error| Error(format!("no cache folder: {error}\nhelp: set HOME or TOOLSMITH_CACHE_DIR")))
}

/// The user's folder for what is kept from one run to the next: `$XDG_STATE_HOME/toolsmith`.
pub(crate) fn state_folder() -> Result<PathBuf, Error> {
    let base = etcetera::choose_base_strategy();
    let base =
        base.map_err(|error| Error(format!("no state folder: {error}\nhelp: set HOME or XDG_STATE_HOME")))?;
    Ok(base.state_dir().unwrap_or_else(|| base.data_dir()).join("toolsmith"))
}

/// Whether a server may have the name.
pub(crate) fn check_server_name(name: &str) -> Result<(), String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_word) {
        return Err("a server's name has 1 to 64 letters, digits, `_` and `-`".to_owned());
    }
    Ok(())
}

/// The user's folder of configurations.
pub(crate) fn user_folder() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("toolsmith"))
}

/// The demo server.
fn demo_server() -> Result<Server, Error> {
    let program = own_program()?;
    let target = command_line(&program, ["demo-server"].into_iter());
    let server = Server::new(mcp::ServerConfig::stdio("demo", program, ["demo-server"]), target);
    Ok(Server { permissions: Rules::all(Permission::Allow), ..server })
}

/// The path of this program.
fn own_program() -> Result<String, Error> {
    let program = std::env::current_exe()
        .map_err(|error| Error(format!("the demo server is this program, which can't be found: {error}")))?;
    Ok(program.to_string_lossy().into_owned())
}

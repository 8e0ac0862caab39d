//! The configuration: which servers there are, and what snippets may use.
//!
//! Reading the file's form is `config::file`'s job, expanding variables `config::variables`', telling what the
//! parser objects to `config::syntax`'; here are the checked values that everything else works with.

mod confinement;
mod file;
mod size;
mod syntax;
mod text;
mod variables;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use etcetera::BaseStrategy;

pub(crate) use file::LONGEST_DESCRIPTION;

/// A checked configuration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Config {
    /// The enabled servers, by name.
    pub(crate) servers: Vec<Server>,
    /// What snippets may use.
    pub(crate) code_mode: CodeMode,
}

/// A server and what of it may be used.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Server {
    /// How it is reached.
    pub(crate) connection: mcp::ServerConfig,
    /// Which of its tools are there.
    pub(crate) filter: Filter,
    /// Whether its tools may be called.
    pub(crate) permission: Permission,
    /// Whether arguments are checked against the tools' input schemas before a call leaves.
    pub(crate) check_input: bool,
}

/// Which tools of a server are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filter {
    All,
    Only(BTreeSet<String>),
    Without(BTreeSet<String>),
}

/// Whether the tools of a server may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Permission {
    /// They may.
    #[default]
    Allow,
    /// They are listed and typed, but a program that could call one is refused.
    Deny,
}

/// What snippets may use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CodeMode {
    /// The longest time for a whole execution.
    pub(crate) timeout: Duration,
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

impl Default for CodeMode {
    fn default() -> Self {
        CodeMode {
            timeout: DEFAULT_TIMEOUT,
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
    pub(crate) fn engine(&self, cache: PathBuf) -> runner::Options {
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

impl Config {
    /// A server by its name.
    pub(crate) fn server(&self, name: &str) -> Option<&Server> {
        self.servers.iter().find(|server| server.connection.name == name)
    }
}

impl Filter {
    /// Whether a tool is there.
    pub(crate) fn admits(&self, tool: &str) -> bool {
        match self {
            Filter::All => true,
            Filter::Only(names) => names.contains(tool),
            Filter::Without(names) => !names.contains(tool),
        }
    }
}

/// Where a configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file.
    File(PathBuf),
    /// Nothing is configured: the built-in demo server.
    Demo,
}

/// What is wrong with a configuration: file, line and column, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Error(String);

/// The configuration: of `named`, or else the user's, or else the demo server alone.
pub(crate) fn load(named: Option<&Path>) -> Result<(Config, Source), Error> {
    let user = user_file().filter(|file| file.is_file());
    match named.map(Path::to_owned).or(user) {
        Some(file) => Ok((file::read(&file)?, Source::File(file))),
        None => Ok((demo()?, Source::Demo)),
    }
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

/// The lock file that goes with a configuration: beside its file, or in the user's folder for the demo server.
pub(crate) fn lock_file(source: &Source) -> Option<PathBuf> {
    let configuration = match source {
        Source::File(file) => Some(file.clone()),
        Source::Demo => user_file(),
    };
    configuration.map(|file| file.with_file_name(crate::program_crate::LOCK))
}

/// Whether a server may have the name.
pub(crate) fn check_server_name(name: &str) -> Result<(), String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_word) {
        return Err("a server's name has 1 to 64 letters, digits, `_` and `-`".to_owned());
    }
    Ok(())
}

fn user_file() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("toolsmith/config.yaml"))
}

/// The demo server alone.
fn demo() -> Result<Config, Error> {
    let server = Server {
        connection: mcp::ServerConfig::stdio("demo", own_program()?, ["demo-server"]),
        filter: Filter::All,
        permission: Permission::Allow,
        check_input: true,
    };
    Ok(Config { servers: vec![server], code_mode: CodeMode::default() })
}

/// The path of this program.
fn own_program() -> Result<String, Error> {
    let program = std::env::current_exe()
        .map_err(|error| Error(format!("the demo server is this program, which can't be found: {error}")))?;
    Ok(program.to_string_lossy().into_owned())
}

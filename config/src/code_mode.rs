//! What snippets may use, and how the tools beside them are called.

use std::collections::BTreeMap;
use std::time::Duration;

use super::policy::Glob;

/// How tools outside code mode are called (`directNames`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DirectNames {
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
pub struct CodeMode {
    /// Whether snippets may call tools; otherwise every tool is a direct tool.
    pub enabled: bool,
    /// Tools that are direct tools, by name or by `server.tool` (`excludedTools`).
    pub excluded: Vec<Glob>,
    /// Further crates for snippets, with their versions. Not offered yet.
    pub dependencies: BTreeMap<String, String>,
    /// The longest time for a whole execution.
    pub timeout: Duration,
    /// The longest time that whoever asks for an execution may give it.
    pub max_timeout: Duration,
    /// Memory, processor time, threads, output.
    pub limits: runner::Limits,
    /// What its program may work on.
    pub grants: runner::Grants,
    /// How compilers and programs are confined.
    pub confinement: sandbox::Confinement,
    /// Whether rustup may be asked to add the target of snippets.
    pub install_target: bool,
    /// How much of the servers' descriptions signatures show.
    pub style: codegen::Style,
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
    pub fn engine(&self, cache: runner::Cache) -> runner::Options {
        runner::Options { cache, install_target: self.install_target, confinement: self.confinement }
    }

    /// What is to be said before anything runs without the sandbox.
    pub fn warning(&self) -> Option<&'static str> {
        let off = self.confinement == sandbox::Confinement::Exactly(sandbox::Layers::OFF);
        off.then_some(
            "warning: the sandbox is OFF (codeMode.sandbox.dangerouslyRunWithoutSandbox): \
             the compiler and every program can read, change and send whatever you can",
        )
    }
}

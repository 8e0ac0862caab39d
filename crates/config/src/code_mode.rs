//! The terms of snippets, and the names of the other tools.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::confinement::{MIN_MEMORY, SandboxForm};
use super::key_macros::{plain, section};
use super::key_types::{Number, Seconds, Size};
use super::permissions::Glob;
use super::placed::At;

/// How tools outside code mode are called (`directNames`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DirectNames {
    /// `tool`; if several servers have it, the later ones offer `tool@server`.
    #[default]
    Plain,
    /// `tool@server`.
    At,
    /// `mcp_server_tool`.
    Prefix,
    /// `server::tool`.
    Namespace,
}

plain!(DirectNames);

/// Maximum characters of a tool's description in its signature.
pub const MAX_DESCRIPTION: usize = 10_000;

section! {
    /// What snippets may use.
    #[serde(rename_all = "camelCase")]
    CodeModeKeys from CodeModeForm {
        /// Whether snippets may call tools; if not, each tool is called directly.
        enabled: bool = true,
        /// Tools that are called directly, as `tool` or `server.tool`; `*` matches any text.
        excluded_tools: Vec<Glob> = Vec::new(),
        /// Time limit of an execution, in seconds; an alias of sandbox.wallClock.
        timeout: Option<At<Seconds>>,
        /// Maximum time limit that a caller may request for an execution, in seconds.
        max_timeout: At<Seconds> = Duration::from_secs(1800),
        /// Memory limit of a program, such as 512MiB; an alias of sandbox.memory.
        memory: Option<At<Size<u64, MIN_MEMORY>>>,
        /// How compilers and programs are confined.
        sandbox: SandboxForm,
        /// Whether rustup may be run to add the compilation target of snippets.
        install_target: bool = true,
        /// Maximum characters of a tool's description in its signature; 0 omits it.
        description_length: Number<usize, 0, { MAX_DESCRIPTION as u64 }> = codegen::Style::default().description,
    }
}

/// The terms of snippets.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeMode {
    /// Whether snippets may call tools; if not, every tool is a direct tool.
    pub enabled: bool,
    /// Tools that are direct tools, by name or by `server.tool` (`excludedTools`).
    pub excluded: Vec<Glob>,
    /// The default time limit of an execution.
    pub timeout: Duration,
    /// The maximum time limit that a caller may request.
    pub max_timeout: Duration,
    /// Memory, processor time, threads, output.
    pub limits: runner::Limits,
    /// The paths and scratch space that programs may use.
    pub grants: runner::Grants,
    /// The confinement of compilers and programs.
    pub confinement: sandbox::Confinement,
    /// Whether rustup may be run to add the compilation target of snippets.
    pub install_target: bool,
    /// The part of the servers' descriptions that signatures contain.
    pub style: codegen::Style,
}

impl From<CodeModeKeys> for CodeMode {
    fn from(keys: CodeModeKeys) -> Self {
        let timeout = keys.sandbox.wall_clock;
        CodeMode {
            enabled: keys.enabled,
            excluded: keys.excluded_tools,
            timeout,
            max_timeout: keys.max_timeout.max(timeout),
            limits: keys.sandbox.limits(),
            confinement: keys.sandbox.confinement(),
            install_target: keys.install_target,
            style: codegen::Style { description: keys.description_length, ..codegen::Style::default() },
            grants: keys.sandbox.grants(),
        }
    }
}

impl Default for CodeMode {
    fn default() -> Self {
        CodeModeKeys::default().into()
    }
}

impl CodeMode {
    /// The options of an engine that uses this cache.
    pub fn engine(&self, cache: runner::Cache) -> runner::Options {
        runner::Options { cache, install_target: self.install_target, confinement: self.confinement }
    }

    /// The warning to show before anything runs without the sandbox.
    pub fn warning(&self) -> Option<&'static str> {
        let off = self.confinement == sandbox::Confinement::Exactly(sandbox::Layers::OFF);
        off.then_some(
            "warning: the sandbox is OFF (codeMode.sandbox.dangerouslyRunWithoutSandbox): \
             the compiler and every program can read, change and send whatever you can",
        )
    }
}

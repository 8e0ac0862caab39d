//! The command line of `setup`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::server_name;

/// A program that speaks to MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// opencode.
    Opencode,
    /// Gemini CLI.
    Gemini,
    /// Claude Desktop (with --print).
    ClaudeDesktop,
    /// Cursor (with --print).
    Cursor,
    /// VS Code (with --print).
    #[value(name = "vscode")]
    VsCode,
}

/// Whose configuration of the client is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ClientScope {
    /// The user's own, which holds everywhere.
    #[default]
    User,
    /// That of the project in this folder, which others may share.
    Project,
}

/// Arguments of `setup`.
#[derive(Debug, Args)]
pub(crate) struct SetupArguments {
    /// The client.
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// Print the entry, and where it belongs, in place of writing it.
    #[arg(long)]
    pub(crate) print: bool,
    /// The configuration that `toolsmith serve` reads on top of your own and the project's.
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// What the server is called in the client.
    #[arg(long, default_value = "toolsmith", value_parser = server_name)]
    pub(crate) name: String,
    /// Whose configuration of the client is changed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) scope: ClientScope,
    /// Replace an entry of that name that says something else.
    #[arg(long)]
    pub(crate) force: bool,
    /// Let the client call the tools of Toolsmith without asking you each time (codex, gemini): what snippets may call is
    /// decided here. Asked for on a terminal.
    #[arg(long)]
    pub(crate) approve: bool,
    /// Let all tools of this server of your own configuration be called without asking. Asked for on a terminal.
    /// Repeatable.
    #[arg(long, value_name = "SERVER", value_parser = server_name, conflicts_with = "print")]
    pub(crate) trust: Vec<String>,
}

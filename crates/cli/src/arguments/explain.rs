//! The command line of the commands about the command line: `explain`, `completions` and `man`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The code to explain: a kind of error such as `trust`, a status such as `timeout`, an exit code
    /// such as 7, or a code of the Rust compiler such as E0308. Without CODE, all codes are listed.
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<String>,
    /// Print one JSON value: the explanation with its code and title, or the list of codes.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// Bash.
    Bash,
    /// Zsh.
    Zsh,
    /// Fish.
    Fish,
}

/// Arguments of `completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// The folder to write the pages into; it is created if it is missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}

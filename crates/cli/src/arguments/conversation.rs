//! The command line of `conversation`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use super::ConfigArguments;

/// Subcommands of `conversation`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConversationCommand {
    /// List the saved conversations, the most recently changed first.
    List(ListArguments),
    /// Print the most recently written branch of a conversation.
    Print(PrintArguments),
    /// Print conversations with all their branches, each as one line of JSON.
    Export(ExportArguments),
    /// Delete conversations with all their branches.
    Delete(DeleteArguments),
    /// Delete conversations that have not changed for a given time.
    Prune(PruneArguments),
}

/// Arguments of `conversation list`.
#[derive(Debug, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print everything as one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
    /// Only conversations whose label matches this glob, in which `*` matches any text.
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) label: Option<String>,
    /// Only conversations of subagents; the same as --label 'subagent:*'.
    #[arg(long, conflicts_with = "label")]
    pub(crate) subagents: bool,
    /// Maximum number of conversations to list.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}

/// Arguments of `conversation print`.
#[derive(Debug, Args)]
pub(crate) struct PrintArguments {
    /// The conversation's id, or a unique prefix of it.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print the branch as one JSON object, with arguments and results in full.
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,
    /// Print the conversation as Markdown.
    #[arg(long)]
    pub(crate) markdown: bool,
    /// Print the tools' arguments and results in full.
    #[arg(long)]
    pub(crate) full: bool,
    /// Print up to this message instead of the last one, for example to see another branch.
    #[arg(long = "to", value_name = "MESSAGE")]
    pub(crate) message: Option<String>,
}

/// Arguments of `conversation export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The conversations (default: all).
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Write the conversations into this file, which only you can read; an existing file is replaced.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `conversation delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArguments {
    /// The full ids of the conversations.
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print the deleted conversations as one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `conversation prune`.
#[derive(Debug, Args)]
pub(crate) struct PruneArguments {
    /// Delete conversations unchanged for this long: a number with s, m, h, d (days) or w (weeks), such as 30d.
    #[arg(long, value_name = "TIME", value_parser = age)]
    pub(crate) older_than: Duration,
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    /// Print the deleted conversations as one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) fn age(text: &str) -> Result<Duration, config::InvalidAge> {
    config::parse_age(text)
}

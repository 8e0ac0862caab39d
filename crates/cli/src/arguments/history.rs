//! The command line of `history`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use history::Filter;

use super::stats::since;
use super::values::{NameAndValue, seconds};
use super::{AllowArguments, ServersArguments};

/// Subcommands of `history`.
#[derive(Debug, Subcommand)]
pub(crate) enum HistoryCommand {
    /// List the executions that are kept, the latest first.
    List(HistoryListArguments),
    /// Print an execution: its snippet, phases, calls, questions, output and sandbox.
    Show(HistoryShowArguments),
    /// Compare two executions: their snippets, calls, results and times.
    Diff(HistoryDiffArguments),
    /// Run the snippet of an execution again, with the present configuration.
    Rerun(HistoryRerunArguments),
    /// Print executions, each as one line of JSON.
    Export(HistoryExportArguments),
    /// Delete executions.
    Delete(HistoryDeleteArguments),
}

/// Options that choose executions.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArguments {
    /// Only executions with this status, such as ok, runtime_error or interrupted.
    #[arg(long, value_name = "STATUS", value_parser = NonEmptyStringValueParser::new())]
    status: Option<String>,
    /// Only executions that called a tool of this server.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    server: Option<String>,
    /// Only executions that called this tool, as TOOL or SERVER.TOOL.
    #[arg(long, value_name = "TOOL", value_parser = NonEmptyStringValueParser::new())]
    tool: Option<String>,
    /// Only executions of this MCP session.
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    session: Option<String>,
    /// Only executions of this saved program.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    program: Option<String>,
    /// Only executions of this subject of `serve --http`.
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    subject: Option<String>,
    /// Only executions whose snippet, error or output has all of these words, or words that begin with them.
    #[arg(long, value_name = "WORDS", value_parser = NonEmptyStringValueParser::new())]
    text: Option<String>,
    /// Only executions since a time: the start of a day (UTC) such as 2026-11-01, or an age such as 12h or 7d.
    #[arg(long, value_name = "TIME", value_parser = since)]
    since: Option<SystemTime>,
    /// Only executions before a time, written as for --since.
    #[arg(long, value_name = "TIME", value_parser = since)]
    until: Option<SystemTime>,
}

impl FilterArguments {
    /// The filter.
    pub(crate) fn filter(&self) -> Filter {
        let (mut server, mut tool) = (self.server.clone(), self.tool.clone());
        // Names of servers have no dot.
        if let Some((of, name)) = self.tool.as_deref().and_then(|tool| tool.split_once('.'))
            && server.is_none()
        {
            (server, tool) = (Some(of.to_owned()), Some(name.to_owned()));
        }
        Filter {
            status: self.status.clone(),
            server,
            tool,
            session: self.session.clone(),
            program: self.program.clone(),
            subject: self.subject.clone(),
            text: self.text.clone(),
            since: self.since.map(milliseconds),
            until: self.until.map(milliseconds),
        }
    }
}

fn milliseconds(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Arguments of `history list`.
#[derive(Debug, Args)]
pub(crate) struct HistoryListArguments {
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    /// Print everything as one JSON array.
    #[arg(long)]
    pub(crate) json: bool,
    /// Maximum number of executions to list.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
}

/// Arguments of `history show`.
#[derive(Debug, Args)]
pub(crate) struct HistoryShowArguments {
    /// The execution's id, or a unique prefix of it (default: the latest execution).
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Print the execution as one JSON object, with everything that is kept.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `history diff`.
#[derive(Debug, Args)]
pub(crate) struct HistoryDiffArguments {
    /// The id of the first execution, or a unique prefix of it.
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// The id of the second execution, or a unique prefix of it.
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// Print the differences as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Arguments of `history rerun`.
#[derive(Debug, Args)]
pub(crate) struct HistoryRerunArguments {
    /// The execution's id, or a unique prefix of it.
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) place: ServersArguments,
    /// Print the whole outcome as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// Time limit for the whole run, compiling included, in seconds (at most 86400).
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,
    /// An argument for the snippet; replaces the one of the same name. Repeatable.
    #[arg(long = "arg", value_name = "KEY=VALUE", value_parser = NameAndValue)]
    pub(crate) args: Vec<(String, String)>,
    #[command(flatten)]
    pub(crate) permission: AllowArguments,
}

/// Arguments of `history export`.
#[derive(Debug, Args)]
pub(crate) struct HistoryExportArguments {
    /// The executions (default: all that the options choose).
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    /// Write the executions into this file, which only you can read; an existing file is replaced.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Arguments of `history delete`.
#[derive(Debug, Args)]
pub(crate) struct HistoryDeleteArguments {
    /// The full ids of the executions.
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) filter: FilterArguments,
    /// Delete all executions.
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
    /// Delete without a question.
    #[arg(long)]
    pub(crate) yes: bool,
}

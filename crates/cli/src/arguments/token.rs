//! The command line of `token`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use config::InvalidValue;

use super::{ConfigArguments, OutputArguments};

/// Subcommands of `token`.
#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a token for a user of `serve --http`, and print it with its entry for the configuration. The entry has only
    /// the token's hash, so the token cannot be printed again.
    New(NewTokenArguments),
    /// List the tokens in the configuration.
    List(TokensArguments),
}

/// Arguments of `token new`.
#[derive(Debug, Args)]
pub(crate) struct NewTokenArguments {
    /// The user's name, which also appears in the audit log: letters, digits, `_`, `-`, `.` and `@`.
    #[arg(value_parser = token_name)]
    pub(crate) name: String,
    /// A glob of the tools that the token permits, as SERVER.TOOL, such as 'files.*' or '*.get_*' (default: all tools).
    /// Repeatable.
    #[arg(long, value_name = "GLOB", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) tools: Vec<String>,
    /// The last day on which the token is valid, in UTC, such as 2027-01-31 (default: it does not expire).
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(crate) expires: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Arguments of `token list`.
#[derive(Debug, Args)]
pub(crate) struct TokensArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

fn token_name(text: &str) -> Result<String, InvalidValue> {
    config::check_token_name(text).map(|()| text.to_owned())
}

fn day(text: &str) -> Result<String, InvalidValue> {
    config::check_day(text).map(|()| text.to_owned())
}

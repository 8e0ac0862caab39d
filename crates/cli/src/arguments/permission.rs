//! The command line of `permission`.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

use super::{ConfigArguments, OutputArguments};

/// Subcommands of `permission`.
#[derive(Debug, Subcommand)]
pub(crate) enum PermissionCommand {
    /// List the tools that you have allowed permanently: since when, where you answered, and whether the answer applies.
    List(ListPermissionsArguments),
    /// Take permanent answers back: you are asked again.
    Revoke(RevokeArguments),
}

/// Arguments of `permission list`.
#[derive(Debug, Args)]
pub(crate) struct ListPermissionsArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Arguments of `permission revoke`.
#[derive(Debug, Args)]
pub(crate) struct RevokeArguments {
    /// The tools: names or globs, such as 'files.write' or 'files.*'.
    #[arg(value_name = "SERVER.TOOL", value_parser = NonEmptyStringValueParser::new(), required_unless_present = "all")]
    pub(crate) tools: Vec<String>,
    /// Take all answers back.
    #[arg(long, conflicts_with = "tools")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

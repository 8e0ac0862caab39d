//! The command line of `adopt`.

use clap::{Args, ValueEnum};
use clients::Client;
use clients::edit::Scope;

use super::server_name;
use super::servers::AccessArguments;

/// Where `adopt` puts secrets that a client's file has as plain text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SecretsPlace {
    /// As text in Toolsmith's configuration.
    Keep,
    /// In environment variables that you export; the configuration has `${NAME}`.
    Env,
    /// In the system's keyring; the configuration has `${keyring:NAME}`.
    Keyring,
}

/// Arguments of `adopt`.
#[derive(Debug, Args)]
pub(crate) struct AdoptArguments {
    /// The client.
    #[arg(value_enum)]
    pub(crate) client: Client,
    /// user: from the client's own file into your configuration; project: from the client's file in this folder into
    /// the project's configuration.
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Change the files without asking.
    #[arg(long, short = 'y')]
    pub(crate) yes: bool,
    /// Put everything back as it was before the last `adopt` of this client.
    #[arg(long, conflicts_with_all = ["trust", "permission", "sandbox", "replace", "secrets"])]
    pub(crate) undo: bool,
    /// Toolsmith's name in the client.
    #[arg(long, default_value = "toolsmith", value_parser = server_name)]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) access: AccessArguments,
    /// Replace servers of Toolsmith's configuration that have the same names but differ (default: you are asked on a terminal).
    #[arg(long)]
    pub(crate) replace: bool,
    /// Where to put secrets that the client's file has as plain text (default: you are asked on a terminal, otherwise
    /// keep).
    #[arg(long, value_enum)]
    pub(crate) secrets: Option<SecretsPlace>,
}

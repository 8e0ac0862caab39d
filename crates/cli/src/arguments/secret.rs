//! The command line of `secret`.

use clap::{Args, Subcommand};
use config::InvalidValue;

/// Subcommands of `secret`.
#[derive(Debug, Subcommand)]
pub(crate) enum SecretCommand {
    /// Store a secret, or replace it. It is read from standard input, or typed on the terminal without being shown.
    Set(SecretArguments),
    /// List the names of the stored secrets.
    List,
    /// Delete a secret.
    Delete(SecretArguments),
}

/// The name of a secret.
#[derive(Debug, Args)]
pub(crate) struct SecretArguments {
    /// The secret's name: letters, digits, `_`, `-` and `.`.
    #[arg(value_parser = secret_name)]
    pub(crate) name: String,
}

fn secret_name(text: &str) -> Result<String, InvalidValue> {
    if mcp::keyring::is_name(text) {
        Ok(text.to_owned())
    } else {
        Err(InvalidValue("a name has 1 to 128 letters, digits, `_`, `-` and `.`".to_owned()))
    }
}

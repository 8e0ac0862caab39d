//! Options for the output of commands that print data.

use clap::Args;

/// Options for the output.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Print everything as one JSON value.
    #[arg(long)]
    pub(crate) json: bool,
}

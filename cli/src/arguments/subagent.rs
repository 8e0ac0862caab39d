//! The command line of `mcp serve`.

use clap::Args;

use super::{ConfigArguments, ListeningArguments, MannerArguments};

/// Arguments of `mcp serve`.
#[derive(Debug, Args)]
pub(crate) struct SubagentArguments {
    #[command(flatten)]
    pub(crate) place: ConfigArguments,
    #[command(flatten)]
    pub(crate) listening: ListeningArguments,
    #[command(flatten)]
    pub(crate) manner: MannerArguments,
}

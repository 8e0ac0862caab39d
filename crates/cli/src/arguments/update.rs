//! The command line of `update`.

use clap::Args;

use super::OutputArguments;

/// Arguments of `update`.
#[derive(Debug, Args)]
pub(crate) struct UpdateArguments {
    /// Compare this version with the newest release, and print the command that installs it. This option is required,
    /// because Toolsmith never replaces itself.
    #[arg(long, required = true)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

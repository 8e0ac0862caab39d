//! `toolsmith program`: saves, lists, checks, runs and tests saved programs.

mod checking;
mod editing;
mod listing;
mod options;
mod recording;
mod running;
mod saving;
mod skills;
mod support;
mod testing;
mod values;

use gateway::failure::Failure;
use tokio_util::sync::CancellationToken;

use crate::arguments::ProgramCommand;

/// Runs a subcommand of `program` and returns the exit code.
pub(crate) async fn run(command: ProgramCommand, cancel: CancellationToken) -> Result<u8, Failure> {
    match command {
        ProgramCommand::List(arguments) => listing::list(&arguments).await,
        ProgramCommand::Show(arguments) => listing::show(&arguments, cancel).await,
        ProgramCommand::Check(arguments) => checking::check(&arguments, cancel).await,
        ProgramCommand::Save(arguments) => saving::save(&arguments, cancel).await,
        ProgramCommand::Approve(arguments) => saving::approve(&arguments, cancel).await,
        ProgramCommand::Rename(arguments) => editing::rename(&arguments).await,
        ProgramCommand::Delete(arguments) => editing::delete(&arguments).await,
        ProgramCommand::Export(arguments) => skills::export(&arguments, cancel).await,
        ProgramCommand::Import(arguments) => skills::import(&arguments, cancel).await,
        ProgramCommand::Record(arguments) => recording::record(arguments, cancel).await,
        ProgramCommand::Test(arguments) => testing::test(&arguments, cancel).await,
        ProgramCommand::Run(arguments) => running::run(arguments, cancel).await,
    }
}

//! `toolsmith mcp`: dispatches the commands that inspect servers and call tools, with output as tables or JSON. The
//! commands that change files are called directly.

mod call;
pub(crate) mod edit;
pub(crate) mod lock;
mod lock_writer;
pub(crate) mod login;
pub(crate) mod observe;
mod resources;
pub(crate) mod sandbox;
mod servers;
mod support;
mod tools;

use gateway::exit_code;
use gateway::failure::Failure;
use terminal::Terminal;

use crate::arguments::{AddArguments, InspectCommand};
use resources::List;

/// Adds a server, tries it, and returns the exit code.
pub(crate) async fn add(arguments: &AddArguments) -> Result<u8, Failure> {
    let added = edit::add(arguments).await?;
    let is_confined = arguments.destination.access.sandbox || added.is_bundle;
    sandbox::try_added(&arguments.name, &added.file, is_confined).await;
    if added.is_bundle {
        lock::pin_added(&arguments.name, &added.file).await;
    }
    Ok(exit_code::OK)
}

/// Runs a command and returns the exit code.
pub(crate) async fn inspect(command: &InspectCommand) -> Result<u8, Failure> {
    if let InspectCommand::Call(arguments) = command {
        return call::call(arguments).await;
    }
    let terminal = Terminal::new(false, false);
    let done = match command {
        InspectCommand::List(arguments) => servers::list(arguments, &terminal),
        InspectCommand::Status(arguments) => servers::status(arguments, &terminal).await,
        InspectCommand::Info(arguments) => servers::info(arguments, &terminal).await,
        InspectCommand::Test(arguments) => servers::test(arguments, &terminal).await,
        InspectCommand::Tools(arguments) => tools::list(arguments, &terminal).await,
        InspectCommand::ListResources(arguments) => {
            resources::list(arguments, List::Resources, &terminal).await
        }
        InspectCommand::ListResourceTemplates(arguments) => {
            resources::list(arguments, List::Templates, &terminal).await
        }
        InspectCommand::ListPrompts(arguments) => resources::list(arguments, List::Prompts, &terminal).await,
        InspectCommand::ReadResource(arguments) => resources::read(arguments, &terminal).await,
        InspectCommand::GetPrompt(arguments) => resources::prompt(arguments, &terminal).await,
        InspectCommand::Call(arguments) => call::call(arguments).await,
    };
    match terminal.flush().await {
        Ok(()) => done,
        Err(error) => Err(Failure::output(error)),
    }
}

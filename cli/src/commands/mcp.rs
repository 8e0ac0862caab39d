//! `toolsmith mcp`: dispatches the commands that inspect servers and call tools, with output as tables or JSON. The
//! commands that change files are called directly.

mod call;
pub(crate) mod edit;
pub(crate) mod lock;
mod lock_writer;
pub(crate) mod login;
pub(crate) mod observe;
mod resources;
mod servers;
mod support;
pub(crate) mod table;
mod tools;

pub(crate) use servers::source;
pub(crate) use table::{short, show_table, table};
pub(crate) use tools::rows;

use gateway::failure::Failure;
use terminal::Terminal;

use crate::arguments::LookCommand;
use resources::List;

/// Runs a command and returns the exit code.
pub(crate) async fn look(command: &LookCommand) -> Result<u8, Failure> {
    if let LookCommand::Call(arguments) = command {
        return call::call(arguments).await;
    }
    let terminal = Terminal::new(command.output().quiet, false).verbose(command.output().verbose);
    let done = match command {
        LookCommand::List(arguments) => servers::list(arguments, &terminal),
        LookCommand::Status(arguments) => servers::status(arguments, &terminal).await,
        LookCommand::Info(arguments) => servers::info(arguments, &terminal).await,
        LookCommand::Test(arguments) => servers::test(arguments, &terminal).await,
        LookCommand::Tools(arguments) => tools::list(arguments, &terminal).await,
        LookCommand::ListResources(arguments) => resources::list(arguments, List::Resources, &terminal).await,
        LookCommand::ListResourceTemplates(arguments) => {
            resources::list(arguments, List::Templates, &terminal).await
        }
        LookCommand::ListPrompts(arguments) => resources::list(arguments, List::Prompts, &terminal).await,
        LookCommand::ReadResource(arguments) => resources::read(arguments, &terminal).await,
        LookCommand::GetPrompt(arguments) => resources::prompt(arguments, &terminal).await,
        LookCommand::Call(arguments) => call::call(arguments).await,
    };
    match terminal.flush().await {
        Ok(()) => done,
        Err(error) => Err(Failure::output(error)),
    }
}

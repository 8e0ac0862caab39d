//! The commands of `toolsmith mcp` that look at servers and call tools, each as a table for people or as JSON.

mod call;
mod resources;
mod servers;
pub(crate) mod table;
mod tools;

use resources::List;

use serde_json::Value;
pub(crate) use servers::source;
pub(crate) use table::{short, table};
pub(crate) use tools::rows;

use crate::arguments::{ConfigArguments, LookCommand};
use crate::config::{Config, Server};
use crate::exit;
use crate::failure::Failure;
use crate::host::Attendant;
use crate::pins::{Difference, Pins};
use crate::sessions::Sessions;
use crate::setup;
use crate::terminal::Terminal;
use crate::tool_list::ToolList;

/// Runs a command; gives the exit code.
pub(crate) async fn look(command: &LookCommand) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = match command {
        LookCommand::ListServers(arguments) => servers::list(arguments, &terminal),
        LookCommand::Status(arguments) => servers::status(arguments, &terminal).await,
        LookCommand::Info(arguments) => servers::info(arguments, &terminal).await,
        LookCommand::Test(arguments) => servers::test(arguments, &terminal).await,
        LookCommand::ListTools(arguments) => tools::list(arguments, &terminal).await,
        LookCommand::ListResources(arguments) => resources::list(arguments, List::Resources, &terminal).await,
        LookCommand::ListResourceTemplates(arguments) => {
            resources::list(arguments, List::Templates, &terminal).await
        }
        LookCommand::ListPrompts(arguments) => resources::list(arguments, List::Prompts, &terminal).await,
        LookCommand::ReadResource(arguments) => resources::read(arguments, &terminal).await,
        LookCommand::GetPrompt(arguments) => resources::prompt(arguments, &terminal).await,
        LookCommand::CallTool(arguments) => call::call(arguments, &terminal).await,
    };
    match terminal.flush().await {
        Ok(()) => done,
        Err(error) => Err(Failure::host(format!("the output can't be written: {error}"))),
    }
}

/// The configuration; where there is none, that is said.
pub(crate) fn load(place: &ConfigArguments, terminal: &Terminal) -> Result<Config, Failure> {
    let config = setup::load(place)?;
    tell_if_demo(&config, terminal);
    Ok(config)
}

/// The same, where servers that can't be used are looked at as well.
fn survey(place: &ConfigArguments, terminal: &Terminal) -> Result<Config, Failure> {
    let config = setup::survey(place)?;
    tell_if_demo(&config, terminal);
    Ok(config)
}

fn tell_if_demo(config: &Config, terminal: &Terminal) {
    if config.is_demo() {
        terminal.note(
            "no server is configured: this is the built-in demo server; add your own with\n  \
             toolsmith mcp add NAME -- COMMAND ARGUMENTS…\n  toolsmith mcp add NAME --url ADDRESS",
        );
    }
}

/// Sessions that are held to the lock file.
fn sessions(config: &Config, pins: Pins, terminal: &Terminal) -> Sessions {
    let mut sessions = Sessions::new(config, Attendant::at(terminal));
    sessions.hold_to(pins);
    sessions
}

/// Says how a server's tools differ from the locked ones.
fn tell_difference(config: &Config, pins: &Pins, server: &str, tools: &ToolList, terminal: &Terminal) {
    let found = pins.differences(server, tools, |tool| config.admits(server, tool));
    found.iter().filter_map(Difference::note).for_each(|note| terminal.note(&note));
}

/// A server that can be used.
pub(crate) fn server<'a>(config: &'a Config, name: &str) -> Result<&'a Server, Failure> {
    if let Some(server) = config.server(name) {
        return Ok(server);
    }
    if let Some(absent) = config.absent.iter().find(|absent| absent.name == name) {
        return Err(Failure::configuration(match &absent.wrong {
            Some(wrong) => format!("the entry of the server {name} is wrong\n{wrong}"),
            None => format!("the server {name} is switched off\nhelp: write `enabled: true` in its entry"),
        }));
    }
    let known: Vec<&str> = config.servers.iter().map(|server| server.connection.name.as_str()).collect();
    Err(Failure::configuration(format!(
        "there is no server {name:?}\nhelp: configured are {}",
        known.join(", ")
    )))
}

/// A value for programs, on one line.
fn print_json(value: &Value, terminal: &Terminal) {
    terminal.print_json(&value.to_string());
}

/// Of some that were tried, whether any worked.
fn code(any_ready: bool) -> u8 {
    if any_ready { exit::OK } else { exit::HOST }
}

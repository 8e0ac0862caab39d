//! `toolsmith mcp sandbox`: shows what a confined server may do, sets its grants, and learns which it needs.
//!
//! `trial` starts a server until it answers, `learning` watches it in use, and `grants` writes what the user has
//! accepted.

mod grants;
mod learning;
mod trial;

use std::path::Path;

use config::{LoadOptions, Server};
use execution::setup::configure;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::Known;
use sandbox::Layers;
use serde_json::json;
use server_sandbox::Settings;
use terminal::Terminal;

use super::servers;
use super::support::{print_json, server_of};
use crate::arguments::SandboxArguments;
use trial::Trial;

/// Runs the command and returns the exit code.
pub(crate) async fn sandbox(arguments: &SandboxArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = sandbox_in(arguments, &terminal).await;
    terminal.flush().await.map_err(Failure::output)?;
    done
}

async fn sandbox_in(arguments: &SandboxArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = configure(&arguments.place.options())?;
    let server = server_of(&config, &arguments.name, None)?;
    let mcp::Transport::Stdio(_) = &server.connection.transport else {
        let name = &server.connection.name;
        return Err(Failure::command_line(format!(
            "{name} is reached by its address and runs elsewhere, so Toolsmith can't confine it"
        )));
    };
    if let Some(value) = &arguments.set {
        grants::write(server, value.clone())?;
        return tried(arguments, terminal).await;
    }
    if arguments.learn {
        return learning::learn(arguments, &config, server, terminal).await;
    }
    show(server, arguments.output.json, terminal);
    Ok(exit_code::OK)
}

/// Starts the server with its new entry and reports whether it answers.
async fn tried(arguments: &SandboxArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let config = configure(&arguments.place.options())?;
    let server = server_of(&config, &arguments.name, None)?;
    let pins = Known::of(&config)?.pins;
    let trial = Trial { config: &config, server, pins: &pins, terminal };
    let answers = match &server.sandbox {
        Some(sandbox) => trial.start(&sandbox.settings).await?.report(&trial),
        None => {
            terminal.note(&format!("{} is not confined: it runs with your rights", arguments.name));
            true
        }
    };
    Ok(super::support::code(answers))
}

/// Prints what a server may do.
fn show(server: &Server, as_json: bool, terminal: &Terminal) {
    let name = &server.connection.name;
    if as_json {
        let settings = server.sandbox.as_ref().map(|sandbox| &sandbox.settings);
        let grants = settings.map(|settings| grants::widened(None, &Settings::default(), settings));
        let tier = tier(server).map(Layers::name);
        print_json(
            &json!({ "id": name, "confined": settings.is_some(), "sandbox": grants, "tier": tier }),
            terminal,
        );
        return;
    }
    let Some(sandbox) = &server.sandbox else {
        terminal.print(&format!("{name} is not confined: it runs with your rights"));
        terminal.note(&format!("help: to confine it: toolsmith mcp sandbox {name} --learn"));
        return;
    };
    let tier = tier(server).map_or("none that the configuration accepts", Layers::name);
    terminal.print(&format!("{name} is confined. It may use:"));
    let facts = sandbox.settings.in_words();
    let width = facts.iter().map(|(what, _)| what.len()).max().unwrap_or_default();
    for (what, words) in facts.iter().chain([&("tier", tier.to_owned())]) {
        terminal.print(&format!("  {what:width$}  {words}"));
    }
}

/// The tier in which a server is confined on this machine.
fn tier(server: &Server) -> Option<Layers> {
    sandbox::probe().choose(server.sandbox.as_ref()?.minimum).ok()
}

/// Connects to a server that was just added to a file, caches its tools, and reports how many it has, or why it does
/// not answer: the entry stays in either case. A server that is to be
/// confined is tried so.
pub(crate) async fn try_added(name: &str, file: &Path, is_confined: bool) {
    let terminal = Terminal::new(false, false);
    let tried = if is_confined {
        confine_added(name, file, &terminal).await
    } else {
        servers::answer_of_added(name, file, &terminal).await.map(|message| terminal.note(&message))
    };
    if let Err(failure) = tried {
        terminal.note(&format!("warning: {name} was not tried: {}", failure.report.for_terminal()));
    }
    // The file is changed already.
    let _ = terminal.flush().await;
}

/// Tries a server that was just added confined, asks about the grants that it needs to answer, and writes them.
///
/// # Errors
/// If it can't be tried.
async fn confine_added(name: &str, file: &Path, terminal: &Terminal) -> Result<(), Failure> {
    let config = configure(&LoadOptions::default())?;
    let Some(server) = config.server(name).filter(|server| server.layer.file() == Some(file)) else {
        terminal.note(&servers::another_entry(name));
        return Ok(());
    };
    if trial::confine(&config, server, terminal).await? {
        terminal.note(&format!("help: to find what it needs in use: toolsmith mcp sandbox {name} --learn"));
    }
    Ok(())
}

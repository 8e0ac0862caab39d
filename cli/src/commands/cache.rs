//! `toolsmith cache`: `warm` compiles ahead everything that snippets depend on; `maintenance` has the other commands.

mod maintenance;

use std::sync::Arc;

use config::Config;
use gateway::cache;
use gateway::discovery::Discovery;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::Known;
use runner::{Catalog, Engine};
use server::setup;
use terminal::Terminal;

use crate::arguments::{CacheCommand, WarmArguments};
use crate::terminal_host::TerminalHost;

/// Runs a subcommand of `cache` and returns the exit code.
pub(crate) async fn run(command: &CacheCommand) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = match command {
        CacheCommand::Warm(arguments) => return warm(arguments).await,
        CacheCommand::Info(arguments) => maintenance::info(arguments, &terminal),
        CacheCommand::Clean(arguments) => maintenance::clean(arguments, &terminal).await,
        CacheCommand::Prune(arguments) => maintenance::prune(arguments, &terminal),
    };
    terminal.flush().await.map_err(Failure::output)?;
    done
}

async fn warm(arguments: &WarmArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, false);
    let done = build(arguments, &terminal).await;
    terminal.flush().await.map_err(Failure::output)?;
    done.map(|()| exit_code::OK)
}

async fn build(arguments: &WarmArguments, terminal: &Terminal) -> Result<(), Failure> {
    let (_, catalog) = build_bindings(&setup::load(&arguments.place.options())?, terminal).await?;
    for module in catalog.modules().values() {
        terminal.note(&format!(
            "{}: compiled the bindings of {}",
            module.server,
            report::count(module.tools().len(), "tool")
        ));
    }
    Ok(())
}

/// Compiles the available crates, and the bindings of all configured servers.
pub(super) async fn build_bindings(
    config: &Arc<Config>,
    terminal: &Terminal,
) -> Result<(Engine, Catalog), Failure> {
    let known = Known::of(config)?;
    let engine = Engine::open(&config.code_mode.engine(cache::open(&config.cache)?), terminal).await?;
    let mut discovery = Discovery::new(config, TerminalHost::at(terminal), engine.cache().clone(), known);
    let discovered = discovery.discover().await;
    let catalog = discovery.catalog();
    discovery.sessions.close().await;
    discovered?;
    engine.warm(&catalog, terminal).await?;
    terminal.notifier().end_steps();
    Ok((engine, catalog))
}

//! `toolsmith cache`: `warm` compiles ahead everything that snippets depend on; `maintenance` has the other commands.

mod maintenance;

use std::sync::Arc;
use std::time::Duration;

use config::Config;
use execution::setup;
use gateway::cache;
use gateway::discovery::Discovery;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::Known;
use gateway::terminal_host::TerminalHost;
use runner::{Catalog, Engine};
use terminal::Terminal;

use crate::arguments::{CacheCommand, WarmArguments};

/// The time for which `warm` waits for the entries to reach the remote cache: enough for a layer over a slow line.
const FLUSH: Duration = Duration::from_secs(600);

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
    let (engine, catalog) = build_bindings(&setup::configure(&arguments.place.options())?, terminal).await?;
    for module in catalog.modules().values() {
        terminal.note(&format!(
            "{}: compiled the bindings of {}",
            module.server,
            report::count(module.tools().len(), "tool")
        ));
    }
    share(&engine, &catalog, terminal).await;
    Ok(())
}

/// Writes what the remote cache does not have yet.
async fn share(engine: &Engine, catalog: &Catalog, terminal: &Terminal) {
    engine.share(catalog);
    engine.cache().flush_remote(FLUSH).await;
    let Some(remote) = engine.cache().statistics().remote else { return };
    terminal.note(&format!("wrote {} to the remote cache", report::count(remote.written, "entry")));
    if remote.unwritten > 0 {
        let count = report::count(remote.unwritten, "entry");
        terminal.notifier().warning(&format!("{count} could not be written to the remote cache"));
    }
}

/// Compiles the crates for snippets, and the bindings of all configured servers.
pub(super) async fn build_bindings(
    config: &Arc<Config>,
    terminal: &Terminal,
) -> Result<(Engine, Catalog), Failure> {
    let known = Known::of(config)?;
    let cache = cache::open_shared(&config.cache, terminal.notifier())?;
    let engine = Engine::open(&config.code_mode.engine(cache), terminal).await?;
    let mut discovery = Discovery::new(config, TerminalHost::at(terminal), engine.cache().clone(), known);
    let discovered = discovery.discover().await;
    let catalog = discovery.catalog();
    discovery.sessions.close().await;
    discovered?;
    engine.warm(&catalog, terminal).await?;
    terminal.notifier().end_steps();
    Ok((engine, catalog))
}

//! `toolsmith mcp lock`: writes down which tools servers have, and accepts what has changed since.

use mcp::Lock;
use serde_json::Value;

use crate::arguments::PinArguments;
use crate::catalog::ToolLists;
use crate::config::Config;
use crate::discovery::Discovery;
use crate::exit;
use crate::failure::Failure;
use crate::observe::{Place, hold};
use crate::pins::{Known, Pins};
use crate::terminal::Terminal;

/// Runs the command; gives the exit code.
pub(crate) async fn lock(arguments: &PinArguments) -> Result<u8, Failure> {
    let terminal = Terminal::new(arguments.place.quiet, false);
    let done = work(arguments, &terminal).await;
    terminal.flush().await.map_err(Failure::host)?;
    done
}

async fn work(arguments: &PinArguments, terminal: &Terminal) -> Result<u8, Failure> {
    let Place { config, file, .. } = Place::read(&arguments.place)?;
    let accepted = arguments.accept.as_deref();
    for name in accepted.unwrap_or_default() {
        if config.server(name).is_none() {
            let message = format!(
                "there is no server {name:?} to accept tools of\nhelp: `toolsmith mcp list-servers` names those there are"
            );
            return Err(Failure::configuration(message));
        }
    }
    let lists = ask_all(&config, terminal).await?;
    let _held = hold(&file)?;
    let mut lock = Lock::read(&file).map_err(Failure::configuration)?.unwrap_or_default();
    let differing = differences(&config, &lists, &lock, accepted, terminal);
    if !differing.is_empty() {
        let names = differing.join(" ");
        let message = format!(
            "the tools of {} are not those that were locked; the lock file is as it was\nhelp: look at the changes, and accept them with `toolsmith mcp lock --accept {names}`",
            differing.join(", ")
        );
        return Err(Failure { code: exit::RUNTIME, message });
    }
    // A server that is switched off for now, or whose entry is wrong, stays held to its tools.
    let is_absent = |name: &str| config.absent.iter().any(|absent| absent.name == name);
    lock.servers.retain(|name, _| config.server(name).is_some() || is_absent(name));
    for server in &config.servers {
        let name = &server.connection.name;
        let Some(list) = lists.list(name) else { continue };
        let admitted = |raw: &&Value| config.admits(name, raw["name"].as_str().unwrap_or(""));
        let tools: Vec<Value> = list.tools().iter().filter(admitted).cloned().collect();
        terminal.print(&format!("{name}: {} tools", tools.len()));
        lock.pin(name, tools);
    }
    lock.write(&file).map_err(Failure::configuration)?;
    terminal.note(&format!("wrote {}", file.display()));
    Ok(exit::OK)
}

/// The tools of all servers, which must all answer.
async fn ask_all(config: &Config, terminal: &Terminal) -> Result<ToolLists, Failure> {
    let cache = config.cache.open()?;
    let mut discovery = Discovery::new(config, terminal, cache, Known::default());
    let servers: Vec<_> = config.servers.iter().collect();
    let asked = discovery.ask(&servers).await;
    let lists = discovery.lists().clone();
    discovery.sessions.close().await;
    let failures = asked?;
    if failures.is_empty() {
        Ok(lists)
    } else {
        Err(Failure::host(format!("the lock file is as it was\n{}", failures.join("\n"))))
    }
}

/// Tells how tools differ from the locked ones; gives the servers whose difference is not `accepted`, of which no names
/// mean all.
fn differences(
    config: &Config,
    lists: &ToolLists,
    lock: &Lock,
    accepted: Option<&[String]>,
    terminal: &Terminal,
) -> Vec<String> {
    let pins = Pins::of(lock);
    let mut differing = Vec::new();
    for server in &config.servers {
        let name = &server.connection.name;
        let Some(list) = lists.list(name) else { continue };
        let Some(difference) = pins.difference(name, list, |tool| config.admits(name, tool)) else {
            continue;
        };
        if difference.is_empty() {
            continue;
        }
        let is_accepted = accepted.is_some_and(|names| names.is_empty() || names.contains(name));
        let words = if is_accepted { "accepted" } else { "not as they were locked" };
        terminal.tell(&format!("{name}: {words}:\n{}", difference.lines().join("\n")));
        if !is_accepted {
            differing.push(name.clone());
        }
    }
    differing
}

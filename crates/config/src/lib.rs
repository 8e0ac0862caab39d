//! The configuration: MCP servers, models, and what snippets may use.
//!
//! `layers` finds the layers, `source` reads one, `top_level` declares its keys, `validation` and `server` check the
//! values, and `configuration` holds the checked result. This module loads all of them.

#![forbid(unsafe_code)]

mod age;
mod agent;
mod check;
mod code_mode;
mod command_text;
mod config_layer;
mod configuration;
mod confinement;
mod decode;
mod error;
mod flows;
mod folders;
mod history;
mod identities;
mod key_macros;
mod key_types;
pub mod layers;
mod load_options;
pub mod locks;
mod origin;
mod own_program;
mod permissions;
mod placed;
mod problems;
mod program_folders;
mod protected;
mod remote_cache;
pub mod schema;
mod serve;
mod server;
mod server_form;
mod shared_state;
pub mod show;
mod size;
pub mod source;
mod syntax;
mod telemetry;
#[cfg(test)]
mod tests;
pub mod text;
mod top_level;
pub mod tree;
pub mod trust;
mod validation;
pub mod variables;

use std::path::Path;

use report::Problem;

pub use self::age::{InvalidAge, parse as parse_age};
pub use self::agent::{Conversations, Model, Subagent};
pub use check::{Checked, check};
pub use code_mode::{CodeMode, DirectNames, MAX_DESCRIPTION};
pub use command_text::split_command;
pub use config_layer::ConfigLayer;
pub use configuration::{Absent, Config, Server};
pub use error::{Error, ErrorKind};
pub use flows::{FlowAction, FlowRule, FlowScope, Flows};
pub use folders::{access_of, bundles_folder, cache_folder, create_folder_of, state_folder, user_folder};
pub use history::History;
pub use identities::{
    Auth, Denied, HASH_PREFIX, NamedToken, SignatureAlgorithm, SubjectLimits, check_day, check_token_name,
    is_secure_address, permits,
};
pub use key_types::{InvalidValue, MAX_SECONDS};
pub use layers::file_of_environment;
pub use load_options::{Demo, LoadOptions, Needs, ServersOf, Untrusted};
pub use locks::{LOCK, LockFile};
pub use own_program::is_this_program;
pub use permissions::{Filter, Glob, Permission, Rules};
pub use problems::{InvalidServerName, check_server_name};
pub use program_folders::ProgramFolders;
pub use remote_cache::{RemoteCache, RemoteKey};
pub use serve::{ArgumentsKept, AuditLog, Serve, Spares};
pub use server::command_line;
pub use server_form::SessionMode;
pub use shared_state::{SharedState, StateKey};
pub use size::{InvalidSize, parse as parse_size};
pub use telemetry::Telemetry;
pub use top_level::CacheSettings;

/// Loads the configuration of all layers: the user's file, the project's file if it is trusted, the file that the
/// arguments name, and the environment.
///
/// # Errors
/// If a layer can't be read or has an error outside its servers, the project's file is not trusted
/// ([`Untrusted::Refused`]), no server is usable although one is needed ([`Needs`]), or, with `strict`, any entry has
/// an error.
pub fn load(options: &LoadOptions) -> Result<Config, Error> {
    let config = with_demo_server(layers::gather(options)?.merge()?, options.demo)?;
    if config.untrusted.is_some() && config.servers.is_empty() && !options.strict {
        return Ok(config);
    }
    checked(config, options)
}

fn checked(config: Config, options: &LoadOptions) -> Result<Config, Error> {
    let wrong = wrong_entries(&config);
    if options.strict && !wrong.is_empty() {
        return Err(Error::of(wrong));
    }
    let needs_one = match options.needs {
        Needs::Servers => config.subagent.is_none() || options.demo == Demo::Only,
        Needs::ServersIfAny => config.subagent.is_none() && !is_unconfigured(&config),
        Needs::Nothing => false,
    };
    // A process that works without servers waits until the entry is corrected.
    let is_broken = !wrong.is_empty() && options.needs != Needs::Nothing;
    match no_server(&config).filter(|_| needs_one || is_broken) {
        Some(error) if is_unconfigured(&config) => Err(error.hint(DEMO)),
        Some(error) => Err(error),
        None => Ok(config),
    }
}

/// The errors in the entries of servers, by place.
fn wrong_entries(config: &Config) -> Vec<Problem> {
    let wrong = config.absent.iter().filter_map(|absent| absent.wrong.as_deref());
    let mut wrong: Vec<Problem> = wrong.flatten().cloned().collect();
    wrong.sort_by_key(|wrong| wrong.place.as_ref().map(|at| (at.file.clone(), at.line, at.column)));
    wrong
}

/// Adds the demo server if the command needs it. It has no lock file: those in force are of the user's servers.
fn with_demo_server(mut config: Config, demo: Demo) -> Result<Config, Error> {
    let is_used = match demo {
        Demo::Never => false,
        Demo::IfUnconfigured => is_unconfigured(&config) && config.untrusted.is_none(),
        Demo::Only => config.switched_off.is_none(),
    };
    if is_used {
        config.servers = vec![demo_server()?];
        config.absent.clear();
        config.locks.clear();
        config.layers.insert(0, ConfigLayer::Demo);
    }
    Ok(config)
}

/// Whether no layer has a server, and none was named to have one.
fn is_unconfigured(config: &Config) -> bool {
    let is_named =
        config.layers.iter().any(|layer| matches!(layer, ConfigLayer::Named(_) | ConfigLayer::Environment));
    let is_empty = config.servers.is_empty() && config.absent.is_empty() && config.subagent.is_none();
    is_empty && !is_named && config.switched_off.is_none()
}

/// Advice for a command that needs servers: all of them have this option.
const DEMO: &str = "try the command with the built-in demo server: --demo";

/// Returns the reason why the configuration has no usable server, with a remedy; `None` if it has one.
pub fn no_server(config: &Config) -> Option<Error> {
    const ADD: &str = "add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…";
    const ADOPT: &str = "use the servers of another client: toolsmith adopt CLIENT";
    const EXAMPLE: &str = "or write it under mcpServers, such as\n  \
                           mcpServers:\n    files: { command: filesystem-mcp, args: [/data] }";
    if !config.servers.is_empty() {
        return None;
    }
    if let Some(place) = &config.switched_off {
        let message = format!("MCP is switched off: globalSettings.enabled is false in {place}");
        return Some(Error::new(message).hint("to use servers, remove it, or write `enabled: true`"));
    }
    let mut wrong = wrong_entries(config);
    if !wrong.is_empty() {
        wrong.push(Problem::new("no usable server is left"));
        return Some(Error::of(wrong).hint("correct the entry, or add another server").hint(ADD));
    }
    if is_unconfigured(config) {
        return Some(Error::new("no MCP servers are configured").hint(ADD).hint(ADOPT));
    }
    let place = match config.layers.last() {
        Some(ConfigLayer::Environment) => format!("the variable {}", source::SERVERS_VARIABLE),
        Some(layer) => format!("the configuration {}", layer.file().unwrap_or(Path::new("")).display()),
        None => "the configuration".to_owned(),
    };
    let error = Error::new(format!("{place} has no enabled server"));
    Some(match config.absent.first() {
        Some(absent) => error.hint(format!("enable one: toolsmith mcp enable {}", absent.name)).hint(ADD),
        None => error.hint(format!("{ADD}, {EXAMPLE}")),
    })
}

/// The demo server.
fn demo_server() -> Result<Server, Error> {
    let program = own_program::own_program()?;
    let target = command_line(&program, ["demo-server"].into_iter());
    let server = Server::new(mcp::ServerConfig::stdio("demo", program, ["demo-server"]), target);
    Ok(Server { permissions: Rules::all(Permission::Allow), ..server })
}

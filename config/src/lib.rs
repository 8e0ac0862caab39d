//! The configuration: MCP servers, models, and what snippets may use.
//!
//! `layers` finds the layers, `source` reads one, `top_level` declares its keys, `validation` and `server` check the
//! values, and `configuration` holds the checked result. This module loads all of them.

#![forbid(unsafe_code)]

mod agent;
mod code_mode;
mod config_layer;
mod configuration;
mod confinement;
mod decode;
mod error;
#[cfg(test)]
mod fixtures;
mod folders;
mod key_macros;
mod key_types;
pub mod layers;
pub mod locks;
mod origin;
mod own_program;
mod permissions;
mod placed;
mod problems;
mod protected;
pub mod schema;
mod serve;
mod server;
mod server_form;
pub mod show;
mod size;
pub mod source;
mod syntax;
mod telemetry;
pub mod text;
mod top_level;
pub mod tree;
pub mod trust;
mod validation;
pub mod variables;

use std::path::Path;

use report::Problem;

pub use self::agent::{Conversations, Model, Subagent};
pub use code_mode::{CodeMode, DirectNames, LONGEST_DESCRIPTION};
pub use config_layer::ConfigLayer;
pub use configuration::{Absent, Config, Server};
pub use error::{Error, ErrorKind};
pub use folders::{cache_folder, state_folder, user_folder};
pub use key_types::LONGEST_SECONDS;
pub use layers::LoadOptions;
pub use locks::{LOCK, LockFile};
pub use own_program::is_this_program;
pub use permissions::{Filter, Glob, Permission, Rules};
pub use problems::{InvalidServerName, check_server_name};
pub use serve::{ArgumentsKept, AuditLog, Serve};
pub use server::command_line;
pub use telemetry::Telemetry;
pub use top_level::CacheSettings;

/// Loads the configuration of all layers: the user's file, the project's file if it is trusted, the file that the
/// arguments name, and the environment. If none of them is set, it has only the demo server.
///
/// # Errors
/// If a layer can't be read or has an error outside its servers, the project's file is not trusted, no server is
/// usable, or, with `--strict`, any entry has an error.
pub fn load(options: &LoadOptions) -> Result<Config, Error> {
    checked(survey(options)?, options.strict)
}

/// Like [`load`], for a process that serves clients: an untrusted project file is skipped and reported in
/// [`Config::untrusted`]. Then the configuration may have no server.
///
/// # Errors
/// As [`load`], except for the untrusted file.
pub fn load_without_untrusted(options: &LoadOptions) -> Result<Config, Error> {
    let config = survey_without_untrusted(options)?;
    if config.untrusted.is_some() && config.servers.is_empty() && !options.strict {
        return Ok(config);
    }
    checked(config, options.strict)
}

fn checked(config: Config, strict: bool) -> Result<Config, Error> {
    let wrong = config.absent.iter().filter_map(|absent| absent.wrong.as_deref());
    let wrong: Vec<Problem> = wrong.flatten().cloned().collect();
    if strict && !wrong.is_empty() {
        return Err(Error::of(wrong));
    }
    if config.servers.is_empty() && (config.subagent.is_none() || !wrong.is_empty()) {
        return Err(no_server(&config, wrong));
    }
    Ok(config)
}

/// Like [`load`], but does not fail if no server is usable.
///
/// # Errors
/// If a layer can't be read or has an error outside its servers, or the project's file is not trusted.
pub fn survey(options: &LoadOptions) -> Result<Config, Error> {
    with_demo_server(layers::gather(options)?.merge()?)
}

/// Like [`survey`], without an untrusted project file, as in [`load_without_untrusted`].
///
/// # Errors
/// If a layer can't be read or has an error outside its servers.
pub fn survey_without_untrusted(options: &LoadOptions) -> Result<Config, Error> {
    with_demo_server(layers::gather_trusted(options)?.merge()?)
}

/// Every error in a file, or in all layers if none is named: those that [`load`] reports, and those of servers that it
/// skips.
///
/// # Errors
/// If a layer can't be read, or if no server is left.
pub fn check(file: Option<&Path>) -> Result<Vec<Problem>, Error> {
    let options = LoadOptions { file: file.map(Path::to_owned), strict: false };
    let layers = match &options.file {
        Some(file) => layers::alone(&ConfigLayer::Named(file.clone()))?,
        None => layers::gather_to_look_at(&options)?,
    };
    let problems = [layers.problems(), layers.refused()].concat();
    // A file without servers is complete if another layer has some.
    if problems.is_empty() && checked(with_demo_server(layers.merge()?)?, false).is_err() {
        checked(with_demo_server(layers::gather_to_look_at(&options)?.merge()?)?, false)?;
    }
    Ok(problems)
}

/// Adds the demo server if nothing is configured.
fn with_demo_server(mut config: Config) -> Result<Config, Error> {
    let is_empty = config.servers.is_empty() && config.absent.is_empty() && config.subagent.is_none();
    let is_named =
        config.layers.iter().any(|layer| matches!(layer, ConfigLayer::Named(_) | ConfigLayer::Environment));
    if is_empty && !is_named && config.untrusted.is_none() {
        config.servers.push(demo_server()?);
        config.layers.insert(0, ConfigLayer::Demo);
    }
    Ok(config)
}

fn no_server(config: &Config, mut wrong: Vec<Problem>) -> Error {
    const HELP: &str = "toolsmith mcp add NAME -- COMMAND ARGUMENTS…, or write it under mcpServers, such as\n  \
                        mcpServers:\n    files: { command: filesystem-mcp, args: [/data] }";
    if !wrong.is_empty() {
        wrong.push(Problem::new("no usable server is left"));
        return Error::of(wrong).hint(format!("correct the entry, or add a server: {HELP}"));
    }
    let place = match config.layers.last() {
        Some(ConfigLayer::Environment) => format!("the variable {}", source::SERVERS_VARIABLE),
        Some(layer) => format!("the configuration {}", layer.file().unwrap_or(Path::new("")).display()),
        None => "the configuration".to_owned(),
    };
    Error::new(format!("{place} has no enabled server")).hint(format!("add one: {HELP}"))
}

/// The demo server.
fn demo_server() -> Result<Server, Error> {
    let program = own_program::own_program()?;
    let target = command_line(&program, ["demo-server"].into_iter());
    let server = Server::new(mcp::ServerConfig::stdio("demo", program, ["demo-server"]), target);
    Ok(Server { permissions: Rules::all(Permission::Allow), ..server })
}

//! The configuration: which servers there are, and what snippets may use.
//!
//! Which layers there are is `config::layers`' job, reading one `config::source`'s, its keys `config::top_level`'s, the
//! rules of values `config::validation`'s and `config::server`'s; the checked values that everything else works with are in
//! `config::configuration`. Here is how all of them are loaded.

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

pub use self::agent::{Conversations, Model, Subagent};
pub use code_mode::{CodeMode, DirectNames, LONGEST_DESCRIPTION};
pub use config_layer::ConfigLayer;
pub use configuration::{Absent, Config, Server};
pub use error::Error;
pub use folders::{cache_folder, state_folder, user_folder};
pub use key_types::LONGEST_SECONDS;
pub use layers::LoadOptions;
pub use locks::{LOCK, LockFile};
pub use own_program::is_this_program;
pub use permissions::{Filter, Glob, Permission, Rules};
pub use problems::check_server_name;
pub use serve::{ArgumentsKept, Serve};
pub use server::command_line;
pub use telemetry::Telemetry;
pub use top_level::CacheSettings;

/// The configuration of all layers: the user's, the project's if it is trusted, the file that the arguments name, the
/// environment; without any server in them, the demo server.
///
/// # Errors
/// Where a layer can't be read or is wrong outside its servers, where the project's file is not trusted, where no
/// server can be used, and with `--strict` where any entry is wrong.
pub fn load(options: &LoadOptions) -> Result<Config, Error> {
    checked(survey(options)?, options.strict)
}

/// The same for a process that serves others: a project's file that is not trusted is left out, which
/// [`Config::untrusted`] says, and there may be no server then.
///
/// # Errors
/// As [`load`], less what is left out.
pub fn load_without_untrusted(options: &LoadOptions) -> Result<Config, Error> {
    let config = survey_without_untrusted(options)?;
    if config.untrusted.is_some() && config.servers.is_empty() && !options.strict {
        return Ok(config);
    }
    checked(config, options.strict)
}

fn checked(config: Config, strict: bool) -> Result<Config, Error> {
    let wrong: Vec<&str> = config.absent.iter().filter_map(|absent| absent.wrong.as_deref()).collect();
    if strict && !wrong.is_empty() {
        return Err(Error(wrong.join("\n")));
    }
    if config.servers.is_empty() && (config.subagent.is_none() || !wrong.is_empty()) {
        return Err(no_server(&config, &wrong));
    }
    Ok(config)
}

/// As [`load`], but tells nothing, and may have no server that can be used.
///
/// # Errors
/// Where a layer can't be read or is wrong outside its servers, and where the project's file is not trusted.
pub fn survey(options: &LoadOptions) -> Result<Config, Error> {
    whole(layers::gather(options)?.merge()?)
}

/// As [`survey`], less a project's file that is not trusted, as [`load_without_untrusted`].
///
/// # Errors
/// Where a layer can't be read or is wrong outside its servers.
pub fn survey_without_untrusted(options: &LoadOptions) -> Result<Config, Error> {
    whole(layers::gather_trusted(options)?.merge()?)
}

/// With the demo server, where nothing is configured.
fn whole(mut config: Config) -> Result<Config, Error> {
    let is_empty = config.servers.is_empty() && config.absent.is_empty() && config.subagent.is_none();
    let is_named =
        config.layers.iter().any(|layer| matches!(layer, ConfigLayer::Named(_) | ConfigLayer::Environment));
    if is_empty && !is_named && config.untrusted.is_none() {
        config.servers.push(demo_server()?);
        config.layers.insert(0, ConfigLayer::Demo);
    }
    Ok(config)
}

fn no_server(config: &Config, wrong: &[&str]) -> Error {
    const HELP: &str = "toolsmith mcp add NAME -- COMMAND ARGUMENTS…, or under mcpServers such as\n  \
                        mcpServers:\n    files: { command: filesystem-mcp, args: [/data] }";
    if !wrong.is_empty() {
        return Error(format!(
            "{}\nno server is left\nhelp: correct the entry, or add a server: {HELP}",
            wrong.join("\n")
        ));
    }
    let place = match config.layers.last() {
        Some(ConfigLayer::Environment) => format!("the variable {}", source::SERVERS_VARIABLE),
        Some(layer) => format!("the configuration {}", layer.file().unwrap_or(Path::new("")).display()),
        None => "the configuration".to_owned(),
    };
    Error(format!("{place} has no enabled server\nhelp: add one: {HELP}"))
}

/// The demo server.
fn demo_server() -> Result<Server, Error> {
    let program = own_program::own_program()?;
    let target = command_line(&program, ["demo-server"].into_iter());
    let server = Server::new(mcp::ServerConfig::stdio("demo", program, ["demo-server"]), target);
    Ok(Server { permissions: Rules::all(Permission::Allow), ..server })
}

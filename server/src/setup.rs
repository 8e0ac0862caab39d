//! The configuration of a command: read, with its secrets masked, its complaints told, and its debugging begun.

use std::sync::Arc;

use config::{Config, LoadOptions, Server};
use gateway::config_secrets;
use gateway::failure::Failure;
use gateway::propagation;
use terminal::Terminal;

use crate::debug;
use crate::process_context::ProcessContext;
use crate::telemetry::Exporter;

/// The configuration that the options name, to be used by a process that is no agent and shows no events.
pub fn load(options: &LoadOptions) -> Result<Arc<Config>, Failure> {
    load_in(&ProcessContext::of_this_process(), options).map(Arc::new)
}

/// The configuration that the options name, to be used by this process.
pub fn load_in(process: &ProcessContext, options: &LoadOptions) -> Result<Config, Failure> {
    config::load(options).map_err(Failure::configuration).and_then(|config| begin(config, process))
}

/// As [`load`], to be looked at: there may be no server in it that can be used.
pub(crate) fn survey(options: &LoadOptions) -> Result<Arc<Config>, Failure> {
    if options.strict {
        return load(options);
    }
    let process = ProcessContext::of_this_process();
    let surveyed = config::survey(options).map_err(Failure::configuration);
    surveyed.and_then(|config| begin(config, &process)).map(Arc::new)
}

/// As [`load_in`], without a project's file that is not trusted, which the configuration then says.
pub(crate) fn load_without_untrusted(
    process: &ProcessContext,
    options: &LoadOptions,
) -> Result<Config, Failure> {
    let loaded = config::load_without_untrusted(options).map_err(Failure::configuration);
    loaded.and_then(|config| begin(config, process))
}

/// As [`survey`], without a project's file that is not trusted.
pub fn survey_without_untrusted(options: &LoadOptions) -> Result<Arc<Config>, Failure> {
    let process = ProcessContext::of_this_process();
    if options.strict {
        return load_without_untrusted(&process, options).map(Arc::new);
    }
    let surveyed = config::survey_without_untrusted(options).map_err(Failure::configuration);
    surveyed.and_then(|config| begin(config, &process)).map(Arc::new)
}

/// The configuration for a server, with the export of traces that it asks for; with `lenient`, as
/// [`load_without_untrusted`].
pub(crate) fn load_to_serve(
    process: &ProcessContext,
    options: &LoadOptions,
    lenient: bool,
) -> Result<(Config, Option<Exporter>), Failure> {
    let load = if lenient { config::load_without_untrusted } else { config::load };
    let mut config = load(options).map_err(Failure::configuration)?;
    propagation::hand_on(&mut config, process.is_agent(), process.events_address())?;
    let exporter = config.serve.telemetry.as_ref().map(Exporter::begin).transpose()?.flatten();
    introduce(&config);
    debug::begin(&config, exporter.as_ref(), process.trace_notifier());
    Ok((config, exporter))
}

fn begin(mut config: Config, process: &ProcessContext) -> Result<Config, Failure> {
    propagation::hand_on(&mut config, process.is_agent(), process.events_address())?;
    introduce(&config);
    debug::begin(&config, None, process.trace_notifier());
    Ok(config)
}

/// Its secrets are told nowhere from now on; what is wrong with it is.
pub(crate) fn introduce(config: &Config) {
    terminal::mask(config_secrets::masker(config));
    config
        .complaints()
        .for_each(|complaint| terminal::say(format_args!("toolsmith: warning: {complaint}\n")));
}

/// The configuration; where there is none, that is said.
pub fn load_for_person(options: &LoadOptions, terminal: &Terminal) -> Result<Arc<Config>, Failure> {
    let config = load(options)?;
    tell_if_demo(&config, terminal);
    Ok(config)
}

/// The same, where servers that can't be used are looked at as well.
pub fn survey_for_person(options: &LoadOptions, terminal: &Terminal) -> Result<Arc<Config>, Failure> {
    let config = survey(options)?;
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

/// A server that can be used.
pub fn server<'a>(config: &'a Config, name: &str) -> Result<&'a Server, Failure> {
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

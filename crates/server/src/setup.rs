//! Loads the configuration of a command: masks its secrets, reports its warnings, and starts its debug output.

use std::sync::Arc;

use config::{Config, LoadOptions, Server};
use gateway::audience::for_person;
use gateway::config_secrets;
use gateway::failure::Failure;
use gateway::propagation;
use report::{Kind, Problem, Report};
use terminal::Terminal;

use crate::debug;
use crate::process_context::ProcessContext;
use crate::telemetry::Exporter;

/// Loads the configuration for a process that is not an agent and shows no events.
pub fn load(options: &LoadOptions) -> Result<Arc<Config>, Failure> {
    load_in(&ProcessContext::of_this_process(), options).map(Arc::new)
}

/// Loads the configuration for this process.
pub fn load_in(process: &ProcessContext, options: &LoadOptions) -> Result<Config, Failure> {
    begin(config::load(options)?, process)
}

/// Like [`load`], for commands that only inspect it: all its servers may be unusable.
pub(crate) fn survey(options: &LoadOptions) -> Result<Arc<Config>, Failure> {
    if options.strict {
        return load(options);
    }
    let process = ProcessContext::of_this_process();
    begin(config::survey(options)?, &process).map(Arc::new)
}

/// Like [`load_in`], without an untrusted project file; the configuration records that it was left out.
pub(crate) fn load_without_untrusted(
    process: &ProcessContext,
    options: &LoadOptions,
) -> Result<Config, Failure> {
    begin(config::load_without_untrusted(options)?, process)
}

/// Like `survey`, without an untrusted project file.
pub fn survey_without_untrusted(options: &LoadOptions) -> Result<Arc<Config>, Failure> {
    let process = ProcessContext::of_this_process();
    if options.strict {
        return load_without_untrusted(&process, options).map(Arc::new);
    }
    begin(config::survey_without_untrusted(options)?, &process).map(Arc::new)
}

/// Loads the configuration for a server, with the configured export of traces; with `lenient`, like
/// [`load_without_untrusted`].
pub(crate) fn load_to_serve(
    process: &ProcessContext,
    options: &LoadOptions,
    lenient: bool,
) -> Result<(Config, Option<Exporter>), Failure> {
    let load = if lenient { config::load_without_untrusted } else { config::load };
    let mut config = load(options)?;
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

/// Masks its secrets in all messages from now on, and reports its warnings.
pub(crate) fn introduce(config: &Config) {
    terminal::mask(config_secrets::masker(config));
    config.complaints().for_each(|complaint| {
        terminal::say(format_args!("toolsmith: warning: {}\n", for_person(&complaint)));
    });
}

/// Like [`load`], including servers that can't be used; explains why if there is none at all.
pub fn survey_for_person(options: &LoadOptions, terminal: &Terminal) -> Result<Arc<Config>, Failure> {
    let config = survey(options)?;
    if is_without_any(&config)
        && let Some(why) = config::no_server(&config)
    {
        terminal.note(&Report::from(why).for_terminal());
    }
    Ok(config)
}

/// A usable server.
pub fn server<'a>(config: &'a Config, name: &str) -> Result<&'a Server, Failure> {
    if let Some(server) = config.server(name) {
        return Ok(server);
    }
    if let Some(why) = config::no_server(config).filter(|_| is_without_any(config)) {
        return Err(why.into());
    }
    if let Some(absent) = config.absent.iter().find(|absent| absent.name == name) {
        return Err(match &absent.wrong {
            Some(wrong) => {
                let mut problems = vec![Problem::new(format!("the entry of the server {name} is invalid"))];
                problems.extend_from_slice(wrong);
                Report::of(Kind::Configuration, problems).into()
            }
            None => Failure::new(Kind::Configuration, format!("the server {name} is disabled"))
                .hint("set `enabled: true` in its entry"),
        });
    }
    let known: Vec<&str> = config.servers.iter().map(|server| server.connection.name.as_str()).collect();
    let failure = Failure::command_line(format!("unknown server {name:?}"));
    let failure = match runner::nearest(name, known.iter().copied()).first() {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    Err(failure.hint(format!("configured servers: {}", known.join(", "))))
}

/// Whether there is nothing to choose from: no entry of a server, or all of MCP switched off.
fn is_without_any(config: &Config) -> bool {
    config.absent.is_empty() || config.switched_off.is_some()
}

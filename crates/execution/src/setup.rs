//! Loads the configuration of a command: masks its secrets, reports its warnings, and starts its debug output.

use std::sync::Arc;

use config::{Config, LoadOptions, Server};
use gateway::audience::for_person;
use gateway::config_secrets;
use gateway::failure::Failure;
use gateway::propagation;
use report::{Kind, Problem, Report};

use crate::debug::{self, LogLayer};
use crate::process::ProcessContext;

impl ProcessContext {
    /// Loads the configuration for this process.
    ///
    /// # Errors
    /// As [`config::load`].
    pub fn configure(&self, options: &LoadOptions) -> Result<Config, Failure> {
        self.configure_with(options, |_| Ok(None))
    }

    /// Like [`configure`](Self::configure), with a layer that exports spans, if the configuration has one.
    ///
    /// # Errors
    /// As [`config::load`], or if the export can't be started.
    pub fn configure_with(
        &self,
        options: &LoadOptions,
        export: impl FnOnce(&Config) -> Result<Option<LogLayer>, Failure>,
    ) -> Result<Config, Failure> {
        let mut config = config::load(options)?;
        propagation::hand_on(&mut config, self.is_agent(), self.events_address())?;
        let exported = export(&config)?;
        introduce(&config);
        debug::begin(&config, exported, self.trace_notifier());
        Ok(config)
    }
}

/// Loads the configuration for a process that is not an agent and shows no events.
///
/// # Errors
/// As [`config::load`].
pub fn configure(options: &LoadOptions) -> Result<Arc<Config>, Failure> {
    ProcessContext::of_this_process().configure(options).map(Arc::new)
}

/// Masks its secrets in all messages from now on, and reports its warnings.
fn introduce(config: &Config) {
    terminal::mask(config_secrets::masker(config));
    config.complaints().for_each(|complaint| {
        terminal::say(format_args!("toolsmith: warning: {}\n", for_person(&complaint)));
    });
}

/// Returns the reason why there is nothing to choose from: no entry of a server, or all of MCP switched off.
pub fn without_any(config: &Config) -> Option<config::Error> {
    config::no_server(config).filter(|_| config.absent.is_empty() || config.switched_off.is_some())
}

/// A usable server.
pub fn server<'a>(config: &'a Config, name: &str) -> Result<&'a Server, Failure> {
    if let Some(server) = config.server(name) {
        return Ok(server);
    }
    if let Some(why) = without_any(config) {
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
    let failure = match snippet::nearest(name, known.iter().copied()).first() {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure,
    };
    Err(failure.hint(format!("configured servers: {}", known.join(", "))))
}

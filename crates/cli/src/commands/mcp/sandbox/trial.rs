//! Starts a server confined until it answers, each time with the grants that the user has accepted.

use std::sync::Arc;

use clients::edit::in_one_line;
use config::{Config, Server};
use gateway::failure::Failure;
use gateway::pins::{Known, Pins};
use gateway::terminal_prompter;
use gateway::tool_count::ToolCount;
use server_sandbox::{Confinement, Refusal, Settings};
use terminal::Terminal;

use super::grants;
use crate::commands::mcp::servers::{self, Tried};

/// Maximum number of starts with more grants.
const ROUNDS: usize = 4;

/// Maximum number of starts that find out which grants are not needed.
const OMISSIONS: usize = 8;

/// Maximum number of refusals in a message.
const SHOWN: usize = 20;

/// The server to try.
pub(super) struct Trial<'a> {
    pub(super) config: &'a Config,
    pub(super) server: &'a Server,
    pub(super) pins: &'a Pins,
    pub(super) terminal: &'a Terminal,
}

/// The result of a trial.
pub(super) struct Found {
    /// The grants that the user has accepted, without those that are not needed.
    pub(super) settings: Settings,
    /// Whether the server answers with them.
    pub(super) answers: bool,
}

/// A start of a server: its answer, and what it was refused.
pub(super) struct Start {
    confinement: Confinement,
    tried: Tried,
    refusals: Vec<Refusal>,
}

impl Trial<'_> {
    /// Starts the server with more grants until it answers, or the user declines, or more would not help.
    pub(super) async fn find(&self, base: &Settings) -> Result<Found, Failure> {
        let mut settings = base.clone();
        for round in 1..=ROUNDS {
            let start = self.start(&settings).await?;
            if start.report(self) {
                return Ok(Found { settings: self.smallest(base, settings).await?, answers: true });
            }
            let proposed = grants::proposal(&start.confinement, &start.refusals);
            if proposed == settings || round == ROUNDS || !self.accepts(&settings, &proposed).await? {
                break;
            }
            settings = proposed;
        }
        Ok(Found { settings: base.clone(), answers: false })
    }

    /// Asks whether to start the server with more grants.
    async fn accepts(&self, settings: &Settings, proposed: &Settings) -> Result<bool, Failure> {
        let name = &self.server.connection.name;
        let more = grants::widened(None, settings, proposed);
        if let Some(user) = terminal_prompter::of_terminal(self.terminal) {
            let more = printable::exact(&in_one_line(&more));
            return Ok(user.confirm(&format!("Grant {name} {more}, and try again?")).await);
        }
        let whole = grants::widened(grants::written(self.server)?.as_ref(), settings, proposed);
        self.terminal.note(&format!("help: to grant more, and try again: {}", grants::command(name, &whole)));
        Ok(false)
    }

    /// Leaves out the added grants without which the server answers as well.
    async fn smallest(&self, base: &Settings, mut settings: Settings) -> Result<Settings, Failure> {
        let mut needed = 0;
        for _ in 0..OMISSIONS {
            let Some(less) = omissions(base, &settings).into_iter().nth(needed) else { break };
            // It does not answer with `base` alone.
            if less != *base && self.start(&less).await?.tried.works() {
                settings = less;
            } else {
                needed += 1;
            }
        }
        Ok(settings)
    }

    /// Starts the server confined, lists its tools, and ends it.
    pub(super) async fn start(&self, settings: &Settings) -> Result<Start, Failure> {
        let name = &self.server.connection.name;
        let mut config = self.config.clone();
        let confinement = config.confinement(name, settings.clone())?;
        let (launcher, record) = confinement.clone().recording();
        let server = config.servers.iter_mut().find(|server| server.connection.name == *name);
        if let Some(mcp::Transport::Stdio(command)) = server.map(|server| &mut server.connection.transport) {
            command.launcher = Some(launcher);
        }
        let tried = servers::alone(&Arc::new(config), name, self.pins, self.terminal).await?;
        Ok(Start { confinement, tried, refusals: record.refusals() })
    }
}

impl Start {
    /// Reports whether the server answers, and what it was refused. Returns whether it answers.
    pub(super) fn report(&self, trial: &Trial<'_>) -> bool {
        let (name, terminal) = (&trial.server.connection.name, trial.terminal);
        match &self.tried.opened {
            Ok(opened) if self.tried.works() => {
                let tools = ToolCount::of(trial.config, trial.pins, name, &opened.tools).tools();
                let tier = opened.session.tier().unwrap_or("off");
                terminal.note(&format!("{name} answers confined (tier {tier}), with {tools}"));
            }
            Ok(opened) => terminal.note(&format!("warning: {name}: {}", opened.warnings.join("; "))),
            Err(error) => terminal.note(&format!("warning: {}", error.report.for_terminal())),
        }
        if !self.refusals.is_empty() {
            terminal.note(&refused(name, &self.refusals));
        }
        self.tried.works()
    }
}

/// Lists what a server was refused.
pub(super) fn refused(name: &str, refusals: &[Refusal]) -> String {
    if refusals.is_empty() {
        return format!("{name} was refused nothing");
    }
    let shown = refusals.iter().take(SHOWN).map(|refusal| printable::exact(&refusal.to_string()));
    let others = refusals.len().saturating_sub(SHOWN);
    let others = (others > 0).then(|| format!("and {others} others"));
    let lines = shown.chain(others).map(|line| format!("\n  {line}")).collect::<String>();
    format!("{name} was refused:{lines}")
}

/// The settings without one of the grants that they have beyond `base`, for each of these.
fn omissions(base: &Settings, settings: &Settings) -> Vec<Settings> {
    let mut all = Vec::new();
    for path in settings.read.iter().filter(|path| !base.read.contains(path)) {
        let mut less = settings.clone();
        less.read.retain(|other| other != path);
        all.push(less);
    }
    for path in settings.write.iter().filter(|path| !base.write.contains(path)) {
        let mut less = settings.clone();
        less.write.retain(|other| other != path);
        all.push(less);
    }
    if settings.network != base.network {
        all.push(Settings { network: base.network, ..settings.clone() });
    }
    all
}

/// Finds the smallest grants with which a server answers, and writes them as far as the user accepts them. Returns
/// whether it answers and is confined.
pub(super) async fn confine(config: &Config, server: &Server, terminal: &Terminal) -> Result<bool, Failure> {
    let pins = Known::of(config)?.pins;
    let trial = Trial { config, server, pins: &pins, terminal };
    let base = server.sandbox.as_ref().map(|sandbox| sandbox.settings.clone()).unwrap_or_default();
    let found = trial.find(&base).await?;
    if !found.answers {
        return Ok(false);
    }
    let value = grants::widened(grants::written(server)?.as_ref(), &base, &found.settings);
    match &server.sandbox {
        Some(sandbox) if sandbox.settings == found.settings => Ok(true),
        // The user has accepted each grant.
        Some(_) => grants::write(server, value).map(|()| true),
        None => grants::offer(server, value, terminal).await,
    }
}

//! Reads and checks everything that a subagent needs before it is served.

use std::path::Path;
use std::sync::Arc;

use agent::{EventPoster, FinalAnswer, Store};
use config::{Config, ConfigLayer};
use execution::subagent_log;
use gateway::failure::Failure;
use gateway::propagation;
use identity::SingleToken;
use report::Kind;
use serde_json::Value;
use server::execution_slots::Slots;
use server::options::ServeOptions;
use server::recorder::Recording;
use server::reload::Source;
use server::runtime::Runtime;
use server::snapshot::Settings;
use tokio::sync::watch;

use super::task::Subagent;
use crate::assistant::Assistant;
use crate::conversations;

/// Maximum size of an output schema, in bytes (1 MiB): each request to the model contains it.
const MAX_SCHEMA: u64 = 1 << 20;

/// Limit on waiting tasks; more are refused.
const WAITING_LIMIT: usize = 1_000;

/// A subagent that can be served.
pub(super) struct PreparedSubagent {
    pub(super) subagent: Subagent,
    /// Keeps the settings unchanged until it is dropped.
    pub(super) settings: watch::Sender<Arc<Settings>>,
}

/// # Errors
/// Returns an error with a remedy if something is missing or invalid.
pub(super) fn start(
    options: &ServeOptions,
    runtime: &mut Runtime,
    token: Option<&SingleToken>,
) -> Result<PreparedSubagent, Failure> {
    let Some(file) = options.load.file.as_deref() else {
        return Err(Failure::command_line("mcp serve needs the file that describes the subagent")
            .hint("toolsmith mcp serve --config AGENT.yaml"));
    };
    let parent_run = propagation::parent_run()?;
    let source = Source {
        process: runtime.process.context.clone(),
        options: options.load.clone(),
        token_variable: options.token_variable.clone(),
        token: token.map(|token| token.secret().to_owned()),
    };
    let (mut config, exporter) = source.configure()?;
    runtime.exporter = exporter;
    let described = described(&config, file)?;
    options.check_access(&config.serve)?;
    check_undivided(&config)?;
    keep_own(&mut config);
    let assistant = Assistant::of(&config, None)?;
    let final_answer = described.output_schema.as_deref().map(read_output_schema).transpose()?;
    let store = store(&config, runtime);
    let slots = Slots::new(config.agent.max_tasks, WAITING_LIMIT);
    let folder = std::env::current_dir().map_err(|error| {
        Failure::command_line(format!("the working folder is unknown: {error}")).caused_by(error)
    })?;
    let notifier = runtime.process.terminal.notifier();
    let recording = Recording::new(store, Arc::new(move |text: &str| notifier.warning(text)));
    let (settings, now) = watch::channel(source.settings(config)?);
    let state = runtime.serve(now, &options.allow)?;
    // Nothing else has set it.
    let _ = state.tasks.set(slots.clone());
    runtime.recording = Some(recording.clone());
    runtime.poster = poster();
    let subagent = Subagent {
        described,
        assistant,
        final_answer,
        recording,
        slots,
        folder,
        state,
        poster: runtime.poster.clone(),
        parent_run,
    };
    Ok(PreparedSubagent { subagent, settings })
}

/// The store of conversations. A subagent works without one, so a file that can't be used is a warning.
fn store(config: &Config, runtime: &Runtime) -> Option<Store> {
    conversations::store(config).unwrap_or_else(|failure| {
        let why = failure.report.for_terminal();
        runtime.process.terminal.notifier().warning(&format!("conversations are not kept: {why}"));
        None
    })
}

/// Posts events to the root process. An invalid address is ignored, because events are best effort.
fn poster() -> Option<Arc<EventPoster>> {
    EventPoster::new(&subagent_log::inherited()?).ok().map(Arc::new)
}

fn described(config: &Config, file: &Path) -> Result<config::Subagent, Failure> {
    config.subagent.clone().ok_or_else(|| {
        Failure::new(Kind::Configuration, format!("{} describes no subagent", file.display()))
            .hint("add to it: subagent: { name: …, description: … }")
    })
}

/// Checks that no subject is limited to some tools: a subagent is one tool, and its model calls any of the others.
fn check_undivided(config: &Config) -> Result<(), Failure> {
    let by_scope = config.serve.auth.as_ref().is_some_and(|auth| auth.scopes.is_some());
    let by_token = config.serve.tokens.iter().flatten().any(|(_, token)| token.tools.is_some());
    if !by_scope && !by_token {
        return Ok(());
    }
    let message = "a subagent is one tool, so its users can't be limited to some tools of its servers";
    Err(Failure::new(Kind::Configuration, message)
        .hint("remove serve.auth.scopes, and `tools` in serve.tokens, from its configuration")
        .hint("to limit who may use it: serve.auth.requiredScopes"))
}

/// Keeps only the servers of the subagent's own file. The user's other servers are for other purposes, and one of them
/// may be this subagent.
fn keep_own(config: &mut Config) {
    let is_own = |layer: &ConfigLayer| matches!(layer, ConfigLayer::Named(_) | ConfigLayer::Environment);
    config.servers.retain(|server| is_own(&server.layer));
    config.absent.retain(|absent| is_own(&absent.layer));
}

/// Reads the schema of answers.
///
/// # Errors
/// If the file can't be read, or is no schema.
pub(crate) fn read_output_schema(file: &Path) -> Result<FinalAnswer, Failure> {
    let wrong = |why: String| {
        Failure::new(
            Kind::Configuration,
            format!("the output schema {} can't be used: {why}", file.display()),
        )
    };
    let found = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?;
    if !found.is_file() {
        return Err(wrong("it is not a regular file".to_owned()));
    }
    if found.len() > MAX_SCHEMA {
        return Err(wrong(format!("it has {} bytes, and at most {MAX_SCHEMA} are read", found.len())));
    }
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let schema: Value =
        strict_json::from_str(&text).map_err(|error| wrong(format!("it is not JSON: {error}")))?;
    FinalAnswer::new(schema).map_err(|error| wrong(error.to_string()))
}

//! Runs a text again with recorded answers, without any server, and compares: `run --replay` and `program test`.

use config::Config;
use execution::process::{self, Process};
use execution::{Execution, NewExecution, Tools, setup};
use gateway::cache;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::permission::{ApprovedTools, FlowGate};
use gateway::recording::{Mismatch, RECORDING_LIMIT, Recording, Replay, ReplayableRun, catalog, compared};
use gateway::saved_programs::{ProgramStore, functions};
use report::Kind;
use runner::{Catalog, Engine, Holder, Outcome, Request, Status};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use snippet::ProgramFile;
use terminal::{Masker, Terminal};
use tokio_util::sync::CancellationToken;

use super::history::{with_executions, wrong};
use super::run::show;
use crate::arguments::RunArguments;

/// Maximum number of differences to show.
pub(super) const DIFFERENCES_SHOWN: usize = 10;

/// The recorded run that a run is compared with.
pub(super) struct Recorded<'a> {
    pub(super) status: &'a str,
    pub(super) result: Option<&'a RawValue>,
    pub(super) recording: &'a Recording,
}

/// Runs a request with recorded answers; returns its outcome, and what differs from the recording.
pub(super) async fn replayed(
    engine: &Engine,
    request: &Request,
    catalog: &Catalog,
    recorded: &Recorded<'_>,
    config: &Config,
    terminal: &Terminal,
) -> Result<(Outcome, Vec<Mismatch>), Failure> {
    // The recording contains no secrets.
    let flows = FlowGate::of_command(config, &ApprovedTools::default());
    let (replay, masker) = (Replay::new(recorded.recording, flows), Masker::default());
    let execution = Execution::begin(NewExecution::of_command(request, config, &masker, terminal));
    let outcome = execution.run(engine, request, Tools::Fixed { catalog, host: &replay }).await?;
    if outcome.status == Status::Cancelled {
        return Err(Failure::new(Kind::Cancelled, "cancelled"));
    }
    let mut mismatches = replay.finish();
    mismatches.extend(compared(recorded.status, recorded.result, &outcome));
    Ok((outcome, mismatches))
}

/// Differences as lines.
pub(super) fn lines(mismatches: &[Mismatch]) -> Vec<String> {
    let mut lines = Vec::new();
    for Mismatch { message, differences } in mismatches {
        lines.push(format!("  {message}"));
        lines.extend(differences.iter().map(|line| format!("    {line}")));
    }
    lines
}

/// Differences as JSON.
pub(super) fn as_json(mismatches: &[Mismatch]) -> Vec<Value> {
    let one =
        |mismatch: &Mismatch| json!({ "message": mismatch.message, "differences": mismatch.differences });
    mismatches.iter().map(one).collect()
}

/// Replays an execution of the history; returns 1 if something differs.
pub(super) async fn run(arguments: RunArguments, id: &str, cancel: CancellationToken) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, !arguments.json);
    process::run(terminal, async |process| run_in(process, &arguments, id, &cancel).await).await
}

async fn run_in(
    process: &Process,
    arguments: &RunArguments,
    id: &str,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*process.terminal;
    let (execution, run) = kept(id)?;
    let id = &execution.summary.id;
    // Servers that can't be used, and an untrusted project, do not matter here.
    let config = setup::configure(&arguments.place.config.options().without_untrusted())?;
    let cache = cache::open_shared(&config.cache, terminal.notifier())?;
    let engine = Engine::open(&config.code_mode.engine(cache), terminal).await?;
    let catalog = catalog(&run.tools, engine.cache(), &terminal.notifier());
    let request = Request {
        code: code(&execution)?,
        holder: Holder::default(),
        args: run.arguments.clone(),
        timeout: arguments.timeout.unwrap_or(config.code_mode.timeout),
        check_only: false,
        limits: config.code_mode.limits.clone(),
        grants: config.code_mode.grants.clone(),
        cancel: cancel.clone(),
    };
    let recorded = Recorded { status: &run.status, result: run.result.as_deref(), recording: &run.recording };
    let (outcome, mut mismatches) =
        replayed(&engine, &request, &catalog, &recorded, &config, terminal).await?;
    mismatches.truncate(DIFFERENCES_SHOWN);
    if arguments.json {
        let shown = json!({
            "id": id, "same": mismatches.is_empty(), "failures": as_json(&mismatches), "outcome": outcome,
        });
        terminal.print_json(&shown.to_string());
    } else {
        show(&outcome, false, false, terminal)?;
        if mismatches.is_empty() {
            terminal.note(&format!("the replay of {id} made the same calls and ended in the same way"));
        } else {
            let head = format!("the replay of {id} differs:");
            terminal.eprint(&printable::lines(&[vec![head], lines(&mismatches)].concat().join("\n")));
        }
    }
    Ok(if mismatches.is_empty() { exit_code::OK } else { exit_code::RUNTIME })
}

/// The execution, and what it requested.
fn kept(id: &str) -> Result<(history::Execution, ReplayableRun), Failure> {
    let reader = with_executions()?;
    let execution = reader.execution(id).map_err(wrong)?;
    let id = execution.summary.id.clone();
    let Some(text) = reader.recording(&id, RECORDING_LIMIT).map_err(wrong)? else {
        return Err(Failure::new(Kind::History, format!("the answers of the calls of {id} are not kept"))
            .with_code(exit_code::CONFIGURATION)
            .hint("to keep them from now on: `history: { recordings: true }` in your configuration")
            .hint("to run the text again with the servers: toolsmith history rerun ID"));
    };
    if !execution.code_is_whole {
        return Err(Failure::new(
            Kind::History,
            format!("the snippet of {id} contained a secret, which is not kept"),
        )
        .with_code(exit_code::CONFIGURATION));
    }
    Ok((execution, ReplayableRun::read(&id, &text)?))
}

/// The text of an execution, with the saved programs that it calls as they are now.
fn code(execution: &history::Execution) -> Result<snippet::Code, Failure> {
    let text = execution.code.clone();
    if execution.summary.program.is_none() {
        return functions::snippet(text);
    }
    let program = ProgramFile::parse(text).map_err(|error| {
        Failure::new(Kind::History, format!("the text of {} is no program: {error}", execution.summary.id))
    })?;
    Ok(functions::program(&ProgramStore::of_working_folder()?, &program)?.code().clone())
}

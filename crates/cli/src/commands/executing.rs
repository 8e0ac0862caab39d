//! An execution of a command: its tools, its engine, questions at the terminal, and its place in the history.

use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Config;
use execution::{Execution, Kept, NewExecution, Recorded};
use gateway::cache;
use gateway::config_secrets;
use gateway::discovery::Discovery;
use gateway::failure::Failure;
use gateway::outcome_text;
use gateway::permission::{self, Allowed, FlowGate};
use gateway::pins::{Known, Pins};
use gateway::program_crate::ProgramCrate;
use gateway::recording::Recording;
use gateway::terminal_host::TerminalHost;
use gateway::terminal_prompter::{self, Questions};
use gateway::unmatched;
use history::execution_history::ExecutionHistory;
use history::{Durability, Ending, Requester};
use report::{Kind, Report};
use runner::{Engine, Journal, Outcome, Request};
use snippet::Code;
use system::random;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use crate::demo;

/// The time for which the end waits for the new program to reach the remote cache.
const FLUSH: Duration = Duration::from_secs(2);

/// Where the tools come from.
pub(super) enum Tools {
    /// From the servers, with the contents of the lock files.
    Servers(Known),
    /// From a crate, with its servers, tools and bindings, and the pins of the configured servers.
    Crate(ProgramCrate, Pins),
}

/// The text to run, with its terms.
pub(super) struct Job<'a> {
    /// The configuration.
    pub(super) config: &'a Arc<Config>,
    /// The terminal of the command.
    pub(super) terminal: &'a Terminal,
    /// Where the tools come from.
    pub(super) tools: Tools,
    /// The request.
    pub(super) request: &'a Request,
    /// The calls that need no answer of the user.
    pub(super) allowed: Allowed<'a>,
    /// The saved program that is run, if it is one.
    pub(super) program: Option<&'a str>,
    /// Whether its requests are recorded.
    pub(super) recorded: Recorded,
    /// Whether the history keeps it, if it keeps anything.
    pub(super) is_kept: bool,
}

impl<'a> Job<'a> {
    /// A request with tools of servers, of which calls are allowed as usual.
    pub(super) fn new(
        config: &'a Arc<Config>,
        terminal: &'a Terminal,
        tools: Tools,
        request: &'a Request,
    ) -> Self {
        let (allowed, recorded) = (Allowed::default(), Recorded::IfKept);
        Job { config, terminal, tools, request, allowed, program: None, recorded, is_kept: true }
    }
}

/// The parts of an execution with which its outcome is shown.
pub(super) struct Finished<'a> {
    pub(super) engine: Engine,
    pub(super) discovery: Discovery<'a>,
    /// The recorded requests; `None` if they are too large.
    pub(super) recording: Option<Recording>,
}

/// Runs a job to its end, and keeps it in the history; `show` prints its outcome and returns the exit code.
pub(super) async fn run(
    job: Job<'_>,
    show: impl AsyncFnOnce(&mut Finished<'_>, &Outcome) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let Job { config, terminal, request, program, .. } = job;
    let masker = config_secrets::masker(config);
    let history = ExecutionHistory::new(Durability::Written, terminal.notifier());
    let kept = Kept {
        history: &history,
        settings: &config.history,
        id: random::id().map_err(Failure::system)?,
        requester: Requester { transport: "command", ..Requester::default() },
        program,
    };
    let mut new = NewExecution {
        kept: job.is_kept.then_some(kept),
        recorded: if matches!(job.tools, Tools::Crate(..)) { Recorded::Never } else { job.recorded },
        ..NewExecution::of_command(request, config, &masker, terminal)
    };
    let flows = FlowGate::of_command(config, &job.allowed.approved);
    new.sinks.push(flows.clone());
    let execution = Execution::begin(new);
    let done = Box::pin(run_in(&execution, job, flows, show)).await;
    if let (Some(kept), Err(failure)) = (&execution.kept, &done) {
        kept.end(without_outcome(failure), "");
    }
    history.flush().await;
    done
}

/// The end of an execution without an outcome. One that has an outcome has ended before.
fn without_outcome(failure: &Failure) -> Ending {
    let kind = failure.report.kind;
    let status = if kind == Kind::Cancelled { "cancelled" } else { "host_error" };
    Ending::without_outcome(status, Some(kind.code()), Some(failure.report.to_string()))
}

async fn run_in(
    execution: &Execution<'_>,
    job: Job<'_>,
    flows: Arc<FlowGate>,
    show: impl AsyncFnOnce(&mut Finished<'_>, &Outcome) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let Job { config, terminal, tools, request, allowed, .. } = job;
    let (started, journal) = (Instant::now(), &execution.journal);
    execution.start().await?;
    let preparing = prepare(config, terminal, journal, tools, request);
    let (engine, mut discovery) = unless_cancelled(&request.cancel, preparing).await?;
    let waited = started.elapsed();
    let prompter = terminal_prompter::prompter(terminal, Questions::Several);
    let (globs, journal) = (allowed.globs, Journal::clone(journal));
    let policy = permission::policy(config, allowed, &terminal.notifier(), prompter, journal, flows);
    discovery.sessions.permit(policy.clone());
    let outcome = execution.run(&engine, request, execution::Tools::Current(&mut discovery)).await;
    let outcome = execution.hand_over(outcome, waited).await;
    policy.take_notes().iter().for_each(|note| terminal.note(note));
    let lists = discovery.lists().all();
    unmatched::of_allowed(config, &lists, globs).iter().for_each(|note| terminal.note(note));
    let is_unresolved = outcome.as_ref().is_ok_and(Outcome::has_unresolved);
    let mut finished = Finished { engine, discovery, recording: execution.recording() };
    let code = match outcome {
        Ok(outcome) => shown(execution, &mut finished, &outcome, config.serve.output, show).await,
        Err(failure) => Err(failure),
    };
    let Finished { engine, discovery, .. } = finished;
    // Only the next run of the text becomes slower without the record.
    if let Err(error) = engine.record_long_runs() {
        terminal.note(&Report::from(error).for_terminal());
    }
    engine.cache().flush_remote(FLUSH).await;
    if is_unresolved && let Some(why) = missing_server(config, &request.code) {
        terminal.note(&why.for_terminal());
    }
    let unchecked = discovery.sessions.unchecked();
    unchecked.iter().for_each(|warning| terminal.note(&format!("warning: {warning}")));
    discovery.sessions.close().await;
    code
}

/// Opens the engine, while the servers start and the tools are listed.
async fn prepare<'a>(
    config: &'a Arc<Config>,
    terminal: &Terminal,
    journal: &Journal,
    tools: Tools,
    request: &Request,
) -> Result<(Engine, Discovery<'a>), Failure> {
    let cache = cache::open_shared(&config.cache, terminal.notifier())?;
    if let Some(warning) = config.code_mode.warning() {
        terminal.eprint(warning);
    }
    let options = config.code_mode.engine(cache.clone());
    let opening = async { Engine::open(&options, terminal).await.map_err(Failure::from) };
    let host = TerminalHost::of_execution(terminal, journal.clone());
    let discovering = async {
        match tools {
            Tools::Servers(known) => {
                let mut discovery = Discovery::new(config, host.clone(), cache, known);
                discovery.offer_logins(host);
                if !request.check_only {
                    discovery.start_sessions(&request.code);
                }
                discovery.discover_for(&request.code).await?;
                Ok(discovery)
            }
            Tools::Crate(program, pins) => Ok(Discovery::of_crate(config, host, cache, program, pins)),
        }
    };
    tokio::try_join!(opening, discovering)
}

/// Shows an outcome, and ends its record in the history with the text that a model would read of it, at most `limit`
/// bytes.
async fn shown(
    execution: &Execution<'_>,
    finished: &mut Finished<'_>,
    outcome: &Outcome,
    limit: usize,
    show: impl AsyncFnOnce(&mut Finished<'_>, &Outcome) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let recording = finished.recording.clone();
    let lists = finished.discovery.lists();
    let replayable = recording.and_then(|recording| execution.replayable(recording, outcome, lists));
    let code = show(finished, outcome).await;
    if let Some(kept) = &execution.kept {
        kept.end(kept.ending(outcome), &model_text(outcome, limit));
        if let Some(text) = replayable.and_then(|run| run.text()) {
            kept.recording(text);
        }
    }
    code
}

/// The text that a model reads of an outcome, to estimate its tokens: at most `limit` bytes, as in an answer of `serve`.
fn model_text(outcome: &Outcome, limit: usize) -> String {
    let parts = [Some(outcome.stdout.clone()), outcome_text::result(outcome), outcome_text::trouble(outcome)];
    let texts = outcome_text::content(outcome).into_iter().chain(parts.into_iter().flatten());
    let mut text = texts.collect::<Vec<_>>().join("\n");
    text.truncate(text.floor_char_boundary(limit));
    text
}

/// The result of `work`, unless the command is cancelled before.
pub(super) async fn unless_cancelled<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        () = cancel.cancelled() => {
            Err(Failure::new(Kind::Cancelled, "cancelled before the snippet ran"))
        }
    }
}

/// The likely reason for a name that does not exist: no server is configured, or not the demo server that the snippet
/// names.
fn missing_server(config: &Config, code: &Code) -> Option<Report> {
    if let Some(why) = config::no_server(config) {
        return Some(why.into());
    }
    (code.may_name(demo::NAME) && !config.has_entry(demo::NAME))
        .then(|| Report::new(Kind::Configuration, "no server `demo` is configured").hint(demo::INSTEAD))
}

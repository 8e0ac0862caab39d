//! One execution of a command: its tools, its engine, and its way from a request to an outcome that is shown.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Config;
use gateway::cache;
use gateway::config_secrets;
use gateway::discovery::Discovery;
use gateway::failure::Failure;
use gateway::outcome_text;
use gateway::permission::{self, ApprovedTools};
use gateway::pins::{Known, Pins};
use gateway::program_crate::ProgramCrate;
use gateway::recording::{Recorder, Recording, ReplayableRun};
use gateway::reference::Lookup;
use gateway::terminal_host::TerminalHost;
use gateway::terminal_prompter::{self, Questions};
use gateway::unmatched;
use history::execution_history::{self, ExecutionHistory};
use history::{Durability, Ending, NewExecution, RecordedExecution, Requester};
use report::{Kind, Report};
use runner::{Engine, Journal, Outcome, Request, Sink, Status};
use serde_json::value::to_raw_value;
use snippet::Code;
use system::random;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use crate::demo;

/// Maximum number of attempts if tools change while a program is compiled.
const CATALOG_CHANGES: usize = 3;

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
    /// Where the tools come from.
    pub(super) tools: Tools,
    /// The request.
    pub(super) request: &'a Request,
    /// Calls of these tools, as globs of `server.tool`, need no answer of the user.
    pub(super) allow: &'a [String],
    /// The tools that a saved program is approved to call.
    pub(super) approved: ApprovedTools,
    /// The saved program that is run, if it is one.
    pub(super) program: Option<&'a str>,
    /// Whether its requests are recorded.
    pub(super) is_recorded: bool,
    /// Whether the history keeps it, if it keeps anything.
    pub(super) is_kept: bool,
}

impl<'a> Job<'a> {
    /// A request with tools of servers, of which calls are allowed as usual.
    pub(super) fn new(tools: Tools, request: &'a Request, allow: &'a [String]) -> Self {
        let approved = ApprovedTools::default();
        Job { tools, request, allow, approved, program: None, is_recorded: false, is_kept: true }
    }
}

/// Runs a job to its end, and keeps it in the history; `show` prints its outcome and returns the exit code.
pub(super) async fn run(
    (config, terminal): (&Arc<Config>, &Terminal),
    job: Job<'_>,
    show: impl AsyncFnOnce(&mut Execution<'_>, &Outcome) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let history = ExecutionHistory::new(Durability::Written, terminal.notifier());
    let kept = if job.is_kept {
        let id = random::id().map_err(Failure::system)?;
        let masker = config_secrets::masker(config);
        history.begin(&config.history, &masker, || new_execution(id, job.request, job.program))
    } else {
        None
    };
    let done = run_kept((config, terminal, kept.as_ref()), job, show).await;
    if let (Some(kept), Err(failure)) = (&kept, &done) {
        kept.end(without_outcome(failure), "");
    }
    history.flush().await;
    done
}

/// The execution at its begin, for the history.
fn new_execution(id: String, request: &Request, program: Option<&str>) -> NewExecution {
    let args = &request.args;
    let arguments = match program {
        Some(_) => execution_history::program_arguments(args),
        None => (!args.is_empty()).then(|| to_raw_value(args).ok()).flatten(),
    };
    NewExecution {
        id,
        requester: Requester { transport: "command", ..Requester::default() },
        folder: execution_history::folder(),
        program: program.map(str::to_owned),
        code: request.code.text().to_owned(),
        arguments,
        check_only: request.check_only,
    }
}

/// The end of an execution without an outcome. One that has an outcome has ended before.
fn without_outcome(failure: &Failure) -> Ending {
    let kind = failure.report.kind;
    let status = if kind == Kind::Cancelled { "cancelled" } else { "host_error" };
    Ending::without_outcome(status, Some(kind.code()), Some(failure.report.to_string()))
}

async fn run_kept(
    (config, terminal, kept): (&Arc<Config>, &Terminal, Option<&RecordedExecution>),
    job: Job<'_>,
    show: impl AsyncFnOnce(&mut Execution<'_>, &Outcome) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let Job { tools, request, allow, approved, is_recorded, .. } = job;
    let started = Instant::now();
    let is_replayable = kept.is_some() && config.history.recordings && matches!(tools, Tools::Servers(_));
    let recorder =
        (is_recorded || is_replayable).then(|| Arc::new(Recorder::new(config_secrets::masker(config))));
    let journal = journal(terminal, kept, recorder.clone());
    let preparing = Execution::prepare(config, (terminal, &journal), tools, request);
    let mut execution = unless_cancelled(&request.cancel, preparing).await?;
    let waited = started.elapsed();
    let prompter = terminal_prompter::prompter(terminal, Questions::Several);
    let policy =
        permission::policy(config, (allow, approved), &terminal.notifier(), prompter, journal.clone());
    execution.discovery.sessions.permit(policy.clone());
    let mut outcome = execution.outcome(request).await;
    execution.recording = recorder.and_then(|recorder| recorder.finish());
    if let Ok(outcome) = outcome.as_mut() {
        // The preparation counts as part of the run.
        outcome.phases_ms.connect += outcome_text::milliseconds(waited);
        outcome.phases_ms.total = outcome_text::milliseconds(started.elapsed());
    }
    if let Some(error) = outcome.as_mut().ok().and_then(|outcome| outcome.error.as_mut()) {
        // The message may quote the tool that failed.
        let masker = execution.discovery.sessions.masker();
        error.message = masker.mask(&error.message).into_owned();
        masker.mask_value(&mut error.evidence);
    }
    policy.take_notes().iter().for_each(|note| terminal.note(note));
    let lists = execution.discovery.lists().all();
    unmatched::of_allowed(config, &lists, allow).iter().for_each(|note| terminal.note(note));
    let is_unresolved = outcome.as_ref().is_ok_and(Outcome::has_unresolved);
    let code = match outcome {
        Ok(outcome) => {
            let replayable = if is_replayable { execution.replayable(request, &outcome) } else { None };
            let code = show(&mut execution, &outcome).await;
            if let Some(kept) = kept {
                kept.end(kept.ending(&outcome), &shown(&outcome, config.serve.output));
                replayable.and_then(|run| run.text()).into_iter().for_each(|text| kept.recording(text));
            }
            code
        }
        Err(failure) => Err(failure),
    };
    // Only the next run of the text becomes slower without the record.
    if let Err(error) = execution.engine.record_long_runs() {
        terminal.note(&Report::from(error).for_terminal());
    }
    execution.engine.cache().flush_remote(FLUSH).await;
    if is_unresolved {
        missing_server(config, &request.code).iter().for_each(|why| terminal.note(&why.for_terminal()));
    }
    let unchecked = execution.discovery.sessions.unchecked();
    unchecked.iter().for_each(|warning| terminal.note(&format!("warning: {warning}")));
    execution.discovery.sessions.close().await;
    code
}

/// The journal of an execution: on the terminal, and in the history and the recording if there are any.
fn journal(
    terminal: &Terminal,
    kept: Option<&RecordedExecution>,
    recorder: Option<Arc<Recorder>>,
) -> Journal {
    let mut sinks: Vec<Arc<dyn Sink>> = vec![Arc::new(terminal.clone())];
    sinks.extend(kept.map(|kept| Arc::new(kept.clone()) as Arc<dyn Sink>));
    sinks.extend(recorder.map(|recorder| recorder as Arc<dyn Sink>));
    Journal::new(sinks)
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

/// The text that a model reads of an outcome, to estimate its tokens: at most `limit` bytes, as in an answer of `serve`.
fn shown(outcome: &Outcome, limit: usize) -> String {
    let parts = [Some(outcome.stdout.clone()), outcome_text::result(outcome), outcome_text::trouble(outcome)];
    let texts = outcome_text::content(outcome).into_iter().chain(parts.into_iter().flatten());
    let mut text = texts.collect::<Vec<_>>().join("\n");
    text.truncate(text.floor_char_boundary(limit));
    text
}

/// Everything needed to run one snippet.
pub(super) struct Execution<'a> {
    pub(super) terminal: &'a Terminal,
    pub(super) engine: Engine,
    pub(super) discovery: Discovery<'a>,
    journal: Journal,
    /// Whether the tools come from a crate, and are not refreshed.
    pinned: bool,
    /// The recorded requests; `None` if they are too large.
    pub(super) recording: Option<Recording>,
}

impl<'a> Execution<'a> {
    async fn prepare(
        config: &'a Arc<Config>,
        (terminal, journal): (&'a Terminal, &Journal),
        tools: Tools,
        request: &Request,
    ) -> Result<Self, Failure> {
        let cache = cache::open_shared(&config.cache, terminal.notifier())?;
        if let Some(warning) = config.code_mode.warning() {
            terminal.eprint(warning);
        }
        let options = config.code_mode.engine(cache.clone());
        let opening = async { Engine::open(&options, terminal).await.map_err(Failure::from) };
        let discovering = async {
            match tools {
                Tools::Servers(known) => {
                    let host = TerminalHost::of_execution(terminal, journal.clone());
                    let mut discovery = Discovery::new(config, host.clone(), cache, known);
                    discovery.offer_logins(host);
                    if !request.check_only {
                        discovery.start_sessions(&request.code);
                    }
                    discovery.discover_for(&request.code).await?;
                    Ok((discovery, false))
                }
                Tools::Crate(program, pins) => {
                    let host = TerminalHost::of_execution(terminal, journal.clone());
                    Ok((Discovery::of_crate(config, host, cache, program, pins), true))
                }
            }
        };
        // The servers start while the engine is opened and the bindings are generated.
        let (engine, (discovery, pinned)) = tokio::try_join!(opening, discovering)?;
        Ok(Execution { terminal, engine, discovery, journal: journal.clone(), pinned, recording: None })
    }

    /// Runs the snippet against the current tools; compiles it again if they change.
    async fn outcome(&mut self, request: &Request) -> Result<Outcome, Failure> {
        for _ in 0..CATALOG_CHANGES {
            let catalog = Arc::new(self.discovery.catalog());
            let lookup = Lookup::new(catalog.clone(), BTreeMap::new());
            self.discovery.sessions.look_up_in(Arc::new(lookup));
            let run = self.engine.run(request, &catalog, &self.discovery.sessions, &self.journal);
            let outcome = self.terminal.notifier().working(run).await?;
            if self.pinned || !self.refresh(&outcome, request).await? {
                return Ok(outcome);
            }
            self.terminal.note("the tools of a server have changed: compiling again with the new ones");
        }
        Err(Failure::new(
            Kind::Server,
            "the tools of a server keep changing; try again, or disable the server",
        ))
    }

    /// Returns the part that the history keeps for a replay.
    fn replayable(&self, request: &Request, outcome: &Outcome) -> Option<ReplayableRun> {
        let (lists, masker) = (self.discovery.lists(), self.discovery.sessions.masker());
        ReplayableRun::new(&request.args, outcome, self.recording.clone()?, lists, masker)
    }

    /// Refreshes the tools if the snippet failed, before it ran, against outdated ones. Returns whether to try again.
    async fn refresh(&mut self, outcome: &Outcome, request: &Request) -> Result<bool, Failure> {
        let unfinished = match outcome.status {
            // A snippet that does not compile against cached tools may compile against the current ones.
            Status::CompileError => self.discovery.take_remembered(),
            _ => outcome.error.as_ref().is_some_and(|error| error.kind == "server_unavailable"),
        };
        let limit = REFRESH_TIMEOUT.min(request.timeout);
        let codes: Vec<_> = outcome.diagnostics.iter().map(|diagnostic| diagnostic.code.as_deref()).collect();
        if codes.contains(&None) {
            return Ok(false);
        }
        if unfinished && self.discovery.refresh(&request.code, limit).await? {
            return Ok(true);
        }
        Ok(outcome.has_unresolved() && self.discovery.ask_the_others(limit).await?)
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

/// Time limit for listing tools again after a snippet did not compile against the cached ones.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(5);

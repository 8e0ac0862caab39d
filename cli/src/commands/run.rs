//! `toolsmith run`: runs a snippet from a file and prints its outcome.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::{Config, Needs};
use gateway::cache;
use gateway::discovery::Discovery;
use gateway::exit_code;
use gateway::failure::Failure;
use gateway::pins::{Known, Pins};
use gateway::program_crate::ProgramCrate;
use gateway::reference::Lookup;
use report::{Kind, Report};
use runner::limits::SNIPPET_LIMIT;
use runner::{Catalog, Code, Engine, Outcome, Request, Status};
use server::outcome_text;
use server::process_context::ProcessContext;
use server::runtime::Runtime;
use server::setup;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use crate::arguments::RunArguments;
use crate::terminal_host::TerminalHost;
use crate::terminal_prompter::{self, Questions};

/// Maximum number of attempts if tools change while a program is compiled.
const CATALOG_CHANGES: usize = 3;

/// How long the end waits for the new program to reach the remote cache.
const FLUSH: Duration = Duration::from_secs(2);

/// Runs the command and returns the exit code.
pub(crate) async fn run(arguments: RunArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    let terminal = Terminal::new(false, !arguments.json);
    let runtime = Runtime::start(terminal, ProcessContext::of_this_process()).await;
    let code = run_in(&runtime, &arguments, &cancel).await;
    runtime.shutdown().await?;
    code
}

async fn run_in(
    runtime: &Runtime,
    arguments: &RunArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let terminal = &*runtime.terminal;
    let inputs = unless_cancelled(cancel, read_inputs(arguments, runtime.process.clone())).await?;
    if inputs.config.is_demo() && !arguments.place.demo {
        terminal.note(
            "no MCP servers are configured: `demo` is the built-in demo server (add one of your own with \
             `toolsmith mcp add`)",
        );
    }
    let Inputs { code, config, tools, .. } = inputs;
    let started = Instant::now();
    let request = request(arguments, code, &config, cancel.clone());
    let preparing = Execution::prepare(&config, terminal, tools, &request);
    let mut execution = unless_cancelled(cancel, preparing).await?;
    let waited = started.elapsed();
    let policy =
        terminal_prompter::policy(&config, &arguments.permission.allow, terminal, Questions::Several);
    execution.discovery.sessions.permit(policy.clone());
    let mut outcome = execution.outcome(&request).await;
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
    let is_unresolved = outcome.as_ref().is_ok_and(has_unresolved);
    let code = outcome.and_then(|outcome| show(&outcome, arguments, terminal));
    // Only the next run of the text becomes slower without the record.
    if let Err(error) = execution.engine.record_long_runs() {
        terminal.note(&Report::from(error).for_terminal());
    }
    execution.engine.cache().flush_remote(FLUSH).await;
    if let Some(why) = config::no_server(&config).filter(|_| is_unresolved) {
        terminal.note(&Report::from(why).for_terminal());
    }
    let unchecked = execution.discovery.sessions.unchecked();
    unchecked.iter().for_each(|warning| terminal.note(&format!("warning: {warning}")));
    execution.discovery.sessions.close().await;
    code
}

async fn unless_cancelled<T>(
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

/// The inputs of a run.
struct Inputs {
    code: String,
    config: Arc<Config>,
    tools: Tools,
}

/// Where the tools come from.
enum Tools {
    /// From the servers, with the contents of the lock files.
    Servers(Known),
    /// From a crate, with its servers, tools and bindings, and the pins of the configured servers.
    Crate(ProgramCrate, Pins),
}

/// Reads the snippet and the configuration on a separate thread, because reading a pipe may block.
async fn read_inputs(arguments: &RunArguments, process: ProcessContext) -> Result<Inputs, Failure> {
    let (place, file, folder) =
        (arguments.place.clone(), arguments.file.clone(), arguments.crate_folder.clone());
    let reading = tokio::task::spawn_blocking(move || {
        let (code, program) = match (file, folder) {
            (_, Some(folder)) => {
                let mut program = ProgramCrate::read(&folder, read_snippet)?;
                (std::mem::take(&mut program.code), Some(program))
            }
            (file, None) => (read_snippet(&file.unwrap_or_default())?, None),
        };
        let needs = Needs::ServersIfAny { or_demo: names_demo(&code) };
        let config = Arc::new(setup::load_in(&process, &place.options_with(needs))?);
        let known = Known::of(&config)?;
        let tools = match program {
            Some(program) => Tools::Crate(program, known.pins),
            None => Tools::Servers(known),
        };
        Ok(Inputs { code, config, tools })
    });
    reading.await.map_err(Failure::system)?
}

/// Whether a snippet has the name of the demo server's module.
fn names_demo(code: &str) -> bool {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "demo")
}

fn request(arguments: &RunArguments, code: String, config: &Config, cancel: CancellationToken) -> Request {
    Request {
        code: Code::parse(code),
        args: arguments.args.iter().cloned().collect::<BTreeMap<_, _>>(),
        timeout: arguments.timeout.unwrap_or(config.code_mode.timeout),
        check_only: arguments.check,
        limits: config.code_mode.limits.clone(),
        grants: config.code_mode.grants.clone(),
        cancel,
    }
}

fn read_snippet(file: &Path) -> Result<String, Failure> {
    let limit = SNIPPET_LIMIT as u64 + 1;
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| unreadable(file, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::command_line(format!("the snippet is not UTF-8: byte {at} is not part of a character"))
            .hint("save the file as UTF-8")
    })
}

fn unreadable(file: &Path, error: std::io::Error) -> Failure {
    let shown = file.display();
    let (why, advice) = match error.kind() {
        std::io::ErrorKind::NotFound => (
            format!("there is no file {shown}"),
            "check the path; `toolsmith run -` reads the snippet from standard input".to_owned(),
        ),
        std::io::ErrorKind::IsADirectory if file.join(config::LOCK).is_file() => {
            (format!("{shown} is a folder"), format!("run its program: toolsmith run --crate {shown}"))
        }
        std::io::ErrorKind::IsADirectory => {
            (format!("{shown} is a folder"), "name the file of a snippet in it".to_owned())
        }
        _ if file == Path::new("-") => (error.to_string(), "name a file instead of `-`".to_owned()),
        kind => (format!("{shown}: {kind}"), "check that you may read the file".to_owned()),
    };
    Failure::command_line(format!("the snippet can't be read: {why}")).hint(advice).caused_by(error)
}

/// Prints an outcome and returns the exit code.
fn show(outcome: &Outcome, arguments: &RunArguments, terminal: &Terminal) -> Result<u8, Failure> {
    if arguments.json {
        terminal.print_json(&serde_json::to_string(outcome).map_err(Failure::system)?);
        return Ok(exit_code::of(outcome.status));
    }
    let manifest = outcome.manifest.iter().filter(|_| arguments.check).cloned();
    for line in manifest.chain(outcome_text::content(outcome)).chain(outcome_text::result(outcome)) {
        terminal.print(&line);
    }
    for fix in &outcome.fixes {
        terminal.note(&format!("corrected line {}: {}", fix.line, fix.after.trim()));
    }
    if outcome.status == Status::Ok && !outcome.diagnostics.is_empty() {
        terminal.note(outcome_text::messages(&outcome.diagnostics).trim_end());
    }
    if let Some(trouble) = outcome_text::trouble(outcome) {
        terminal.eprint(&trouble);
    }
    Ok(exit_code::of(outcome.status))
}

/// Everything needed to run one snippet.
struct Execution<'a> {
    terminal: &'a Terminal,
    engine: Engine,
    discovery: Discovery<'a>,
    /// Whether the tools come from a crate, and are not refreshed.
    pinned: bool,
}

impl<'a> Execution<'a> {
    async fn prepare(
        config: &'a Arc<Config>,
        terminal: &'a Terminal,
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
                    let host = TerminalHost::at(terminal);
                    let mut discovery = Discovery::new(config, host.clone(), cache, known);
                    discovery.offer_logins(host);
                    if !request.check_only {
                        discovery.start_sessions(&request.code);
                    }
                    discovery.discover_for(&request.code).await?;
                    Ok((discovery, false))
                }
                Tools::Crate(program, pins) => {
                    Ok((Discovery::of_crate(config, TerminalHost::at(terminal), cache, program, pins), true))
                }
            }
        };
        // The servers start while the engine is opened and the bindings are generated.
        let (engine, (discovery, pinned)) = tokio::try_join!(opening, discovering)?;
        Ok(Execution { terminal, engine, discovery, pinned })
    }

    /// Runs the snippet against the current tools; compiles it again if they change.
    async fn outcome(&mut self, request: &Request) -> Result<Outcome, Failure> {
        for _ in 0..CATALOG_CHANGES {
            let catalog = Arc::new(self.discovery.catalog());
            let lookup = Lookup::new(catalog.clone(), BTreeMap::new());
            self.discovery.sessions.look_up_in(Arc::new(lookup));
            let outcome = self.try_once(request, &catalog).await?;
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

    async fn try_once(&self, request: &Request, catalog: &Catalog) -> Result<Outcome, Failure> {
        let sessions = &self.discovery.sessions;
        Ok(self.engine.run(request, catalog, sessions, self.terminal).await?)
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
        Ok(has_unresolved(outcome) && self.discovery.ask_the_others(limit).await?)
    }
}

/// Whether a snippet does not compile because it uses a name that does not exist.
fn has_unresolved(outcome: &Outcome) -> bool {
    let codes = outcome.diagnostics.iter().filter_map(|diagnostic| diagnostic.code.as_deref());
    outcome.status == Status::CompileError && codes.into_iter().any(|code| UNRESOLVED.contains(&code))
}

/// The compiler's error codes for a module, function or import that does not exist. A server that was not listed may
/// have it.
const UNRESOLVED: [&str; 3] = ["E0425", "E0432", "E0433"];

/// Time limit for listing tools again after a snippet did not compile against the cached ones.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(5);

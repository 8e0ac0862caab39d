//! `toolsmith run`: one snippet from a file to its outcome on the terminal.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use futures::future::join_all;
use runner::{Catalog, Engine, Options, Outcome, Request, SNIPPET_LIMIT, Status};
use tokio_util::sync::CancellationToken;

use crate::arguments::RunArguments;
use crate::catalog::{self, ToolLists};
use crate::config::{self, Config, Source};
use crate::sessions::Sessions;
use crate::terminal::Terminal;
use crate::{exit, present};

/// How often a program is compiled again because tools have changed while it was compiled.
const CATALOG_CHANGES: usize = 3;

/// Why there is no outcome.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The process's exit code.
    pub(crate) code: u8,
    /// What to tell.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn configuration(message: impl Display) -> Self {
        Failure { code: exit::CONFIGURATION, message: format!("{message}") }
    }

    pub(crate) fn host(message: impl Display) -> Self {
        Failure { code: exit::HOST, message: format!("{message}") }
    }
}

/// Runs the command; gives the exit code.
pub(crate) async fn run(arguments: RunArguments, cancel: CancellationToken) -> Result<u8, Failure> {
    let terminal = Terminal::new(arguments.quiet, !arguments.json);
    let code = run_on(&terminal, &arguments, &cancel).await;
    match terminal.flush().await {
        Ok(()) => code,
        Err(error) => Err(Failure::host(format!("the output can't be written: {error}"))),
    }
}

async fn run_on(
    terminal: &Terminal,
    arguments: &RunArguments,
    cancel: &CancellationToken,
) -> Result<u8, Failure> {
    let (code, config, source) = unless_cancelled(cancel, read_inputs(arguments)).await?;
    if source == Source::Demo {
        terminal.note("no configuration: using the built-in demo server (name your own with --config FILE)");
        if Path::new("toolsmith.yaml").is_file() {
            terminal
                .note("the toolsmith.yaml of this folder is used only when named: --config toolsmith.yaml");
        }
    }
    let request = request(arguments, code, &config, cancel.clone());
    let mut execution = unless_cancelled(cancel, Execution::prepare(&config, terminal)).await?;
    let outcome = execution.outcome(&request).await;
    let code = outcome.and_then(|outcome| show(&outcome, arguments, terminal));
    execution.sessions.close().await;
    code
}

async fn unless_cancelled<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        done = work => done,
        () = cancel.cancelled() => {
            let message = "cancelled before the snippet was tried".to_owned();
            Err(Failure { code: exit::CANCELLED, message })
        }
    }
}

/// Snippet and configuration, read on a thread of their own: a pipe may have nothing to read yet.
async fn read_inputs(arguments: &RunArguments) -> Result<(String, Config, Source), Failure> {
    let (file, named) = (arguments.file.clone(), arguments.config.clone());
    let reading = tokio::task::spawn_blocking(move || {
        let code = read_snippet(&file)?;
        let (config, source) = config::load(named.as_deref()).map_err(Failure::configuration)?;
        Ok((code, config, source))
    });
    reading.await.map_err(Failure::host)?
}

fn request(arguments: &RunArguments, code: String, config: &Config, cancel: CancellationToken) -> Request {
    Request {
        code,
        args: arguments.args.iter().cloned().collect::<BTreeMap<_, _>>(),
        timeout: arguments.timeout.unwrap_or(config.code_mode.timeout),
        check_only: arguments.check,
        limits: config.code_mode.limits.clone(),
        cancel,
    }
}

fn read_snippet(file: &Path) -> Result<String, Failure> {
    let limit = SNIPPET_LIMIT as u64 + 1;
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        fs_err::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::configuration(format!("the snippet can't be read: {error}")))?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::configuration(format!("the snippet is not UTF-8: byte {at} is not part of a character"))
    })
}

/// Prints an outcome; gives the exit code.
fn show(outcome: &Outcome, arguments: &RunArguments, terminal: &Terminal) -> Result<u8, Failure> {
    if arguments.json {
        terminal.print(&serde_json::to_string(outcome).map_err(Failure::host)?);
        return Ok(exit::of(outcome.status));
    }
    let manifest = outcome.manifest.iter().filter(|_| arguments.check).cloned();
    for line in manifest.chain(present::content(outcome)).chain(present::result(outcome)) {
        terminal.print(&line);
    }
    for fix in &outcome.fixes {
        terminal.note(&format!("corrected line {}: {}", fix.line, fix.after.trim()));
    }
    if let Some(trouble) = present::trouble(outcome) {
        terminal.tell(&trouble);
    }
    Ok(exit::of(outcome.status))
}

/// Everything that one snippet needs.
struct Execution<'a> {
    config: &'a Config,
    terminal: &'a Terminal,
    engine: Engine,
    lists: ToolLists,
    sessions: Sessions,
    /// Whether any list was remembered and not asked for.
    remembered: bool,
}

impl<'a> Execution<'a> {
    async fn prepare(config: &'a Config, terminal: &'a Terminal) -> Result<Self, Failure> {
        let cache = config::cache_folder().map_err(Failure::configuration)?;
        let options = Options { cache, install_target: config.code_mode.install_target };
        let engine = Engine::open(&options, terminal).await.map_err(Failure::host)?;
        let mut execution = Execution {
            config,
            terminal,
            engine,
            lists: ToolLists::default(),
            sessions: Sessions::new(config),
            remembered: false,
        };
        for server in &config.servers {
            if let Some(tools) = catalog::remembered(execution.engine.cache(), server) {
                execution.remembered = true;
                execution.accept(&server.connection.name, tools);
            }
        }
        execution.discover().await?;
        Ok(execution)
    }

    /// Takes `tools` as those of `server`, to compile against and to expect.
    fn accept(&mut self, server: &str, tools: Vec<serde_json::Value>) {
        self.lists.insert(server, tools.clone());
        self.sessions.expect(server, tools);
    }

    /// Asks the servers whose tools are not known. One that fails is told and left out; if none is left, that is
    /// an error.
    async fn discover(&mut self) -> Result<(), Failure> {
        let known = |name: &str| self.lists.has(name);
        let unknown = self.config.servers.iter().filter(|server| !known(&server.connection.name));
        let unknown: Vec<_> = unknown.collect();
        let opened =
            join_all(unknown.iter().map(|server| self.sessions.start(&server.connection.name))).await;
        let mut failures = Vec::new();
        for (server, opened) in unknown.iter().zip(opened) {
            match opened {
                Ok(opened) => {
                    opened.warnings.iter().for_each(|warning| self.terminal.note(warning));
                    self.keep(&server.connection.name, opened.tools)?;
                }
                Err(message) => failures.push(message),
            }
        }
        if failures.len() == self.config.servers.len() {
            return Err(Failure::host(failures.join("\n")));
        }
        failures.iter().for_each(|message| self.terminal.note(message));
        Ok(())
    }

    fn keep(&mut self, name: &str, tools: Vec<serde_json::Value>) -> Result<(), Failure> {
        let server = self.config.servers.iter().find(|server| server.connection.name == name);
        if let Some(server) = server {
            catalog::remember(self.engine.cache(), server, &tools).map_err(|error| {
                Failure::host(format!("the cache can't be written to: {error}\nhelp: free some space, or set TOOLSMITH_CACHE_DIR"))
            })?;
        }
        self.accept(name, tools);
        Ok(())
    }

    /// The outcome, against the tools as they are now.
    async fn outcome(&mut self, request: &Request) -> Result<Outcome, Failure> {
        for _ in 0..CATALOG_CHANGES {
            let catalog = self.lists.generate(self.engine.cache(), self.config, self.terminal);
            let outcome = self.try_once(request, &catalog).await?;
            if !self.refresh(&outcome, request).await? {
                return Ok(outcome);
            }
            self.terminal.note("the tools of a server have changed: compiling against the new ones");
        }
        Err(Failure::host("the tools of a server change all the time; try again, or disable it"))
    }

    async fn try_once(&self, request: &Request, catalog: &Catalog) -> Result<Outcome, Failure> {
        self.engine.run(request, catalog, &self.sessions, self.terminal).await.map_err(Failure::host)
    }

    /// Whether the snippet was tried against tools that are no longer the servers', and could do nothing yet.
    async fn refresh(&mut self, outcome: &Outcome, request: &Request) -> Result<bool, Failure> {
        let unfinished = match outcome.status {
            // What does not compile against remembered tools may compile against the present ones.
            Status::CompileError => std::mem::take(&mut self.remembered),
            _ => outcome.error.as_ref().is_some_and(|error| error.kind == "server_unavailable"),
        };
        if !unfinished || outcome.diagnostics.iter().any(|diagnostic| diagnostic.code.is_none()) {
            return Ok(false);
        }
        let opening = self.config.servers.iter().map(|server| self.sessions.start(&server.connection.name));
        let opening = join_all(opening.collect::<Vec<_>>());
        if tokio::time::timeout(REFRESH_TIMEOUT.min(request.timeout), opening).await.is_err() {
            self.terminal.note("a server did not answer: its tools are the remembered ones");
        }
        let changed = self.sessions.changed();
        let any = !changed.is_empty();
        for (name, tools) in changed {
            self.keep(&name, tools)?;
        }
        Ok(any)
    }
}

/// Longest wait for servers' tools after a snippet did not compile against the remembered ones.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(5);

//! One execution, step by step: read, compile, authorise, connect, get permission, run.
//!
//! All intermediate results are kept here, so that an execution stopped halfway still has an outcome that says how far
//! it came.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::pin::pin;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use parking_lot::Mutex;
use serde_json::json;
use snippet::diagnostics::{self, DIAGNOSTICS_KEPT};
use snippet::{Diagnostic, Snippet};
use system::event_loop::off_loop;
use system::random;

use crate::base::{Image, ImageError};
use crate::broker::{Broker, ProgramRecord};
use crate::build::{self, Built, build};
use crate::cache::Bucket;
use crate::catalog::{Catalog, ToolName};
use crate::classify;
use crate::clock::Clock;
use crate::compiler::SNIPPET_SECONDS;
use crate::compiler_slots::AdmissionWait;
use crate::engine::{Engine, Request};
use crate::error::{Error, ErrorKind, Result};
use crate::heavy::HeavyProgram;
use crate::host::{Refusal, SessionError, ToolHost};
use crate::journal::{Begin, Event, Journal, Phase, Refused, Sink as _};
use crate::obeyed_files::ObeyedFiles;
use crate::optimize;
use crate::optimized;
use crate::outcome::{Failure, Outcome, Status, in_milliseconds, milliseconds};
use crate::program::{self, ProgramTraces};

impl Engine {
    /// Runs a snippet and returns its outcome.
    ///
    /// # Errors
    /// Failures of the host; every failure of the snippet is an outcome.
    pub async fn run(
        &self,
        request: &Request,
        catalog: &Catalog,
        host: &dyn ToolHost,
        journal: &Journal,
    ) -> Result<Outcome> {
        self.check(&request.grants)?;
        if let Some(entry) = &self.layer.entry {
            entry.touch();
        }
        let clock = Clock::start();
        self.prepare_program();
        let mut run = Run::new(self, request, &clock, catalog, host, journal);
        let stopped = tokio::select! {
            done = run.pipeline() => { done?; None }
            () = clock.runs_out(request.timeout) => Some(Stop::Timeout),
            () = clock.follow(host.questions()) => None,
            () = request.cancel.cancelled() => Some(Stop::Cancelled),
        };
        Ok(run.conclude(stopped))
    }
}

/// The reason why a run was stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Timeout,
    Cancelled,
}

struct Run<'a> {
    engine: &'a Engine,
    request: &'a Request,
    clock: &'a Clock,
    catalog: &'a Catalog,
    host: &'a dyn ToolHost,
    journal: &'a Journal,
    started: Instant,
    outcome: Outcome,
    traces: ProgramTraces,
    ledger: Mutex<ProgramRecord>,
    phase: Phase,
    /// When its program started, and how long the clock had been stopped by then.
    running: Option<(Instant, Duration)>,
    /// Its program, if it can be optimized.
    heavy: Option<HeavyProgram>,
}

impl<'a> Run<'a> {
    fn new(
        engine: &'a Engine,
        request: &'a Request,
        clock: &'a Clock,
        catalog: &'a Catalog,
        host: &'a dyn ToolHost,
        journal: &'a Journal,
    ) -> Self {
        Run {
            engine,
            request,
            clock,
            catalog,
            host,
            journal,
            started: Instant::now(),
            outcome: Outcome::new(Status::Ok),
            traces: ProgramTraces::default(),
            ledger: Mutex::default(),
            phase: Phase::Checking,
            running: None,
            heavy: None,
        }
    }

    fn begin(&mut self, phase: Phase) {
        self.phase = phase;
        self.journal.note(&Event::Phase(phase));
    }

    /// All steps; returns early once the outcome is known.
    async fn pipeline(&mut self) -> Result<()> {
        let Some(snippet) = self.read() else { return Ok(()) };
        let Some((program, manifest)) = self.compile(snippet).await? else { return Ok(()) };
        let Some(allowed) = self.authorise(&manifest) else { return Ok(()) };
        if self.request.check_only {
            return Ok(());
        }
        if !self.connect(&allowed).await || !self.permit(&allowed).await {
            return Ok(());
        }
        let program = self.optimize(program, &manifest).await;
        self.heavy = optimize::candidate(&program, &manifest, &self.request.holder);
        self.execute(&program, allowed).await
    }

    fn read(&mut self) -> Option<&'a Snippet> {
        self.begin(Phase::Checking);
        let code = &self.request.code;
        self.outcome.phases_ms.parse = in_milliseconds(code.time());
        match code.snippet() {
            Ok(snippet) => Some(snippet),
            Err(error) => {
                let diagnostic = diagnostics::syntax(error, code.text());
                self.outcome.diagnostics.push(diagnostic);
                self.compile_error(&error.message);
                None
            }
        }
    }

    fn compile_error(&mut self, message: &str) {
        let failure = Failure::new("compile", message, json!({}));
        self.outcome.fail(Status::CompileError, failure);
    }

    /// Compiles, while opening sessions to the servers that the snippet names.
    async fn compile(&mut self, snippet: &Snippet) -> Result<Option<(build::Program, Vec<String>)>> {
        self.begin(Phase::Compiling);
        let names = snippet.names();
        let named = self.catalog.named(&names);
        let named: Vec<&str> = named.map(|module| module.server.as_str()).collect();
        let started = Instant::now();
        let mut opening = pin!(self.open_all(if self.request.check_only { &[] } else { &named }).fuse());
        if !named.is_empty() {
            // The checks of spare sessions leave now. Later, they would keep a processor that starting the program needs.
            let _ = futures::poll!(&mut opening);
            tokio::task::yield_now().await;
        }
        let admission = self.admission_wait();
        let mut building = pin!(build(self.engine, self.catalog, snippet, admission));
        let mut connect = 0.0;
        let built = loop {
            tokio::select! {
                built = &mut building => match built {
                    Err(error) if error.kind == ErrorKind::Busy => {
                        let retry = Duration::from_secs(SNIPPET_SECONDS);
                        self.outcome = Outcome::busy(&error.to_string()).retry_after(retry);
                        return Ok(None);
                    }
                    built => break built?,
                },
                // Servers that did not open are tried again, with an error if the program can call them.
                _ = &mut opening => connect = milliseconds(started),
            }
        };
        self.outcome.phases_ms.connect = connect;
        self.outcome.phases_ms.bindings = built.bindings_ms;
        self.outcome.phases_ms.compile = built.compile_ms;
        self.outcome.sandbox = built.sandbox;
        self.outcome.cached = built.cached;
        match built.result {
            Built::Program { program, manifest, notes } => {
                self.outcome.fixes = notes.fixes;
                self.outcome.diagnostics = notes.warnings;
                Ok(Some((program, manifest)))
            }
            Built::Rejected(diagnostics) => {
                let first = diagnostics.first().map_or("it does not compile", |first| &first.message);
                self.compile_error(first);
                self.outcome.diagnostics = diagnostics;
                Ok(None)
            }
        }
    }

    fn admission_wait(&self) -> AdmissionWait<'a> {
        AdmissionWait { holder: &self.request.holder, sink: self.journal, clock: Some(self.clock) }
    }

    /// The program to run: an optimized one, if the last run was so long that compiling it pays.
    async fn optimize(&mut self, program: build::Program, manifest: &[String]) -> build::Program {
        if !optimized::is_due(&self.engine.cache, &program.key) {
            return program;
        }
        let started = Instant::now();
        self.begin(Phase::Compiling);
        let admission = self.admission_wait();
        let compiled = optimize::compile_if_due(self.engine, &program, manifest, admission).await;
        self.outcome.phases_ms.compile += milliseconds(started);
        match compiled {
            Ok(Some(optimized)) => {
                self.outcome.cached = false;
                optimized
            }
            Ok(None) => program,
            Err(error) => {
                let message = format!("the program runs without optimization: {error}");
                self.journal.note(&Event::Progress(&message));
                program
            }
        }
    }

    /// The executable of a program that was linked against the base. If the program does not fit the base, it is removed
    /// from the cache.
    async fn image(&self, program: &build::Program) -> Result<Option<Image>> {
        let Ok(base) = &self.engine.layer.base else { return Ok(None) };
        match base.image(&program.file).await {
            Ok(image) => Ok(image),
            Err(ImageError::NotInMemory(error)) => Err(error),
            Err(ImageError::Damaged(error)) => {
                let key =
                    if program.optimized { optimized::key_of(&program.key) } else { program.key.clone() };
                self.engine.cache.discard(Bucket::Programs, &key);
                let message = format!("the cached program {} is damaged: {error}", program.file.display());
                Err(Error::new(ErrorKind::Cache, message)
                    .caused_by(error)
                    .hint("it has been removed; run the snippet again"))
            }
        }
    }

    /// The tools that the program may call; `None` if it can call a forbidden one.
    fn authorise(&mut self, manifest: &[String]) -> Option<HashMap<String, ToolName>> {
        let mut allowed = HashMap::new();
        let mut unknown = Vec::new();
        for id in manifest {
            match self.catalog.tool(id) {
                Some(tool) => drop(allowed.insert(id.clone(), tool)),
                None => unknown.push(id.clone()),
            }
        }
        self.outcome.manifest = allowed.values().map(ToString::to_string).collect();
        self.outcome.manifest.sort();
        if !unknown.is_empty() {
            let message = "the program contains identities of tools that are not in the catalog";
            let count = unknown.len();
            unknown.truncate(UNKNOWN_SHOWN);
            classify::refused(
                &mut self.outcome,
                message.to_owned(),
                json!({ "unknown": unknown, "count": count }),
            );
            return None;
        }
        let mut denied: Vec<String> =
            allowed.values().filter(|tool| tool.denied).map(ToString::to_string).collect();
        if !denied.is_empty() {
            denied.sort();
            let message = format!("the configuration denies {}", denied.join(", "));
            classify::refused(
                &mut self.outcome,
                message,
                json!({ "tools": denied, "reason": "configuration" }),
            );
            return None;
        }
        Some(allowed)
    }

    /// Opens sessions to the servers that the program can call; `false` if one is unavailable.
    async fn connect(&mut self, allowed: &HashMap<String, ToolName>) -> bool {
        self.begin(Phase::Connecting);
        let servers: BTreeSet<&str> = allowed.values().map(|tool| tool.server.as_str()).collect();
        let servers: Vec<&str> = servers.into_iter().collect();
        let started = Instant::now();
        let opened = self.open_all(&servers).await;
        let waited = milliseconds(started);
        self.outcome.phases_ms.connect = self.outcome.phases_ms.connect.max(waited);
        for (server, opened) in servers.iter().zip(opened) {
            if let Err(error) = opened {
                let evidence = json!({ "server": server });
                let failure = Failure::new("server_unavailable", error.to_string(), evidence);
                self.outcome.fail(Status::RuntimeError, failure);
                return false;
            }
        }
        true
    }

    /// Opens sessions to these servers.
    fn open_all<'s>(&self, servers: &[&'s str]) -> BoxFuture<'s, Vec<std::result::Result<(), SessionError>>>
    where
        'a: 's,
    {
        let (host, journal) = (self.host, self.journal);
        let open = |server: &&'s str| {
            let server = *server;
            async move {
                let begun = journal.begin(Begin::Session { server }).await;
                begun.map_err(|refused| SessionError::Refused(refused.message))?;
                host.open(server).await
            }
        };
        join_all(servers.iter().map(open).collect::<Vec<_>>()).boxed()
    }

    /// Asks for permission for what the program can call; `false` if denied.
    async fn permit(&mut self, allowed: &HashMap<String, ToolName>) -> bool {
        self.begin(Phase::Permission);
        let tools = allowed.values().map(|tool| (tool.server.clone(), tool.tool.clone()));
        let tools: Vec<_> = tools.collect::<BTreeSet<_>>().into_iter().collect();
        let refusal =
            |Refused { reason, message, .. }| Refusal { message, evidence: json!({ "reason": reason }) };
        let (host, journal) = (self.host, self.journal);
        let decided = async {
            journal.begin(Begin::Admission { tools: &tools }).await.map_err(refusal)?;
            host.permit(&tools).await?;
            journal.begin(Begin::Program).await.map_err(refusal)
        };
        match self.clock.while_asking(decided).await {
            Ok(()) => true,
            Err(Refusal { message, evidence }) => {
                classify::refused(&mut self.outcome, message, evidence);
                false
            }
        }
    }

    async fn execute(&mut self, program: &build::Program, allowed: HashMap<String, ToolName>) -> Result<()> {
        self.running = Some((Instant::now(), self.clock.stopped_for()));
        self.outcome.optimized = program.optimized;
        self.begin(Phase::Running);
        let broker = Broker {
            token: token()?,
            args: self.request.args.clone(),
            allowed,
            host: self.host,
            clock: self.clock,
            journal: self.journal,
            ledger: &self.ledger,
        };
        let (limits, grants) = (&self.request.limits, &self.request.grants);
        // Checked again: links may have changed during compilation or while the user was asked.
        self.engine.check(grants)?;
        let job = program::Job {
            program: &program.file,
            image: self.image(program).await?,
            limits,
            grants,
            confinement: self.engine.confinement,
        };
        let ended = program::run(job, &broker, &mut self.traces).await?;
        self.outcome.stderr = self.traces.stderr.text();
        let facts =
            classify::Facts { limits, text: self.request.code.text(), evidence: &self.traces.evidence };
        classify::ended(&mut self.outcome, &ended, &mut self.ledger.lock(), &facts);
        if let Some(error) = self.outcome.error.as_mut() {
            self.request.code.name_program(&mut error.evidence);
        }
        Ok(())
    }

    /// The outcome with everything known so far.
    fn conclude(mut self, stopped: Option<Stop>) -> Outcome {
        let phase = self.phase.words();
        match stopped {
            Some(Stop::Timeout) => classify::timed_out(&mut self.outcome, self.request.timeout, phase),
            Some(Stop::Cancelled) => classify::cancelled(&mut self.outcome, phase),
            None => {}
        }
        let mut outcome = self.outcome;
        let stopped = self.clock.stopped_for();
        outcome.phases_ms.permission = in_milliseconds(self.clock.asking_time());
        if let Some((since, before)) = self.running {
            let waited = stopped.saturating_sub(before);
            outcome.phases_ms.run = in_milliseconds(since.elapsed().saturating_sub(waited));
            let processor_time = self.traces.evidence.processor_time;
            outcome.cpu_ms = in_milliseconds(processor_time);
            if let Some(program) = self.heavy {
                self.engine.heavy.add(HeavyProgram { processor_time, ..program });
            }
            outcome.sandbox = self.traces.sandbox;
            outcome.sandbox.refused = classify::names(&self.traces.evidence.refused);
        }
        if self.running.is_some() {
            outcome.diagnostics.extend(created(&self.request.grants.write, &self.traces.obeyed));
        }
        outcome.stdout = self.traces.stdout.text();
        outcome.stderr = self.traces.stderr.text();
        outcome.truncated.stdout = self.traces.stdout.exceeded;
        outcome.truncated.stderr = self.traces.stderr.exceeded;
        let mut ledger = self.ledger.lock();
        outcome.calls = std::mem::take(&mut ledger.calls);
        outcome.calls_total = ledger.calls_total;
        outcome.calls_refused = std::mem::take(&mut ledger.refused);
        outcome.content = std::mem::take(&mut ledger.content);
        let warnings = std::mem::take(&mut ledger.warnings);
        outcome.diagnostics.extend(
            warnings.into_iter().map(|warning| diagnostics::from_warning(warning, self.request.code.text())),
        );
        drop(ledger);
        classify::add_progress(&mut outcome, self.traces.stdout.bytes.len());
        outcome.phases_ms.total = milliseconds(self.started);
        outcome
    }
}

/// Warnings of files in the granted folders that were not there before and that other programs obey.
fn created(write: &[PathBuf], before: &BTreeSet<PathBuf>) -> Vec<Diagnostic> {
    if write.is_empty() {
        return Vec::new();
    }
    let now = off_loop(usize::MAX, || ObeyedFiles::beneath_all(write));
    now.difference(before).take(DIAGNOSTICS_KEPT).map(|path| diagnostics::obeyed(path)).collect()
}

/// Maximum number of unknown identities to report.
const UNKNOWN_SHOWN: usize = 10;

/// A secret token for this execution.
fn token() -> Result<String> {
    random::id().map_err(|error| {
        Error::new(ErrorKind::Sandbox, format!("no random numbers: {error}")).caused_by(error)
    })
}

//! One execution of a snippet.

use std::collections::BTreeMap;
use std::future::IntoFuture;
use std::sync::Arc;
use std::time::{Duration, Instant};

use execution::{Execution, NewExecution, Recorded, Tools};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::discovery::Discovery;
use gateway::permission::{Allowed, ApprovedTools, FlowGate, PermissionPolicy};
use gateway::pins::Known;
use gateway::recording::ReplayableRun;
use runner::{Holder, Journal, Outcome, Request, Sink};
use snippet::Code;
use tokio_util::sync::CancellationToken;

use crate::event::{self, Listener, Listening};
use crate::host::QuietHost;
use crate::{Error, Event, Events, Toolsmith, permission};

/// An execution that begins when it is awaited. Dropping the future ends it: its processes are killed, and functions
/// that it called are dropped.
#[must_use = "it begins when it is awaited"]
pub struct Execute<'a> {
    pub(crate) toolsmith: &'a Toolsmith,
    code: Code,
    pub(crate) args: BTreeMap<String, String>,
    timeout: Option<Duration>,
    check_only: bool,
    listeners: Vec<Arc<dyn Listener>>,
}

/// The outcome of an execution, and the part of it that can be replayed.
pub(crate) struct Done {
    pub(crate) outcome: Outcome,
    /// `None` if its program did not run, or its answers are too large, or it is not recorded.
    pub(crate) replayable: Option<ReplayableRun>,
}

impl Toolsmith {
    /// Executes a snippet: Rust statements, of which the last may be its value, or a file with `async fn run`.
    ///
    /// The outcome has every failure of the snippet, and the error is one of the host.
    ///
    /// ```no_run
    /// # async fn example(toolsmith: toolsmith::Toolsmith) -> Result<(), Box<dyn std::error::Error>> {
    /// let outcome = toolsmith.execute("args.require(\"name\")?.len()").arg("name", "Ada").await?;
    /// assert_eq!(outcome.value::<usize>()?, 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn execute(&self, code: &str) -> Execute<'_> {
        self.execute_code(Code::parse(code.to_owned()))
    }

    /// Only compiles a snippet: the outcome has its diagnostics, and its manifest of tools.
    pub fn check(&self, code: &str) -> Execute<'_> {
        self.execute(code).check_only()
    }

    pub(crate) fn execute_code(&self, code: Code) -> Execute<'_> {
        Execute {
            toolsmith: self,
            code,
            args: BTreeMap::new(),
            timeout: None,
            check_only: false,
            listeners: Vec::new(),
        }
    }
}

impl Execute<'_> {
    /// Passes a value to the snippet: `args.get("name")`.
    pub fn arg(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.args.insert(name.into(), value.into());
        self
    }

    /// Sets the time limit of this execution (default: [`Builder::timeout`](crate::Builder::timeout)).
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Calls a function with each event. It must not block for long: the execution waits for it.
    pub fn on_event(mut self, callback: impl Fn(Event) + Send + Sync + 'static) -> Self {
        self.listeners.push(Arc::new(callback));
        self
    }

    /// Returns its events as a stream, which ends with the execution. The execution does not wait for its reader: if
    /// more than 1 024 events or 1 MiB wait, the oldest are dropped, and [`Event::Missed`] counts them.
    ///
    /// ```no_run
    /// use futures::StreamExt as _;
    ///
    /// # async fn example(toolsmith: toolsmith::Toolsmith) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut execution = toolsmith.execute("for n in 1..4 { println!(\"{n}\"); }");
    /// let events = execution.events();
    /// let shown = events.for_each(|event| async move { println!("{event:?}") });
    /// let (outcome, ()) = futures::join!(execution.into_future(), shown);
    /// println!("{}", outcome?.status);
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&mut self) -> Events {
        let (listener, events) = event::stream();
        self.listeners.push(listener);
        events
    }

    pub(crate) fn check_only(self) -> Self {
        Execute { check_only: true, ..self }
    }

    pub(crate) fn request(&self) -> Request {
        let code_mode = &self.toolsmith.inner.config.code_mode;
        Request {
            code: self.code.clone(),
            holder: Holder::default(),
            args: self.args.clone(),
            timeout: self.timeout.unwrap_or(code_mode.timeout),
            check_only: self.check_only,
            limits: code_mode.limits.clone(),
            grants: code_mode.grants.clone(),
            cancel: CancellationToken::new(),
        }
    }

    /// Begins the execution of this request.
    pub(crate) fn begin<'b>(
        &'b self,
        request: &'b Request,
        gate: &Arc<FlowGate>,
        recorded: Recorded,
    ) -> Execution<'b> {
        let inner = &*self.toolsmith.inner;
        let listeners = self.listeners.iter().cloned();
        let mut sinks: Vec<Arc<dyn Sink>> =
            listeners.map(|listener| Arc::new(Listening(listener)) as Arc<dyn Sink>).collect();
        sinks.push(gate.clone());
        Execution::begin(NewExecution {
            code: request.code.text(),
            args: &request.args,
            check_only: request.check_only,
            arrived: Instant::now(),
            masker: &inner.masker,
            flows: &inner.config.flows,
            kept: None,
            recorded,
            sinks,
            terminal: None,
        })
    }

    pub(crate) async fn run(self, recorded: Recorded) -> Result<Done, Error> {
        let inner = &*self.toolsmith.inner;
        let request = self.request();
        let gate = FlowGate::new(&inner.config, &inner.flows, &ApprovedTools::default());
        let execution = self.begin(&request, &gate, recorded);
        execution.start().await?;
        let started = Instant::now();
        let known = Known::of(&inner.config)?;
        let host = Arc::new(QuietHost::new(self.listeners.clone()));
        let mut discovery = Discovery::new(&inner.config, host, inner.cache.clone(), known);
        if !request.check_only {
            discovery.start_sessions(&request.code);
        }
        discovery.discover_for(&request.code).await?;
        let waited = started.elapsed();
        let policy = PermissionPolicy::of_session(
            &inner.config,
            Allowed { globs: &inner.allowed, ..Allowed::default() },
            inner.answers.clone(),
            permission::Callback(inner.permission.clone()),
            Journal::clone(&execution.journal),
            gate,
        );
        discovery.sessions.permit(policy.without_remembered());
        let outcome = execution.run(&inner.engine, &request, Tools::Current(&mut discovery)).await;
        let outcome = execution.hand_over(outcome, waited).await;
        let replayable = outcome.as_ref().ok().and_then(|outcome| {
            let recording = execution.recording()?;
            ReplayableRun::new(&request.args, outcome, recording, discovery.lists(), &inner.masker)
        });
        discovery.sessions.close().await;
        Ok(Done { outcome: outcome?, replayable })
    }
}

impl<'a> IntoFuture for Execute<'a> {
    type Output = Result<Outcome, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.run(Recorded::Never).map(|done| Ok(done?.outcome)).boxed()
    }
}

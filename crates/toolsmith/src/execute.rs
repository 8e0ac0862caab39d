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
use runner::{Holder, Journal, Outcome, Request, Sink};
use snippet::Code;
use tokio_util::sync::CancellationToken;

use crate::host::QuietHost;
use crate::{Error, Event, Toolsmith, event, permission};

/// An execution that begins when it is awaited. Dropping the future ends it: its processes are killed.
#[must_use = "it begins when it is awaited"]
pub struct Execute<'a> {
    toolsmith: &'a Toolsmith,
    code: &'a str,
    args: BTreeMap<String, String>,
    timeout: Option<Duration>,
    check_only: bool,
    sinks: Vec<Arc<dyn Sink>>,
}

impl Toolsmith {
    /// Executes a snippet: Rust statements, of which the last may be its value, or a file with `async fn run`.
    ///
    /// The outcome has every failure of the snippet, and the error is one of the host.
    pub fn execute<'a>(&'a self, code: &'a str) -> Execute<'a> {
        Execute {
            toolsmith: self,
            code,
            args: BTreeMap::new(),
            timeout: None,
            check_only: false,
            sinks: Vec::new(),
        }
    }

    /// Only compiles a snippet: the outcome has its diagnostics, and its manifest of tools.
    pub fn check<'a>(&'a self, code: &'a str) -> Execute<'a> {
        Execute { check_only: true, ..self.execute(code) }
    }
}

impl<'a> Execute<'a> {
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
        self.sinks.push(Arc::new(event::Callback(callback)));
        self
    }

    async fn run(self) -> Result<Outcome, Error> {
        let inner = &*self.toolsmith.inner;
        let request = Request {
            code: Code::parse(self.code.to_owned()),
            holder: Holder::default(),
            args: self.args,
            timeout: self.timeout.unwrap_or(inner.config.code_mode.timeout),
            check_only: self.check_only,
            limits: inner.config.code_mode.limits.clone(),
            grants: inner.config.code_mode.grants.clone(),
            cancel: CancellationToken::new(),
        };
        let gate = FlowGate::new(&inner.config, &inner.flows, &ApprovedTools::default());
        let mut sinks = self.sinks;
        sinks.push(gate.clone());
        let execution = Execution::begin(NewExecution {
            code: request.code.text(),
            args: &request.args,
            check_only: request.check_only,
            arrived: Instant::now(),
            masker: &inner.masker,
            flows: &inner.config.flows,
            kept: None,
            recorded: Recorded::Never,
            sinks,
            terminal: None,
        });
        execution.start().await?;
        let started = Instant::now();
        let known = Known::of(&inner.config)?;
        let mut discovery =
            Discovery::new(&inner.config, Arc::new(QuietHost::new()), inner.cache.clone(), known);
        if !request.check_only {
            discovery.start_sessions(&request.code);
        }
        discovery.discover_for(&request.code).await?;
        let waited = started.elapsed();
        discovery.sessions.permit(PermissionPolicy::of_session(
            &inner.config,
            Allowed { globs: &inner.allowed, ..Allowed::default() },
            inner.answers.clone(),
            permission::Callback(inner.permission.clone()),
            Journal::clone(&execution.journal),
            gate,
        ));
        let outcome = execution.run(&inner.engine, &request, Tools::Current(&mut discovery)).await;
        let outcome = execution.hand_over(outcome, waited).await;
        discovery.sessions.close().await;
        Ok(outcome?)
    }
}

impl<'a> IntoFuture for Execute<'a> {
    type Output = Result<Outcome, Error>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        self.run().boxed()
    }
}

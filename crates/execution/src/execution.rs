//! One execution, in the order of its steps: [`begin`](Execution::begin), [`start`](Execution::start),
//! [`run`](Execution::run), [`hand_over`](Execution::hand_over).
//!
//! Its caller prepares an engine and tools before the run, and after the last step shows the outcome and ends what the
//! history keeps. All else that differs between callers is in [`NewExecution`] and [`Tools`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use config::Config;
use gateway::catalog::ToolLists;
use gateway::discovery::Discovery;
use gateway::failure::Failure;
use gateway::outcome_text::milliseconds;
use gateway::permission;
use gateway::recording::{Recorder, Recording, ReplayableRun};
use gateway::reference::Lookup;
use report::Kind;
use runner::{Catalog, Engine, Outcome, OwnedJournal, Refused, Request, Sink, ToolHost};
use serde_json::json;
use system::event_loop::off_loop;
use terminal::{Masker, Notifier, Terminal};

use crate::kept::{Kept, RecordedExecution};
use crate::text::Text;

/// Maximum number of attempts if tools change while a program is compiled.
const CATALOG_CHANGES: usize = 3;

/// An execution before it begins.
pub struct NewExecution<'a> {
    /// The text as sent.
    pub code: &'a str,
    /// The values for `args.get(…)`.
    pub args: &'a BTreeMap<String, String>,
    /// Whether it is only compiled.
    pub check_only: bool,
    /// When it was requested.
    pub arrived: Instant,
    /// The secrets of the configuration.
    pub masker: &'a Masker,
    /// The rules about flows.
    pub flows: &'a config::Flows,
    /// Its place in the history, unless it is not kept.
    pub kept: Option<Kept<'a>>,
    /// Whether its requests are recorded.
    pub recorded: Recorded,
    /// Who else learns of it.
    pub sinks: Vec<Arc<dyn Sink>>,
    /// The terminal of the command that runs it: shows that it works, and its notes.
    pub terminal: Option<Notifier>,
}

impl<'a> NewExecution<'a> {
    /// A request of a command at this terminal. It is not kept.
    pub fn of_command(
        request: &'a Request,
        config: &'a Config,
        masker: &'a Masker,
        terminal: &Terminal,
    ) -> Self {
        NewExecution {
            code: request.code.text(),
            args: &request.args,
            check_only: request.check_only,
            arrived: Instant::now(),
            masker,
            flows: &config.flows,
            kept: None,
            recorded: Recorded::Never,
            sinks: vec![Arc::new(terminal.clone())],
            terminal: Some(terminal.notifier()),
        }
    }
}

/// Whether the requests of an execution are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// Never: its tools are not those of servers.
    Never,
    /// With the execution, if the history keeps both.
    IfKept,
    /// Also if the history does not keep them.
    Always,
}

/// The tools that an execution can call.
pub enum Tools<'t, 'c> {
    /// The same to its end.
    Fixed {
        /// The tools.
        catalog: &'t Catalog,
        /// Makes their calls.
        host: &'t dyn ToolHost,
    },
    /// The present tools of the servers: if they change, the text is compiled again.
    Current(&'t mut Discovery<'c>),
}

/// An execution that has begun.
pub struct Execution<'a> {
    new: NewExecution<'a>,
    /// Has everything that happens in it.
    pub journal: OwnedJournal,
    /// Its record in the history, if it is kept.
    pub kept: Option<RecordedExecution>,
    recorder: Option<Arc<Recorder>>,
    /// Whether the history keeps its requests.
    is_replayable: bool,
}

impl<'a> Execution<'a> {
    /// Begins its record in the history, and the recording of its requests; creates its journal.
    pub fn begin(mut new: NewExecution<'a>) -> Self {
        let keeps_requests = new.kept.as_ref().is_some_and(Kept::keeps_requests);
        let NewExecution { code, args, check_only, masker, .. } = new;
        let text = Text { code, args, check_only, masker };
        let kept = new.kept.take().and_then(|kept| kept.begin(text));
        let is_replayable = kept.is_some() && keeps_requests && new.recorded != Recorded::Never;
        let is_recorded = is_replayable || new.recorded == Recorded::Always;
        let recorder = is_recorded.then(|| Arc::new(Recorder::new(new.masker.clone())));
        let mut sinks: Vec<Arc<dyn Sink>> = Vec::new();
        // It is the first, so that a replay gets the refusals of the others.
        sinks.extend(recorder.clone().map(|recorder| recorder as Arc<dyn Sink>));
        sinks.append(&mut new.sinks);
        sinks.extend(kept.clone().map(|kept| Arc::new(kept) as Arc<dyn Sink>));
        Execution { new, journal: OwnedJournal::new(sinks), kept, recorder, is_replayable }
    }

    /// Tells the sinks that the execution starts.
    ///
    /// # Errors
    /// If one refuses it: then nothing may be run.
    pub async fn start(&self) -> Result<(), Failure> {
        let NewExecution { code, args, check_only, .. } = self.new;
        let new = runner::NewExecution { code, arguments: &json!(args), check_only };
        self.journal.execution(&new).await.map_err(refused)
    }

    /// Compiles and runs the text. Sessions have their permission policy by now.
    ///
    /// # Errors
    /// If the host fails, or the tools of a server keep changing.
    pub async fn run(
        &self,
        engine: &Engine,
        request: &Request,
        tools: Tools<'_, '_>,
    ) -> Result<Outcome, Failure> {
        let discovery = match tools {
            Tools::Fixed { catalog, host } => return self.attempt(engine, request, catalog, host).await,
            Tools::Current(discovery) => discovery,
        };
        for _ in 0..CATALOG_CHANGES {
            let catalog = Arc::new(discovery.catalog());
            discovery.sessions.look_up_in(Arc::new(Lookup::new(catalog.clone(), BTreeMap::new())));
            let outcome = self.attempt(engine, request, &catalog, &discovery.sessions).await?;
            if !discovery.has_changed_since(&outcome, request).await? {
                return Ok(outcome);
            }
            if let Some(terminal) = &self.new.terminal {
                terminal.note("the tools of a server have changed: compiling again with the new ones");
            }
        }
        Err(Failure::new(
            Kind::Server,
            "the tools of a server keep changing; try again, or disable the server",
        ))
    }

    async fn attempt(
        &self,
        engine: &Engine,
        request: &Request,
        catalog: &Catalog,
        host: &dyn ToolHost,
    ) -> Result<Outcome, Failure> {
        let run = Box::pin(engine.run(request, catalog, host, &self.journal));
        Ok(match &self.new.terminal {
            Some(terminal) => terminal.working(run).await?,
            None => run.await?,
        })
    }

    /// Takes the recorded requests; `None` if they are not recorded, or too large.
    pub fn recording(&self) -> Option<Recording> {
        self.recorder.as_ref()?.finish()
    }

    /// The part that the history keeps so that the text can be run again with these answers; `lists` are its tools.
    pub fn replayable(
        &self,
        recording: Recording,
        outcome: &Outcome,
        lists: &ToolLists,
    ) -> Option<ReplayableRun> {
        let new = || ReplayableRun::new(self.new.args, outcome, recording, lists, self.new.masker);
        self.is_replayable.then(new).flatten()
    }

    /// Tells the sinks that the outcome is handed over, adds the time that was `waited` before the run and the possible
    /// flows, and masks secrets.
    ///
    /// # Errors
    /// If the execution failed, or a sink refuses its outcome.
    pub async fn hand_over(
        &self,
        outcome: Result<Outcome, Failure>,
        waited: Duration,
    ) -> Result<Outcome, Failure> {
        let (status, kind) = match &outcome {
            Ok(Outcome { status, error, .. }) => {
                (status.to_string(), error.as_ref().map(|error| error.kind.as_str()))
            }
            Err(_) => ("host_error".to_owned(), Some("host")),
        };
        let ended = self.journal.end(&status, kind).await.map_err(refused);
        let mut outcome = outcome.and_then(|outcome| ended.map(|()| outcome))?;
        outcome.flows = permission::possible_flows(self.new.flows, &outcome.manifest);
        outcome.phases_ms.connect += milliseconds(waited);
        outcome.phases_ms.total = milliseconds(self.new.arrived.elapsed());
        if let Some(error) = &mut outcome.error {
            let masker = self.new.masker;
            off_loop(error.message.len(), || {
                // The message may quote the tool that failed.
                error.message = masker.mask(&error.message).into_owned();
                masker.mask_value(&mut error.evidence);
            });
        }
        Ok(outcome)
    }
}

fn refused(refused: Refused) -> Failure {
    Failure::new(Kind::Audit, refused.message)
}

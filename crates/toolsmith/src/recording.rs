//! Executions that are recorded, and run again without servers.

use execution::{Recorded, Tools};
use gateway::permission::{ApprovedTools, FlowGate};
use gateway::recording::{Replay, ReplayableRun, catalog, compared};
use runner::Outcome;
use terminal::Terminal;

use crate::execute::Done;
use crate::{Error, Execute};

/// The calls of an execution with their answers, its arguments and its result. It has no secrets of servers.
///
/// ```no_run
/// # async fn example(toolsmith: toolsmith::Toolsmith) -> Result<(), Box<dyn std::error::Error>> {
/// let code = "shop::get_order(\"c-1\").await?.total_cents";
/// let recorded = toolsmith.execute(code).recorded().await?;
/// let recording = recorded.recording.expect("it ran");
/// // Later, perhaps in a test: no function and no server is called.
/// let replayed = toolsmith.execute(code).replayed(&recording).await?;
/// assert!(replayed.differences.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Recording(ReplayableRun);

impl Recording {
    /// It as JSON, to keep it.
    ///
    /// # Errors
    /// If it has more than 16 MiB.
    pub fn to_json(&self) -> Result<String, Error> {
        let text = self.0.text();
        text.ok_or_else(|| report::Report::new(report::Kind::History, "the recording is too large").into())
    }

    /// Reads what [`Recording::to_json`] has written.
    ///
    /// # Errors
    /// If it has another form.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Ok(Recording(ReplayableRun::read("an execution", text)?))
    }
}

/// The outcome of an execution that was recorded.
#[derive(Debug)]
#[non_exhaustive]
pub struct RecordedOutcome {
    /// Its outcome.
    pub outcome: Outcome,
    /// Its calls. `None` if the program did not run, or the answers have more than 16 MiB.
    pub recording: Option<Recording>,
}

/// The outcome of an execution with recorded answers.
#[derive(Debug)]
#[non_exhaustive]
pub struct ReplayedOutcome {
    /// Its outcome.
    pub outcome: Outcome,
    /// The differences from the recording: in calls, in the status and in the result.
    pub differences: Vec<String>,
}

impl Execute<'_> {
    /// Runs it, and records its calls with their answers.
    ///
    /// # Errors
    /// As the execution itself: a failure of the host.
    pub async fn recorded(self) -> Result<RecordedOutcome, Error> {
        let Done { outcome, replayable } = Box::pin(self.run(Recorded::Always)).await?;
        Ok(RecordedOutcome { outcome, recording: replayable.map(Recording) })
    }

    /// Runs it with the arguments and answers of a recording: no server and no function of this program is called, and
    /// nobody is asked. A call that was not recorded fails.
    ///
    /// # Errors
    /// As the execution itself: a failure of the host.
    pub async fn replayed(mut self, recording: &Recording) -> Result<ReplayedOutcome, Error> {
        let Recording(run) = recording;
        self.args.clone_from(&run.arguments);
        let inner = &*self.toolsmith.inner;
        let gate = FlowGate::of_command(&inner.config, &ApprovedTools::default());
        let replay = Replay::new(&run.recording, gate.clone());
        let catalog = catalog(&run.tools, &inner.cache, &Terminal::silent().notifier());
        let request = self.request();
        let execution = self.begin(&request, &gate, Recorded::Never);
        let tools = Tools::Fixed { catalog: &catalog, host: &replay };
        let outcome = Box::pin(execution.run(&inner.engine, &request, tools)).await?;
        let mut mismatches = replay.finish();
        mismatches.extend(compared(&run.status, run.result.as_deref(), &outcome));
        let differences = mismatches.iter().map(ToString::to_string).collect();
        Ok(ReplayedOutcome { outcome, differences })
    }
}

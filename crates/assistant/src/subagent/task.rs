//! One call of the tool: a task for the model, from its prompt to its answer.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agent::{
    Answer, Block, EventPoster, FinalAnswer, History, Message, NewConversation, Role, Run, Toolset as _,
};
use gateway::propagation::{self, process_depth};
use identity::Subject;
use rmcp::ErrorData;
use serde_json::{Value, json};
use server::caller::Caller;
use server::execution_slots::{Busy, SlotLease, Slots};
use server::level::Level;
use server::recorder::{Recorder, Recording};
use server::session::{AgentIsolation, ClientSession};
use server::state::ServerState;
use system::random;
use telemetry::TraceContext;
use tokio_util::sync::CancellationToken;

use super::calling_client::CallingClient;
use super::event_forwarder::EventForwarder;
use super::events::{LogEvent, RunEnd, RunStart};
use super::reporter::RunReporter;
use super::result;
use super::tool::Arguments;
use crate::assistant::{Assistant, Tools, inputs};

/// Default time limit of a task.
const DEFAULT_TIME: Duration = Duration::from_secs(1800);

/// Appended to the prompt if answers have a schema.
const HOW_TO_END: &str = "When the task is done, call the tool final_answer once with the answer, and no other tool with it. Other \
                          text is not an answer.";

/// Length of a run's id in characters.
const RUN_LENGTH: usize = 8;

/// The reason why a task failed, as its caller reads it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct TaskError(String);

impl TaskError {
    fn of(error: impl Display) -> Self {
        TaskError(error.to_string())
    }
}

/// A subagent.
pub(super) struct Subagent {
    pub(super) described: config::Subagent,
    pub(super) assistant: Assistant,
    /// The schema of its answers, if they have one.
    pub(super) final_answer: Option<FinalAnswer>,
    /// The storage of its conversations.
    pub(super) recording: Recording,
    /// Slots for tasks.
    pub(super) slots: Arc<Slots>,
    /// The working folder.
    pub(super) folder: PathBuf,
    pub(super) state: Arc<ServerState>,
    /// Posts events to the root process of all agents, if that is another process.
    pub(super) poster: Option<Arc<EventPoster>>,
    /// The parent run of tasks that do not name one.
    pub(super) parent_run: Option<String>,
}

/// A task from a call of the tool.
pub(super) struct Task {
    pub(super) arguments: Arguments,
    pub(super) caller: Arc<Caller>,
    /// Cancels the task.
    pub(super) cancel: CancellationToken,
    /// The run of the calling agent.
    pub(super) parent_run: Option<String>,
    /// The number of processes of this program that it has passed through.
    pub(super) depth: u32,
    /// The subject that calls the tool.
    pub(super) subject: Option<Arc<Subject>>,
    /// The trace that it belongs to.
    pub(super) context: Option<TraceContext>,
}

impl Subagent {
    /// The result for the client. A failed run is a result with the error; nothing is retried.
    ///
    /// # Errors
    /// If the task was cancelled.
    pub(super) async fn answer(self: Arc<Self>, task: Task) -> Result<Value, ErrorData> {
        let _lease = match self.turn(&task).await? {
            Ok(lease) => lease,
            Err(busy) => return Ok(answer::failure(&busy.0)),
        };
        let run = random::short_id(RUN_LENGTH);
        let parent_run = task.parent_run.as_deref().or(self.parent_run.as_deref());
        let recorder = self.recorder(&run, parent_run);
        let start = LogEvent::start(
            &task.arguments.prompt,
            &task.arguments.inputs,
            RunStart {
                model: &self.assistant.entry.reference,
                limit: Some(self.time()),
                conversation: recorder.id(),
                parent_run,
            },
        );
        let settings = self.state.settings.borrow().clone();
        let logger = format!("subagent.{}", self.described.name);
        let forward = self.poster.clone().map(|poster| {
            EventForwarder::new(poster, settings.clone(), &self.described.name, &run, parent_run)
        });
        let (reporter, report_task) =
            RunReporter::new(&run, logger, &task.caller, settings.clone(), recorder, forward);
        reporter.log(start);
        if let Some(forward) = reporter.forward() {
            forward.start(&task.arguments.prompt, self.time());
        }
        let (started, mut client) = (Instant::now(), None);
        let ended = tokio::select! {
            biased;
            // Cancelling drops the run and everything it started.
            () = task.cancel.cancelled() => None,
            ended = self.run(&task, &reporter, &mut client) => Some(ended.map_err(|why| settings.masker.mask(&why.0).into_owned())),
        };
        let done = reporter.done();
        let ending = match &ended {
            Some(Ok(_)) => RunEnd::Answered,
            Some(Err(why)) => RunEnd::Failed(why),
            None => RunEnd::Cancelled,
        };
        reporter.log(LogEvent::end(ending, done.turns, done.usage, started.elapsed()));
        if let Some(forward) = reporter.forward() {
            let answer = ended.as_ref().and_then(|ended| ended.as_ref().ok()).map(result::text);
            forward.end(ending, answer.as_deref(), done.usage);
        }
        drop(reporter);
        report_task.finish().await;
        let result = match ended {
            Some(Ok(answer)) => result::answered(&answer),
            Some(Err(why)) => {
                let name = &self.described.name;
                answer::failure(&format!("the subagent {name} failed (run {run}): {why}"))
            }
            None => return Err(cancelled()),
        };
        Ok(result::of_run(result, &run, done, client.as_deref()))
    }

    /// Waits for a slot; the inner error says why there is none.
    async fn turn(&self, task: &Task) -> Result<Result<Arc<SlotLease>, TaskError>, ErrorData> {
        let lease = tokio::select! {
            biased;
            () = task.cancel.cancelled() => return Err(cancelled()),
            lease = self.slots.take(task.caller.client(), || {}) => lease,
        };
        let name = &self.described.name;
        Ok(lease.inspect(|lease| task.caller.set_lease(lease)).map_err(|busy| {
            TaskError(match busy {
                Busy::Full { running, waiting } => format!(
                    "{running} tasks of the subagent {name} run and {waiting} wait, which is its limit \
                 (agent.maxTasks); try again later"
                ),
                Busy::Share { waiting } => format!(
                    "{waiting} tasks of this client wait for the subagent {name}, the limit for one client; \
                 try again when one has ended"
                ),
            })
        }))
    }

    fn recorder(&self, run: &str, parent_run: Option<&str>) -> Recorder {
        let about = NewConversation {
            label: Some(format!("subagent:{}:{run}", self.described.name)),
            parent_run: parent_run.map(str::to_owned),
            model: self.assistant.entry.reference.clone(),
            folder: self.folder.display().to_string(),
        };
        self.recording.begin(about)
    }

    fn time(&self) -> Duration {
        self.assistant.limits.time.unwrap_or(DEFAULT_TIME)
    }

    /// Runs the model on a task, as `client`.
    async fn run(
        &self,
        task: &Task,
        reporter: &RunReporter,
        client: &mut Option<Arc<ClientSession>>,
    ) -> Result<Answer, TaskError> {
        let message = self.message(task).await?;
        let host = Arc::new(CallingClient(task.caller.clone()));
        let connecting = Tools::connect(&self.state, host, AgentIsolation::Among, Arc::new(|_, _| {}));
        let tools = identity::on_behalf_of(task.subject.clone(), connecting).await;
        let mut meta = propagation::meta_of(reporter.run());
        meta.extend(process_depth::same(task.depth));
        meta.extend(task.context.as_ref().map(TraceContext::to_meta).unwrap_or_default());
        let tools = tools.map_err(|failure| TaskError(failure.report.for_model()))?.marked(meta);
        let lent = Lent { tools: Some(tools), state: &self.state };
        let tools = lent.get()?;
        *client = Some(tools.inside().client.clone());
        tools.any_server().await.map_err(TaskError::of)?;
        let listed = tools.tools().await.map_err(TaskError::of)?;
        let names = listed.into_iter().map(|tool| tool.name).collect();
        if let Some(line) = tools.missing().await {
            task.caller.log(Level::Warning, "toolsmith", json!(line)).await;
        }
        let subagent = self.described.name.as_str();
        let mut system = self.assistant.prompt.begin(&self.folder, tools, names, subagent).await;
        if self.final_answer.is_some() {
            system = format!("{system}\n\n{HOW_TO_END}");
        }
        let limits = agent::Limits { time: Some(self.time()), ..self.assistant.limits.clone() };
        let run = Run {
            model: &self.assistant.model,
            tools,
            system: &system,
            limits: &limits,
            final_answer: self.final_answer.as_ref(),
            watcher: reporter,
        };
        run.go_on(&mut History::default(), message).await.map_err(TaskError::of)
    }

    /// The message to the model: the prompt and the files.
    async fn message(&self, task: &Task) -> Result<Message, TaskError> {
        let mut blocks = vec![Block::text(&task.arguments.prompt)];
        if !task.arguments.inputs.is_empty() {
            let (folder, paths) = (self.folder.clone(), task.arguments.inputs.clone());
            let limit = self.state.settings.borrow().config.agent.input_size;
            let read = tokio::task::spawn_blocking(move || inputs::read(&folder, &paths, limit));
            let read = read.await.map_err(TaskError::of)?;
            blocks.extend(read.map_err(TaskError::of)?);
        }
        Ok(Message { role: Role::User, blocks })
    }
}

/// Tools whose session is closed in order, even if the run is dropped.
struct Lent<'a> {
    tools: Option<Tools>,
    state: &'a ServerState,
}

impl Lent<'_> {
    fn get(&self) -> Result<&Tools, TaskError> {
        self.tools.as_ref().ok_or_else(|| TaskError("the tools are closed".to_owned()))
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let (Some(tools), Ok(runtime)) = (self.tools.take(), tokio::runtime::Handle::try_current()) {
            self.state.afterwards.spawn_on(tools.close(), &runtime);
        }
    }
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("cancelled", None)
}

//! A running peer: its session, one timed execution, its memory.

use std::path::Path;
use std::time::{Duration, Instant};

use end_to_end::processes::{self, Process};
use futures::future::try_join_all;
use mcp::{Listing, Session};
use serde_json::{Value, json, value::to_raw_value};

use crate::Checked;
use crate::peers::{Peer, Upstream};
use crate::task::Task;

/// Time limit for the start of a peer.
const START: Duration = Duration::from_secs(120);
/// Time limit for one execution. The first one with Toolsmith compiles the crates for snippets.
const EXECUTION: Duration = Duration::from_secs(600);
/// The number of times that an execution may ask for approval.
const APPROVALS: usize = 3;
/// The longest answer in an error, in characters.
const QUOTED: usize = 300;

/// A started peer.
pub(crate) struct Running {
    pub(crate) peer: Peer,
    session: Session,
}

impl Running {
    /// Starts a peer in a folder, and prepares it for the tools of the server.
    pub(crate) async fn start(peer: Peer, upstream: &Upstream, folder: &Path) -> Checked<Self> {
        let mut config = peer.config(folder);
        config.connect_timeout = START;
        config.request_timeout = EXECUTION;
        let session = Session::connect(&config).await.map_err(|error| error.to_string())?;
        let running = Self { peer, session };
        for code in running.peer.preparation(upstream) {
            running.approve(&code).await?;
        }
        Ok(running)
    }

    /// Executes code and accepts what it asks for (executor's protocol of approvals).
    async fn approve(&self, code: &str) -> Checked<()> {
        let mut answer = self.call(self.peer.tool.unwrap_or_default(), json!({ "code": code })).await?;
        for _ in 0..APPROVALS {
            let state = &answer["structuredContent"];
            if state["status"] != "waiting_for_interaction" {
                break;
            }
            let accepted =
                json!({ "executionId": state["executionId"], "action": "accept", "content": "{}" });
            answer = self.call("resume", accepted).await?;
        }
        let is_done = answer["structuredContent"]["result"]["ok"] == true;
        if is_done { Ok(()) } else { Err(format!("{code}: {}", quoted(&answer.to_string()))) }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Checked<Value> {
        let arguments = to_raw_value(&arguments).map_err(|error| error.to_string())?;
        let answer = self.session.call(tool, arguments).await.map_err(|error| error.to_string())?;
        serde_json::from_str(answer.raw().get()).map_err(|error| error.to_string())
    }

    /// Whether the peer can carry out a task: without code there are only calls.
    pub(crate) fn can(&self, task: Task) -> bool {
        self.peer.tool.is_some() || matches!(task, Task::Call | Task::Calls)
    }

    /// Carries out a task, checks the answer, and returns the time from request to answer.
    pub(crate) async fn run(&self, task: Task, number: u64) -> Checked<Duration> {
        let code = task.code(self.peer.language, number);
        match self.peer.tool {
            Some(tool) => self.execute(tool, &code, &task.expected(number)).await,
            None => self.direct(task, number).await,
        }
    }

    /// Executes code, whose answer must contain `expected`.
    pub(crate) async fn execute(&self, tool: &str, code: &str, expected: &str) -> Checked<Duration> {
        let arguments = to_raw_value(&json!({ "code": code })).map_err(|error| error.to_string())?;
        let started = Instant::now();
        let answer = self.session.call(tool, arguments).await.map_err(|error| error.to_string())?;
        let elapsed = started.elapsed();
        let text = answer.raw().get();
        if !answer.is_error() && text.contains(expected) {
            return Ok(elapsed);
        }
        Err(format!("expected {expected:?} from {code:?}: {}", quoted(text)))
    }

    async fn direct(&self, task: Task, number: u64) -> Checked<Duration> {
        let messages: Vec<String> = match task {
            Task::Calls => (0..10).map(|n| format!("{number}-{n}")).collect(),
            _ => vec![number.to_string()],
        };
        let started = Instant::now();
        let answers = messages.iter().map(|message| self.call("echo", json!({ "message": message })));
        let answers = try_join_all(answers).await?;
        let elapsed = started.elapsed();
        let expected = task.expected(number);
        let last = answers.last().map(Value::to_string).unwrap_or_default();
        if last.contains(&expected) {
            Ok(elapsed)
        } else {
            Err(format!("expected {expected:?}: {}", quoted(&last)))
        }
    }

    /// The tools that the peer offers.
    pub(crate) async fn tools(&self) -> Checked<Listing> {
        self.session.list_tools().await.map_err(|error| error.to_string())
    }

    /// The processes of the peer.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let root = self.session.process_group().and_then(|id| u32::try_from(id).ok());
        root.map(processes::tree).unwrap_or_default()
    }

    /// Ends the peer.
    pub(crate) async fn end(self) {
        self.session.close().await;
    }
}

fn quoted(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}

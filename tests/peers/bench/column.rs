//! Everything that is measured of one peer: a column of the table.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use end_to_end::processes;

use crate::Checked;
use crate::definitions::Tokens;
use crate::figures::Figures;
use crate::load::{self, Load};
use crate::peers::{Peer, Upstream};
use crate::session::Running;
use crate::task::{TASKS, Task};

/// The time limit until a peer is idle.
const IDLE: Duration = Duration::from_secs(10);
/// The interval at which its processes are sampled until then.
const LOOK: Duration = Duration::from_millis(500);

/// Resident memory of an idle peer, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    /// Of its whole process tree.
    pub(crate) all: u64,
    /// Without the MCP server that it calls.
    pub(crate) own: u64,
}

/// A peer with its figures.
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) peer: Peer,
    running: Option<Running>,
    /// The reason why it did not start or stopped working.
    pub(crate) failure: Option<String>,
    /// By the task's place in `TASKS`: the first execution of a text, and its repetition.
    pub(crate) times: [(Figures, Figures); TASKS.len()],
    pub(crate) load: Option<Load>,
    pub(crate) memory: Option<Memory>,
    /// By the number of tools.
    pub(crate) tokens: BTreeMap<usize, Checked<Tokens>>,
}

impl Column {
    /// Starts a peer.
    pub(crate) async fn start(peer: Peer, upstream: &Upstream, folder: &Path) -> Self {
        let (running, failure) = match Running::start(peer.clone(), upstream, folder).await {
            Ok(running) => (Some(running), None),
            Err(error) => (None, Some(format!("did not start: {error}"))),
        };
        let (times, tokens) = (Default::default(), BTreeMap::new());
        Self { name: peer.name.clone(), peer, running, failure, times, load: None, memory: None, tokens }
    }

    /// The peer, unless something failed.
    pub(crate) fn running(&self) -> Option<&Running> {
        self.running.as_ref().filter(|_| self.failure.is_none())
    }

    /// Executes a new text and then the same one again, each after a pause; the figures count unless this is to warm up.
    pub(crate) async fn measure(
        &mut self,
        index: usize,
        task: Task,
        number: u64,
        pause: Duration,
        counts: bool,
    ) {
        let Some(running) = self.running().filter(|running| running.can(task)) else { return };
        let run = async || {
            tokio::time::sleep(pause).await;
            running.run(task, number).await
        };
        let times: Checked<_> = async { Ok((run().await?, run().await?)) }.await;
        match times {
            Ok((new, repeat)) if counts => {
                self.times[index].0.add(new);
                self.times[index].1.add(repeat);
            }
            Ok(_) => {}
            Err(error) => self.failure = Some(format!("{} failed: {error}", task.name())),
        }
    }

    /// Executes a known text with one call in parallel.
    pub(crate) async fn press(&mut self, number: u64, each: usize) {
        let Some(running) = self.running() else { return };
        let run = || running.run(Task::Call, number);
        let load = async {
            // The text is known only after its first execution.
            run().await?;
            load::press(each, run).await
        };
        match load.await {
            Ok(load) => self.load = Some(load),
            Err(error) => self.failure = Some(format!("executions in parallel failed: {error}")),
        }
    }

    /// Reads the memory once the peer is idle: its processes no longer change.
    pub(crate) async fn weigh(&mut self, upstream: &Upstream) {
        let Some(running) = self.running() else { return };
        let ids =
            |running: &Running| running.processes().iter().map(|process| process.id).collect::<Vec<_>>();
        let started = Instant::now();
        let mut before = ids(running);
        loop {
            tokio::time::sleep(LOOK).await;
            let now = ids(running);
            if now == before || started.elapsed() > IDLE {
                break;
            }
            before = now;
        }
        let script = upstream.args.first().map_or(upstream.command.as_str(), String::as_str);
        let (mut all, mut own) = (0, 0);
        for process in running.processes() {
            let bytes = processes::private(process.id);
            all += bytes;
            own += if process.line.contains(script) && self.peer.tool.is_some() { 0 } else { bytes };
        }
        self.memory = Some(Memory { all, own });
    }

    /// Ends the peer.
    pub(crate) async fn end(&mut self) {
        if let Some(running) = self.running.take() {
            running.end().await;
        }
    }
}

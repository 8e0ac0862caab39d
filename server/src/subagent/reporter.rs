//! Tells the client of a run while it goes on, and keeps its conversation. The run waits for neither.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent::{Event, Role, Usage, Watcher};
use queue::{Bounds, Received};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::event_forwarder::EventForwarder;
use super::events::LogEvent;
use crate::assistant::Recorder;
use crate::caller::Caller;
use crate::client_host::size_of_json;
use crate::snapshot::Settings;

/// How much waits for a client that does not read (1 MiB); the oldest is left out, and the client is told how many events
/// that were.
const WAITING: Bounds = Bounds { bytes: 1 << 20, items: 256 };

/// How long a client may take to read what was told before the answer.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Sees what happens in a run.
pub(super) struct RunReporter {
    run: String,
    caller: Arc<Caller>,
    settings: Arc<Settings>,
    messages: queue::Sender<Telling>,
    done: Mutex<RunCounts>,
    recorder: Recorder,
    /// Who tells the process at the root.
    forward: Option<EventForwarder>,
}

/// What was done.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunCounts {
    pub(super) turns: u32,
    calls: u32,
    pub(super) usage: Usage,
}

/// A message to the client.
#[derive(Debug)]
enum Telling {
    Log(LogEvent),
    Progress(f64, String),
}

impl RunReporter {
    /// Tells of the run `run`, with the logger of this name.
    pub(super) fn new(
        run: &str,
        logger: String,
        caller: &Arc<Caller>,
        settings: Arc<Settings>,
        recorder: Recorder,
        forward: Option<EventForwarder>,
    ) -> (Self, ReportTask) {
        let (messages, waiting) = queue::bounded(WAITING);
        let going = ReportTask(tokio::spawn(tell(run.to_owned(), logger, caller.clone(), waiting)));
        let reporter = RunReporter {
            run: run.to_owned(),
            caller: caller.clone(),
            settings,
            messages,
            done: Mutex::default(),
            recorder,
            forward,
        };
        (reporter, going)
    }

    /// What the run is called.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    /// Who tells the process at the root.
    pub(super) fn forward(&self) -> Option<&EventForwarder> {
        self.forward.as_ref()
    }

    /// What was done up to now.
    pub(super) fn done(&self) -> RunCounts {
        *self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells something, where it is wanted.
    pub(super) fn tell(&self, told: LogEvent) {
        if !self.caller.wants(told.level) {
            return;
        }
        let mut told = told;
        self.settings.masker.mask_value(&mut told.payload);
        let bytes = size_of::<Telling>() + size_of_json(&told.payload);
        self.messages.push(Telling::Log(told), bytes);
    }

    fn progress(&self, count: impl FnOnce(&mut RunCounts)) {
        let done = {
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            count(&mut done);
            *done
        };
        if self.caller.wants_progress() {
            let message = format!("turns: {}, calls: {}", done.turns, done.calls);
            let made = f64::from(done.turns) + f64::from(done.calls);
            let bytes = size_of::<Telling>() + message.len();
            self.messages.push(Telling::Progress(made, message), bytes);
        }
    }
}

impl Watcher for RunReporter {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Message(message, usage) => {
                if let Some(saved) = self.recorder.record(&event) {
                    self.tell(LogEvent::saved(&saved));
                }
                if message.role == Role::Assistant {
                    self.progress(|done| {
                        done.turns = done.turns.saturating_add(1);
                        done.usage = done.usage.and(usage);
                    });
                }
            }
            Event::ToolResult(..) => self.progress(|done| done.calls = done.calls.saturating_add(1)),
            _ => {}
        }
        if let Some(forward) = &self.forward {
            forward.event(&event);
        }
        if let Some(told) = LogEvent::of(&event) {
            self.tell(told);
        }
    }
}

/// The client is being told. Dropping it ends that.
pub(super) struct ReportTask(JoinHandle<()>);

impl ReportTask {
    /// Waits until all was told, for so long as a client may take; the teller must be gone.
    pub(super) async fn finish(mut self) {
        let _ = timeout(LAST_WORDS, &mut self.0).await;
    }
}

impl Drop for ReportTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn tell(run: String, logger: String, caller: Arc<Caller>, mut waiting: queue::Receiver<Telling>) {
    while let Some(Received { missed, item }) = waiting.receive().await {
        if missed > 0 {
            let told = LogEvent::left_out(missed);
            caller.log(told.level, &logger, told.data(&run)).await;
        }
        match item {
            Some(Telling::Log(told)) => caller.log(told.level, &logger, told.data(&run)).await,
            Some(Telling::Progress(made, message)) => caller.progress(made, None, Some(message)).await,
            None => {}
        }
    }
}

//! Reports a run to the client and stores its conversation. The run waits for neither.

use std::sync::Arc;
use std::time::Duration;

use agent::{Event, Role, Usage, Watcher};
use parking_lot::Mutex;
use queue::{Bounds, Received};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::event_forwarder::EventForwarder;
use super::events::LogEvent;
use crate::assistant::Recorder;
use crate::caller::Caller;
use crate::client_host::size_of_json;
use crate::snapshot::Settings;

/// Limit of queued messages for a slow client (1 MiB). The oldest are dropped, and the client is notified of their
/// count.
const WAITING: Bounds = Bounds { bytes: 1 << 20, items: 256 };

/// Time limit for the client to read the remaining messages before the answer.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Observes the events of a run.
pub(super) struct RunReporter {
    run: String,
    caller: Arc<Caller>,
    settings: Arc<Settings>,
    messages: queue::Sender<Update>,
    done: Mutex<RunCounts>,
    recorder: Recorder,
    /// Forwards events to the root process.
    forward: Option<EventForwarder>,
}

/// Counters of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RunCounts {
    pub(super) turns: u32,
    calls: u32,
    pub(super) usage: Usage,
}

/// A message to the client.
#[derive(Debug)]
enum Update {
    Log(LogEvent),
    Progress(f64, String),
}

impl RunReporter {
    /// Reports the run `run` to the logger of this name.
    pub(super) fn new(
        run: &str,
        logger: String,
        caller: &Arc<Caller>,
        settings: Arc<Settings>,
        recorder: Recorder,
        forward: Option<EventForwarder>,
    ) -> (Self, ReportTask) {
        let (messages, pending) = queue::bounded(WAITING);
        let task = ReportTask(tokio::spawn(send(run.to_owned(), logger, caller.clone(), pending)));
        let reporter = RunReporter {
            run: run.to_owned(),
            caller: caller.clone(),
            settings,
            messages,
            done: Mutex::default(),
            recorder,
            forward,
        };
        (reporter, task)
    }

    /// The id of the run.
    pub(super) fn run(&self) -> &str {
        &self.run
    }

    /// Forwards events to the root process.
    pub(super) fn forward(&self) -> Option<&EventForwarder> {
        self.forward.as_ref()
    }

    /// The counters so far.
    pub(super) fn done(&self) -> RunCounts {
        *self.done.lock()
    }

    /// Logs an event if the client requested its level.
    pub(super) fn log(&self, mut event: LogEvent) {
        if !self.caller.wants(event.level) {
            return;
        }

        self.settings.masker.mask_value(&mut event.payload);
        let bytes = size_of::<Update>() + size_of_json(&event.payload);
        self.messages.push(Update::Log(event), bytes);
    }

    fn progress(&self, count: impl FnOnce(&mut RunCounts)) {
        let done = {
            let mut done = self.done.lock();
            count(&mut done);
            *done
        };
        if self.caller.wants_progress() {
            let message = format!("turns: {}, calls: {}", done.turns, done.calls);
            let made = f64::from(done.turns) + f64::from(done.calls);
            let bytes = size_of::<Update>() + message.len();
            self.messages.push(Update::Progress(made, message), bytes);
        }
    }
}

impl Watcher for RunReporter {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Message(message, usage) => {
                if let Some(saved) = self.recorder.record(&event) {
                    self.log(LogEvent::saved(&saved));
                }
                let is_turn = message.role == Role::Assistant;
                // The message of a summary has a cost too.
                if is_turn || usage.total() > 0 {
                    self.progress(|done| {
                        done.turns = done.turns.saturating_add(u32::from(is_turn));
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
        if let Some(logged) = LogEvent::of(&event) {
            self.log(logged);
        }
    }
}

/// The task that sends messages to the client. Dropping it ends the task.
pub(super) struct ReportTask(JoinHandle<()>);

impl ReportTask {
    /// Waits until all messages are sent, up to the time limit; the reporter must be dropped before.
    pub(super) async fn finish(mut self) {
        let _ = timeout(LAST_WORDS, &mut self.0).await;
    }
}

impl Drop for ReportTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn send(run: String, logger: String, caller: Arc<Caller>, mut pending: queue::Receiver<Update>) {
    while let Some(Received { missed, item }) = pending.receive().await {
        if missed > 0 {
            let event = LogEvent::left_out(missed);
            caller.log(event.level, &logger, event.data(&run)).await;
        }
        match item {
            Some(Update::Log(event)) => caller.log(event.level, &logger, event.data(&run)).await,
            Some(Update::Progress(made, message)) => caller.progress(made, None, Some(message)).await,
            None => {}
        }
    }
}

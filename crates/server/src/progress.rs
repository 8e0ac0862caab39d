//! Notifies the client while its snippet is processed: progress through the phases, and log messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use queue::{Bounds, Received, shortened};
use report::short_number;
use runner::{CallRecord, Event, Phase, Sink};
use serde_json::{Value, json};

use super::caller::Caller;
use super::client_host::{ServerNotice, size_of_json};
use super::level::Level;

/// Limit of queued messages for a slow client (1 MiB). The oldest are dropped, and the client is notified of their
/// count.
const WAITING: Bounds = Bounds { bytes: 1 << 20, items: 1_000 };

/// Minimum interval between progress notifications, except at the start of a phase.
const INTERVAL: Duration = Duration::from_millis(100);

/// Maximum length of a line of a program's standard error, in bytes.
const MAX_LINE: usize = 2_000;

/// The program's own progress starts after the earlier phases.
const RUNNING: f64 = 4.0;

/// A notification for the client.
pub(crate) enum Message {
    Progress { done: f64, total: Option<f64>, message: String },
    Log { level: Level, logger: &'static str, data: Value },
}

/// Watches an execution for a client.
pub(crate) struct Watcher {
    caller: Arc<Caller>,
    /// `None` after its end.
    messages: Mutex<Option<queue::Sender<Message>>>,
    /// When frequent progress was last reported.
    last: Mutex<Option<Instant>>,
    /// Whether the last progress of the program was its last step.
    was_final: AtomicBool,
    calls: AtomicU64,
    /// The unfinished line of the program's standard error.
    line: Mutex<Vec<u8>>,
}

impl Watcher {
    /// Its messages are sent to the receiver.
    pub(crate) fn new(caller: Arc<Caller>) -> (Self, queue::Receiver<Message>) {
        let (messages, receiver) = queue::bounded(WAITING);
        let (last, calls, line) = (Mutex::default(), AtomicU64::default(), Mutex::default());
        let messages = Mutex::new(Some(messages));
        (Watcher { caller, messages, last, was_final: AtomicBool::new(false), calls, line }, receiver)
    }

    fn report_progress(&self, done: f64, total: Option<f64>, message: &str) {
        if self.caller.wants_progress() {
            let message = shortened(message, MAX_LINE).into_owned();
            let bytes = size_of::<Message>() + message.len();
            self.push(Message::Progress { done, total, message }, bytes);
        }
    }

    /// Whether frequent progress may be reported again.
    fn is_time(&self) -> bool {
        let mut last = self.last.lock();
        let is_time = last.is_none_or(|last| last.elapsed() >= INTERVAL);
        if is_time {
            *last = Some(Instant::now());
        }
        is_time
    }

    /// Reports that the execution waits for others to end.
    pub(crate) fn waits(&self) {
        self.report_progress(0.0, None, "waiting for its turn");
    }

    fn log(&self, level: Level, logger: &'static str, data: Value) {
        if self.caller.wants(level) {
            let bytes = size_of::<Message>() + size_of_json(&data);
            self.push(Message::Log { level, logger, data }, bytes);
        }
    }

    fn push(&self, message: Message, bytes: usize) {
        if let Some(messages) = &*self.messages.lock() {
            messages.push(message, bytes);
        }
    }

    /// Ends the forwarding of its messages, once those that wait are sent.
    pub(crate) fn end(&self) {
        let line = std::mem::take(&mut *self.line.lock());
        if !line.is_empty() {
            // The program has ended without finishing its last line.
            self.log(Level::Info, "program", json!(String::from_utf8_lossy(&line)));
        }
        self.messages.lock().take();
    }

    /// Counts a finished call.
    fn count_call(&self) {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_time() {
            self.report_progress(RUNNING, None, &format!("{} done", report::count(calls, "call")));
        }
    }
}

/// Forwards messages of the execution and its servers until the execution has ended.
pub(crate) async fn forward(
    caller: &Caller,
    mut messages: queue::Receiver<Message>,
    mut notices: queue::Receiver<ServerNotice>,
) {
    loop {
        tokio::select! {
            biased;
            received = messages.receive() => {
                let Some(Received { missed, item }) = received else { return };
                caller.log_missed(missed).await;
                match item {
                    Some(Message::Progress { done, total, message }) => {
                        caller.progress(done, total, Some(message)).await;
                    }
                    Some(Message::Log { level, logger, data }) => caller.log(level, logger, data).await,
                    None => {}
                }
            }
            Some(Received { missed, item }) = notices.receive() => {
                caller.log_missed(missed).await;
                if let Some(ServerNotice::Log { level, logger, data, .. }) = item {
                    caller.log(level, &logger, data).await;
                }
            }
        }
    }
}

impl Watcher {
    fn stderr(&self, bytes: &[u8]) {
        if !self.caller.wants(Level::Info) {
            return;
        }
        let mut line = self.line.lock();
        for &byte in bytes {
            if byte != b'\n' {
                if line.len() < MAX_LINE {
                    line.push(byte);
                }
                continue;
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            self.log(Level::Info, "program", json!(text));
        }
    }

    fn phase(&self, phase: Phase) {
        let (before, message) = match phase {
            Phase::Checking => (0.0, "checking"),
            Phase::Compiling => (1.0, "compiling"),
            Phase::Connecting => (2.0, "connecting"),
            Phase::Permission => (3.0, "checking permissions"),
            Phase::Running => (RUNNING, "running"),
        };
        self.report_progress(before, None, message);
    }

    fn call_ended(&self, record: &CallRecord) {
        self.count_call();
        let CallRecord { server, tool, ok, ms, bytes, cached } = record;
        let level = if *ok { Level::Info } else { Level::Warning };
        if self.caller.wants(level) {
            let mut data = json!({ "call": format!("{server}.{tool}"), "ok": ok, "ms": ms, "bytes": bytes });
            if let Some(cached) = cached {
                data["cached"] = json!(true);
                data["age_ms"] = json!(cached.age_ms);
            }
            self.log(level, "calls", data);
        }
    }

    fn program_progress(&self, done: f64, total: f64, message: &str) {
        // The last step is always reported, but not a flood of last steps.
        let is_final = done >= total;
        let is_first_final = is_final && !self.was_final.swap(is_final, Ordering::Relaxed);
        if self.is_time() || is_first_final {
            self.was_final.store(is_final, Ordering::Relaxed);
            // The numbers of the notification include the earlier phases, because progress must increase (MCP).
            match total > 0.0 {
                true => {
                    let message = format!("{} of {} {message}", short_number(done), short_number(total));
                    self.report_progress(RUNNING + done.max(0.0), Some(RUNNING + total), message.trim_end());
                }
                false => self.report_progress(RUNNING + done.max(0.0), None, message),
            }
        }
    }
}

impl Sink for Watcher {
    fn note(&self, event: &Event<'_>) {
        match *event {
            Event::Progress(message) => self.report_progress(0.0, None, message),
            Event::Step { done, total, message } => {
                self.report_progress(0.0, None, &format!("{message} ({done} of {total})"));
            }
            Event::Phase(phase) => self.phase(phase),
            Event::Stderr(bytes) => self.stderr(bytes),
            Event::ProgramProgress { done, total, message } => self.program_progress(done, total, message),
            Event::CallEnded(_, record) => self.call_ended(record),
            _ => {}
        }
    }
}

//! What the client is told while its snippet is on the way: progress through the phases, and log messages.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use runner::Observer;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::caller::Caller;
use super::level::Level;

/// How many messages wait for a client that does not read; the rest is left out.
const MESSAGES_WAITING: usize = 1_000;

/// How often progress is told at the most, but for the beginning of a phase.
const INTERVAL: Duration = Duration::from_millis(100);

/// Most characters of a line that a program writes to standard error.
const LONGEST_LINE: usize = 2_000;

/// The program's own progress begins after the phases before it.
const RUNNING: f64 = 4.0;

/// What is to be told.
pub(crate) enum Message {
    Progress { done: f64, total: Option<f64>, message: String },
    Log { level: Level, logger: &'static str, data: Value },
}

/// Watches an execution for a client.
pub(crate) struct Watcher {
    caller: Arc<Caller>,
    messages: mpsc::Sender<Message>,
    last: Mutex<Option<Instant>>,
    calls: AtomicU64,
    /// What the program has written of a line that has no end yet.
    line: Mutex<Vec<u8>>,
}

impl Watcher {
    /// What it has to tell arrives at the receiver.
    pub(crate) fn new(caller: Arc<Caller>) -> (Self, mpsc::Receiver<Message>) {
        let (messages, receiver) = mpsc::channel(MESSAGES_WAITING);
        let (last, calls, line) = (Mutex::default(), AtomicU64::default(), Mutex::default());
        (Watcher { caller, messages, last, calls, line }, receiver)
    }

    /// A phase has begun: so many were before it.
    pub(crate) fn phase(&self, before: f64, message: &str) {
        self.tell_progress(before, None, message.to_owned());
    }

    fn tell_progress(&self, done: f64, total: Option<f64>, message: String) {
        if self.caller.wants_progress() {
            // A client that does not read misses some of it.
            let _ = self.messages.try_send(Message::Progress { done, total, message });
        }
    }

    /// Whether it is time to tell what happens all the time.
    fn is_time(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_time = last.is_none_or(|last| last.elapsed() >= INTERVAL);
        if is_time {
            *last = Some(Instant::now());
        }
        is_time
    }

    pub(crate) fn log(&self, level: Level, logger: &'static str, data: Value) {
        if self.caller.wants(level) {
            let _ = self.messages.try_send(Message::Log { level, logger, data });
        }
    }

    /// So many calls are done.
    pub(crate) fn call_done(&self) {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        if self.is_time() {
            let words = if calls == 1 { "1 call done".to_owned() } else { format!("{calls} calls done") };
            self.tell_progress(RUNNING, None, words);
        }
    }
}

/// Tells what arrives, until nothing more can.
pub(crate) async fn tell(caller: &Caller, mut messages: mpsc::Receiver<Message>) {
    while let Some(message) = messages.recv().await {
        match message {
            Message::Progress { done, total, message } => caller.progress(done, total, Some(message)).await,
            Message::Log { level, logger, data } => caller.log(level, logger, data).await,
        }
    }
}

impl Observer for Watcher {
    fn progress(&self, message: &str) {
        self.phase(0.0, message);
    }

    fn stdout(&self, _bytes: &[u8]) {}

    fn stderr(&self, bytes: &[u8]) {
        if !self.caller.wants(Level::Info) {
            return;
        }
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        for &byte in bytes {
            if byte != b'\n' {
                if line.len() < LONGEST_LINE {
                    line.push(byte);
                }
                continue;
            }
            let text = String::from_utf8_lossy(&line).into_owned();
            line.clear();
            self.log(Level::Info, "program", json!(text));
        }
    }

    fn program_progress(&self, done: f64, total: f64, message: &str) {
        if done >= total || self.is_time() {
            let total = (total > 0.0).then_some(RUNNING + total);
            self.tell_progress(RUNNING + done.max(0.0), total, message.to_owned());
        }
    }
}

//! The ends of the history in this process: [`History`] starts executions, [`RecordedExecution`] is one of them.
//!
//! Nothing here waits or fails: events go into a queue that is bounded in bytes. If it is full, because the file can't
//! be written, further events are lost, and the loss is reported once.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use database::Durability;
use serde_json::value::RawValue;
use terminal::{Masker, Notifier};
use tokio::sync::oneshot;

use crate::clock::now;
use crate::event::{Begin, Bounds, Ending, Event, NewExecution, Owner, Step};
use crate::kept::SentArguments;
use crate::tokens::{Direct, estimate};
use crate::writer;

/// Limit on what waits to be written, in bytes (32 MiB). A single event may be larger.
const MAX_WAITING: usize = 32 << 20;

/// Bytes that wait at which results are no longer copied to estimate their tokens, but counted by their size (8 MiB).
const MANY_WAITING: usize = MAX_WAITING / 4;

/// The history of this process. Clones share one writing thread.
#[derive(Debug, Clone)]
pub struct History {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    events: writer::Sender,
    /// Bytes that wait to be written.
    waiting: Arc<AtomicUsize>,
    notifier: Notifier,
    /// Whether lost events were reported.
    has_lost: AtomicBool,
}

impl History {
    /// Starts the thread that writes to `file`. It opens the file with the first execution; `notifier` learns, once,
    /// that the file can't be written.
    #[must_use]
    pub fn start(
        file: PathBuf,
        settings: &config::History,
        durability: Durability,
        notifier: Notifier,
    ) -> Self {
        let waiting = Arc::new(AtomicUsize::new(0));
        let bounds = bounds(settings);
        let events = writer::start(file, durability, bounds, waiting.clone(), &notifier);
        History { shared: Arc::new(Shared { events, waiting, notifier, has_lost: AtomicBool::new(false) }) }
    }

    /// Applies new bounds on age and size.
    pub fn configure(&self, settings: &config::History) {
        self.shared.send(Event::Bounds(bounds(settings)));
    }

    /// Records the begin of an execution.
    #[must_use]
    pub fn begin(&self, new: NewExecution, settings: &config::History, masker: Masker) -> RecordedExecution {
        let owner = Arc::new(Owner { id: new.id.clone(), masker, arguments: settings.arguments });
        let begin = Begin { owner: owner.clone(), new, at: now() };
        self.shared.send(Event::Begin(Box::new(begin)));
        RecordedExecution {
            inner: Arc::new(Inner {
                shared: self.shared.clone(),
                owner,
                output: settings.output,
                begun: Instant::now(),
                has_ended: AtomicBool::new(false),
            }),
        }
    }

    /// Waits until everything is written, at most `limit`.
    pub async fn flush(&self, limit: Duration) {
        let (sender, written) = oneshot::channel();
        self.shared.send(Event::Flush(sender));
        if tokio::time::timeout(limit, written).await.is_err() {
            self.shared
                .notifier
                .warning("the history could not be written in time: its last executions are not whole");
        }
    }
}

impl Shared {
    fn send(&self, event: Event) {
        let bytes = event.bytes();
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        if waiting > 0 && waiting.saturating_add(bytes) > MAX_WAITING {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            if !self.has_lost.swap(true, Ordering::Relaxed) {
                self.notifier.warning(&format!(
                    "more than {} MiB wait to be written to the history: executions are left out",
                    MAX_WAITING >> 20
                ));
            }
            return;
        }
        self.events.send(event, waiting.saturating_add(bytes));
    }
}

/// An execution that is recorded. Clones are the same execution; if the last one is dropped before its end, it was
/// cancelled.
#[derive(Debug, Clone)]
pub struct RecordedExecution {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    shared: Arc<Shared>,
    owner: Arc<Owner>,
    output: usize,
    begun: Instant,
    has_ended: AtomicBool,
}

impl RecordedExecution {
    /// Copies the parts of an outcome that are kept.
    #[must_use]
    pub fn ending(&self, outcome: &runner::Outcome) -> Ending {
        Ending::of(outcome, self.inner.output)
    }

    /// Records the end, with the text that the model or the user has read. Later ends have no effect.
    pub fn end(&self, ending: Ending, answer: &str) {
        self.inner.end(ending, estimate(answer));
    }

    /// Keeps what a replay needs: a JSON text without secrets.
    pub fn recording(&self, text: String) {
        self.step(Step::Recording(text));
    }

    /// Whether arguments are kept in full.
    pub(crate) fn keeps_arguments(&self) -> bool {
        self.inner.owner.arguments == config::ArgumentsKept::Full
    }

    pub(crate) fn step(&self, step: Step) {
        self.inner.step(step);
    }

    /// Milliseconds since the begin.
    pub(crate) fn elapsed(&self) -> f64 {
        (self.inner.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3
    }

    /// Returns the part of a result that the estimate of tokens needs.
    pub(crate) fn direct(&self, result: &RawValue) -> Direct {
        match self.inner.shared.waiting.load(Ordering::Relaxed) {
            waiting if waiting > MANY_WAITING => Direct::Size(result.get().len()),
            _ => Direct::of(result),
        }
    }

    pub(crate) fn arguments(&self, raw: &RawValue) -> SentArguments {
        SentArguments::of(raw, self.inner.owner.arguments)
    }
}

impl Inner {
    fn step(&self, step: Step) {
        self.shared.send(Event::Of(self.owner.clone(), step));
    }

    fn end(&self, mut ending: Ending, answer_tokens: u64) {
        if self.has_ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let elapsed = (self.begun.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        ending.total_ms.get_or_insert(elapsed);
        self.step(Step::End { at: now(), ending: Box::new(ending), answer_tokens });
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end(Ending::without_outcome("cancelled", Some("given_up"), None), 0);
    }
}

fn bounds(settings: &config::History) -> Bounds {
    let age = i64::try_from(settings.keep.as_millis()).unwrap_or(i64::MAX);
    Bounds { age, size: settings.size }
}

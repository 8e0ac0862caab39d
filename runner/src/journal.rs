//! The journal of an execution: passes events on to its sinks, in the order in which they happen.
//!
//! Sinks are chosen once, when the journal is created. They hear of each step before it happens, and can refuse it
//! ([`Begin`]); handing over an answer or an outcome is such a step. Everything else ([`Event`]) is only noted.

mod event;
mod question;
mod sent;

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::{BoxFuture, ready};
use parking_lot::{Mutex, MutexGuard, RwLock};

pub use self::event::{
    Answered, AnsweredCall, Asked, Begin, CallBegun, EndedExecution, Event, NewExecution, Outgoing, Phase,
    QuestionKind, Refused, SentCall,
};
pub use self::question::JournaledQuestion;
pub use self::sent::JournaledCall;
use crate::refused::CallsRefused;

/// The name under which reading a resource is permitted, counted and recorded.
pub const READ: &str = "mcp_resource_read";

/// Learns what happens in an execution. Every method may be called from any thread, and must not block for long.
pub trait Sink: Send + Sync {
    /// Something is about to happen. Nothing follows from it before the future is ready. Handing over the answer of a
    /// call that is cancelled, or the outcome of an execution that is dropped, does not wait for it.
    ///
    /// # Errors
    /// If it must not happen.
    fn begin<'a>(&'a self, _begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        ready(Ok(())).boxed()
    }

    /// Something has happened.
    fn note(&self, _event: &Event<'_>) {}

    /// Returns when more of the program's output can be accepted. Until then, it is not read, and a program that keeps
    /// printing blocks, as with any slow reader.
    fn takes_output(&self) -> BoxFuture<'_, ()> {
        ready(()).boxed()
    }
}

impl dyn Sink + '_ {
    /// Long work has started, described for the user.
    pub fn progress(&self, message: &str) {
        self.note(&Event::Progress(message));
    }

    /// One more step of long work is done: `done` of about `total`.
    pub fn step(&self, done: usize, total: usize, message: &str) {
        self.note(&Event::Step { done, total, message });
    }
}

/// A sink that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSink;

impl Sink for NoSink {}

/// The journal of an execution, or of a direct call. Clones are the same journal.
#[derive(Clone)]
pub struct Journal(Arc<Inner>);

/// The sinks of a journal, in the order in which they receive events.
type Sinks = Arc<[Arc<dyn Sink>]>;

struct Inner {
    /// None after the end of the owner.
    sinks: RwLock<Sinks>,
    opened: Instant,
    /// The number of the next request to a server.
    next: AtomicU64,
    /// The number of the next question to the user.
    questions: AtomicU64,
    /// The tool calls that were sent.
    calls: AtomicU64,
    refused: Mutex<CallsRefused>,
    /// Whether the execution has begun and not ended.
    is_open: AtomicBool,
}

impl Default for Journal {
    fn default() -> Self {
        Journal::new(Vec::new())
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("sinks", &self.0.sinks().len()).finish_non_exhaustive()
    }
}

impl Journal {
    /// Creates a journal for these sinks, which receive every event in this order.
    #[must_use]
    pub fn new(sinks: Vec<Arc<dyn Sink>>) -> Self {
        Journal(Arc::new(Inner {
            sinks: RwLock::new(sinks.into()),
            opened: Instant::now(),
            next: AtomicU64::new(0),
            questions: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            refused: Mutex::default(),
            is_open: AtomicBool::new(false),
        }))
    }

    /// Tells that something is about to happen.
    ///
    /// # Errors
    /// If a sink refuses it. The sinks after that one are not told.
    pub async fn begin(&self, mut begin: Begin<'_>) -> Result<(), Refused> {
        self.0.begin(&mut begin).await
    }

    /// Tells that an execution is about to begin.
    ///
    /// # Errors
    /// If a sink refuses it; then the snippet must not be run.
    pub async fn execution(&self, new: &NewExecution<'_>) -> Result<(), Refused> {
        self.begin(Begin::Execution(new)).await?;
        self.0.is_open.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Tells that the outcome of an execution is about to be handed over.
    ///
    /// # Errors
    /// If a sink refuses it; then the outcome must be withheld.
    pub async fn end(&self, status: &str, error: Option<&str>) -> Result<(), Refused> {
        self.0.end(status, error).await
    }

    /// Counts a refused call.
    pub fn refuse(&self, count: &dyn Fn(&mut CallsRefused)) {
        count(&mut self.0.refused());
    }

    fn next_question(&self) -> u64 {
        self.0.questions.fetch_add(1, Ordering::Relaxed)
    }
}

impl Sink for Journal {
    fn begin<'a>(&'a self, begin: &'a mut Begin<'_>) -> BoxFuture<'a, Result<(), Refused>> {
        self.0.begin(begin).boxed()
    }

    fn note(&self, event: &Event<'_>) {
        self.0.sinks().iter().for_each(|sink| sink.note(event));
    }

    fn takes_output(&self) -> BoxFuture<'_, ()> {
        async move {
            for sink in self.0.sinks().iter() {
                sink.takes_output().await;
            }
        }
        .boxed()
    }
}

impl Inner {
    fn sinks(&self) -> Sinks {
        self.sinks.read().clone()
    }

    async fn begin(&self, begin: &mut Begin<'_>) -> Result<(), Refused> {
        for sink in self.sinks().iter() {
            sink.begin(begin).await?;
        }
        Ok(())
    }

    /// Tells all of these sinks, although one may refuse: an end is recorded wherever it can be.
    async fn hand_over(sinks: &[Arc<dyn Sink>], mut begin: Begin<'_>) -> Result<(), Refused> {
        let mut handed = Ok(());
        for sink in sinks {
            handed = handed.and(sink.begin(&mut begin).await);
        }
        handed
    }

    async fn end(&self, status: &str, error: Option<&str>) -> Result<(), Refused> {
        self.is_open.store(false, Ordering::Relaxed);
        let (calls, duration) = (self.calls.load(Ordering::Relaxed), self.opened.elapsed());
        let refused = self.refused().clone();
        let ended = EndedExecution { status, error, calls, refused: &refused, duration };
        Self::hand_over(&self.sinks(), Begin::Outcome(&ended)).await
    }

    fn refused(&self) -> MutexGuard<'_, CallsRefused> {
        self.refused.lock()
    }
}

/// The owner of an execution's journal. If it is dropped before the end of an execution that began, its sinks learn that
/// the execution was cancelled. Then the journal lets go of them: sessions that are still being closed don't keep them.
#[derive(Debug, Default)]
pub struct OwnedJournal(Journal);

impl OwnedJournal {
    /// Creates a journal for these sinks, which receive every event in this order.
    #[must_use]
    pub fn new(sinks: Vec<Arc<dyn Sink>>) -> Self {
        OwnedJournal(Journal::new(sinks))
    }
}

impl Deref for OwnedJournal {
    type Target = Journal;

    fn deref(&self) -> &Journal {
        &self.0
    }
}

impl Drop for OwnedJournal {
    fn drop(&mut self) {
        let Journal(inner) = &self.0;
        if inner.is_open.load(Ordering::Relaxed) {
            // Nobody is left to wait for it or to be refused.
            let _ = inner.end("cancelled", Some("given_up")).now_or_never();
        }
        *inner.sinks.write() = Sinks::default();
    }
}

//! What all sessions of the server have in common, and what changes in it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::broadcast;

/// How many changes may wait for a session that does not look.
const WAITING: usize = 64;

/// Something that clients are told.
#[derive(Clone)]
pub(crate) enum Change {
    Tools,
    Prompts,
    /// The resource with this address.
    Resource(String),
}

/// The state of the server.
pub(crate) struct ServerState {
    changes: broadcast::Sender<Change>,
    tool_changes: AtomicU64,
    extra_prompt: AtomicBool,
    cancelled: AtomicU64,
}

impl ServerState {
    /// One that nobody has changed, without the prompt that comes and goes.
    pub(crate) fn new() -> Self {
        Self {
            changes: broadcast::channel(WAITING).0,
            tool_changes: AtomicU64::new(0),
            extra_prompt: AtomicBool::new(false),
            cancelled: AtomicU64::new(0),
        }
    }

    /// All changes from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Changes something and tells everybody.
    pub(crate) fn change(&self, change: Change) {
        match change {
            Change::Tools => drop(self.tool_changes.fetch_add(1, Ordering::Relaxed)),
            Change::Prompts => drop(self.extra_prompt.fetch_not(Ordering::Relaxed)),
            Change::Resource(_) => {}
        }
        // Nobody need be listening.
        let _ = self.changes.send(change);
    }

    /// How often the list of tools was changed.
    pub(crate) fn tool_changes(&self) -> u64 {
        self.tool_changes.load(Ordering::Relaxed)
    }

    /// Whether the prompt that comes and goes is there.
    pub(crate) fn has_extra_prompt(&self) -> bool {
        self.extra_prompt.load(Ordering::Relaxed)
    }

    /// Counts a call that was cancelled.
    pub(crate) fn count_cancelled(&self) {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
        self.change(Change::Resource(crate::resources::CANCELLED.to_owned()));
    }

    /// How many calls were cancelled so far.
    pub(crate) fn cancelled(&self) -> u64 {
        self.cancelled.load(Ordering::Relaxed)
    }
}

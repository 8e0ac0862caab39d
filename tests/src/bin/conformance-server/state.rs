//! The state shared by all sessions, and its changes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rmcp::task_manager::TaskManager;
use tokio::sync::broadcast;

/// Limit on pending changes per session.
const WAITING: usize = 64;

/// A change that clients are notified of.
#[derive(Clone)]
pub(crate) enum Change {
    Tools,
    Prompts,
    Resources,
    /// The resource with this URI.
    Resource(String),
}

/// The server's state.
pub(crate) struct ServerState {
    changes: broadcast::Sender<Change>,
    tool_changes: AtomicU64,
    extra_prompt: AtomicBool,
    cancelled: AtomicU64,
    tasks: TaskManager,
}

impl ServerState {
    /// The initial state, without the optional prompt.
    pub(crate) fn new() -> Self {
        Self {
            changes: broadcast::channel(WAITING).0,
            tool_changes: AtomicU64::new(0),
            extra_prompt: AtomicBool::new(false),
            cancelled: AtomicU64::new(0),
            tasks: TaskManager::new(),
        }
    }

    /// The tasks of all clients.
    pub(crate) fn tasks(&self) -> &TaskManager {
        &self.tasks
    }

    /// Subscribes to changes.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Applies a change and notifies all sessions.
    pub(crate) fn change(&self, change: Change) {
        match change {
            Change::Tools => drop(self.tool_changes.fetch_add(1, Ordering::Relaxed)),
            Change::Prompts => drop(self.extra_prompt.fetch_not(Ordering::Relaxed)),
            Change::Resources | Change::Resource(_) => {}
        }
        // There may be no subscribers.
        let _ = self.changes.send(change);
    }

    /// The number of changes to the tool list.
    pub(crate) fn tool_changes(&self) -> u64 {
        self.tool_changes.load(Ordering::Relaxed)
    }

    /// Whether the optional prompt exists.
    pub(crate) fn has_extra_prompt(&self) -> bool {
        self.extra_prompt.load(Ordering::Relaxed)
    }

    /// Counts a cancelled call.
    pub(crate) fn count_cancelled(&self) {
        self.cancelled.fetch_add(1, Ordering::Relaxed);
        self.change(Change::Resource(crate::resources::CANCELLED.to_owned()));
    }

    /// The number of calls cancelled so far.
    pub(crate) fn cancelled(&self) -> u64 {
        self.cancelled.load(Ordering::Relaxed)
    }
}

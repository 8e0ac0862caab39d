//! The host of servers' questions and notes: this library declines what servers ask, and passes on only progress.

use std::sync::Arc;

use gateway::session_host::SessionHost;
use mcp::{Host, Notice};
use terminal::{Notifier, Terminal};
use tokio::sync::watch;

use crate::Event;
use crate::event::Listener;

/// Answers no question of a server.
pub(crate) struct QuietHost {
    listeners: Vec<Arc<dyn Listener>>,
    notifier: Notifier,
    questions: watch::Sender<usize>,
}

impl QuietHost {
    /// Passes the progress of calls on to these listeners.
    pub(crate) fn new(listeners: Vec<Arc<dyn Listener>>) -> Self {
        QuietHost { listeners, notifier: Terminal::silent().notifier(), questions: watch::Sender::default() }
    }
}

impl Host for QuietHost {
    fn notice(&self, server: &str, notice: &Notice) {
        let Notice::Progress { done, total, message } = notice else { return };
        for listener in &self.listeners {
            let (server, message) = (server.to_owned(), message.clone().unwrap_or_default());
            listener.happened(Event::ToolProgress { server, done: *done, total: *total, message });
        }
    }
}

impl SessionHost for QuietHost {
    fn questions(&self) -> watch::Receiver<usize> {
        self.questions.subscribe()
    }

    fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }
}

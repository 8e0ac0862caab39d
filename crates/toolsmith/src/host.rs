//! The host of servers' questions and notes: this library shows nothing, and declines what servers ask.

use gateway::session_host::SessionHost;
use mcp::Host;
use terminal::{Notifier, Terminal};
use tokio::sync::watch;

/// Answers no question of a server.
pub(crate) struct QuietHost {
    notifier: Notifier,
    questions: watch::Sender<usize>,
}

impl QuietHost {
    pub(crate) fn new() -> Self {
        QuietHost { notifier: Terminal::silent().notifier(), questions: watch::Sender::default() }
    }
}

impl Host for QuietHost {}

impl SessionHost for QuietHost {
    fn questions(&self) -> watch::Receiver<usize> {
        self.questions.subscribe()
    }

    fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }
}

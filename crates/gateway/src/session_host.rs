//! The interface between the sessions of an execution and its client or terminal.

use mcp::Host;
use terminal::Notifier;
use tokio::sync::watch;

/// The client or terminal behind the sessions of an execution: answers servers' questions and shows notes.
pub trait SessionHost: Host {
    /// The number of servers' questions that are open. Time limits are paused while there are any.
    fn questions(&self) -> watch::Receiver<usize>;

    /// Shows notes to the user.
    fn notifier(&self) -> Notifier;

    /// Whether a user waits for the sessions at a terminal or for a command.
    fn shows_waits(&self) -> bool {
        false
    }
}

/// Counts an open question. Dropping it ends the count.
pub struct Waiting<'a>(&'a watch::Sender<usize>);

impl<'a> Waiting<'a> {
    /// Counts one more in `questions`.
    pub fn new(questions: &'a watch::Sender<usize>) -> Self {
        questions.send_modify(|open| *open += 1);
        Waiting(questions)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

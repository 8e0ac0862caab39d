//! Who is behind the sessions of an execution.

use mcp::Host;
use terminal::Notifier;
use tokio::sync::watch;

/// Whoever is behind the sessions of an execution: asked by servers, and told what there is to tell.
pub trait SessionHost: Host {
    /// How many questions of servers are open, and each change of it: meanwhile no time limit runs.
    fn questions(&self) -> watch::Receiver<usize>;

    /// What tells people something.
    fn notifier(&self) -> Notifier;
}

/// A person is waited for. Dropping it ends that.
pub struct Waiting<'a>(&'a watch::Sender<usize>);

impl<'a> Waiting<'a> {
    /// Counted in `questions`.
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

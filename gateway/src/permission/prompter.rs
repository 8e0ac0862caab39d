//! How a person is reached, and what they may answer.

use std::time::Duration;

use futures::future::BoxFuture;

use super::question::Question;
use super::refusal::Reason;

/// What a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// This once: this program, or this call.
    Once,
    /// As long as this process lives.
    Session,
    /// From now on.
    Always,
    /// No, or no answer.
    No,
    /// There is nobody to ask.
    Nobody,
    /// Nobody answered within this time.
    Late(Duration),
    /// Too many questions are open already.
    Busy,
}

/// Puts questions to a person.
pub trait Prompter: Send + Sync {
    /// Whether there is anybody to ask.
    fn is_there(&self) -> bool;

    /// Why nothing may be called where nobody is there.
    fn absence(&self) -> Reason {
        Reason::NoTerminal
    }

    /// Puts a question, one at a time, and waits as long as the answer takes. Dropping the future withdraws it.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

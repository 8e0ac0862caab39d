//! The interface for asking the user, and the possible answers.

use std::time::Duration;

use futures::future::BoxFuture;

use super::question::Question;
use super::refusal::Reason;
use super::remembered::AnsweredBy;

/// The answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Allowed once: this program, or this call.
    Once,
    /// Allowed until this process ends.
    Session,
    /// Allowed from now on.
    Always,
    /// To be decided for each server: further questions follow, see [`Question::offers_choice`].
    Choose,
    /// Refused.
    No,
    /// Declined or cancelled by a client, perhaps without its user.
    Declined,
    /// No user can be asked.
    Nobody,
    /// The question was not answered within this time.
    Late(Duration),
    /// Too many questions are already open.
    Busy,
}

impl Answer {
    /// The answer in a word, as the history has it.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Once => "once",
            Answer::Session => "session",
            Answer::Always => "always",
            Answer::Choose => "choose",
            Answer::No => "no",
            Answer::Declined => "declined",
            Answer::Nobody => "nobody",
            Answer::Late(_) => "late",
            Answer::Busy => "busy",
        }
    }

    /// The person or part that gave the answer, if `answerer` was asked.
    pub fn by(self, answerer: AnsweredBy) -> &'static str {
        match self {
            Answer::Nobody | Answer::Late(_) | Answer::Busy => "nobody",
            _ => answerer.word(),
        }
    }
}

/// Asks the user questions.
pub trait Prompter: Send + Sync {
    /// Whether a user can be asked.
    fn is_there(&self) -> bool;

    /// The reason for a refusal if no user can be asked.
    fn absence(&self) -> Reason {
        Reason::NoTerminal
    }

    /// The reason for a refusal if a question was not answered within `limit`.
    fn lateness(&self, limit: Duration) -> Reason {
        Reason::Late(limit)
    }

    /// Where the user gave the latest answer.
    fn answered_by(&self) -> AnsweredBy {
        AnsweredBy::Terminal
    }

    /// Asks one question at a time, and waits for the answer without a time limit. Dropping the future withdraws the
    /// question.
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer>;
}

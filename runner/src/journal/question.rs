//! A question to the user, whose answer is noted when it is there.

use super::{Answered, Asked, Event, Journal, QuestionKind, Sink as _};

/// A question that was noted. Dropping it withdraws it.
#[derive(Debug)]
pub struct JournaledQuestion {
    journal: Journal,
    number: u64,
    about: QuestionKind,
    tools: Vec<String>,
}

impl Journal {
    /// Notes a question, as it is shown, and without the arguments of a call; `tools` are `server.tool`, or the server of
    /// a server's question.
    #[must_use]
    pub fn ask(&self, about: QuestionKind, tools: Vec<String>, text: &str, short: &str) -> JournaledQuestion {
        let number = self.next_question();
        self.note(&Event::Asked(&Asked { number, about, tools: &tools, text, short }));
        JournaledQuestion { journal: self.clone(), number, about, tools }
    }
}

impl JournaledQuestion {
    /// Notes the answer, and who gave it: `terminal`, `client`, `page` or `nobody`.
    pub fn answered(self, answer: &'static str, by: &'static str) {
        let JournaledQuestion { journal, number, about, tools } = self;
        journal.note(&Event::Answered(&Answered { number, about, tools: &tools, answer, by }));
    }
}

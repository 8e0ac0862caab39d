//! A question to the user, whose answer is noted when it is there.

use super::{Answered, Asked, Event, Journal, QuestionKind, Sink as _};

/// A question that was noted. Dropping it withdraws it.
#[derive(Debug)]
pub struct JournaledQuestion {
    journal: Journal,
    number: u64,
    about: QuestionKind,
    tools: Vec<String>,
    flows: Vec<String>,
}

impl Journal {
    /// Notes a question, as it is shown, and without the arguments of a call; `tools` are `server.tool`, or the server of
    /// a server's question.
    #[must_use]
    pub fn ask(&self, about: QuestionKind, tools: Vec<String>, text: &str, short: &str) -> JournaledQuestion {
        let number = self.next_question();
        self.note(&Event::Asked(&Asked { number, about, tools: &tools, text, short }));
        JournaledQuestion { journal: self.clone(), number, about, tools, flows: Vec::new() }
    }
}

impl JournaledQuestion {
    /// The question is also about flows, which these lines describe.
    #[must_use]
    pub fn about_flows(self, flows: Vec<String>) -> Self {
        JournaledQuestion { flows, ..self }
    }

    /// Notes the answer, and who gave it: `terminal`, `client`, `page`, `configuration` or `nobody`.
    pub fn answered(self, answer: &'static str, by: &'static str) {
        let JournaledQuestion { journal, number, about, tools, flows } = self;
        journal.note(&Event::Answered(&Answered { number, about, tools: &tools, flows: &flows, answer, by }));
    }
}

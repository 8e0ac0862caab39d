//! Records questions about permissions, and their answers.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::permission::{Answer, AnsweredBy, Prompter, Question, Reason, RequestedTool};
use history::{Asked, RecordedExecution};

/// Passes questions on to another prompter, and records them.
pub struct RecordedPrompter<P> {
    prompter: P,
    execution: Option<RecordedExecution>,
    /// The answerer: `terminal`, `client` or `page`.
    by: &'static str,
}

impl<P: Prompter> RecordedPrompter<P> {
    /// Records the questions of this execution, if it is kept.
    pub fn new(prompter: P, execution: Option<RecordedExecution>, by: &'static str) -> Self {
        RecordedPrompter { prompter, execution, by }
    }
}

/// A question as it is kept: the arguments of a call only if arguments are kept in full.
fn asked(question: &Question, execution: &RecordedExecution) -> Asked {
    let tools = question.tools().iter().map(RequestedTool::name).collect();
    match question {
        Question::Program { .. } => Asked { about: "program", tools, text: question.text() },
        Question::Call { .. } if execution.keeps_arguments() => {
            Asked { about: "call", tools, text: question.text() }
        }
        Question::Call { tool: [tool], .. } => {
            let text = format!("A call needs your permission: {}", printable::name(&tool.name()));
            Asked { about: "call", tools, text }
        }
    }
}

fn word(answer: Answer) -> &'static str {
    match answer {
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

impl<P: Prompter> Prompter for RecordedPrompter<P> {
    fn is_there(&self) -> bool {
        self.prompter.is_there()
    }

    fn absence(&self) -> Reason {
        self.prompter.absence()
    }

    fn lateness(&self, limit: Duration) -> Reason {
        self.prompter.lateness(limit)
    }

    fn answered_by(&self) -> AnsweredBy {
        self.prompter.answered_by()
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        let Some(execution) = &self.execution else { return self.prompter.ask(question) };
        async move {
            let number = execution.asked(asked(question, execution));
            let answer = self.prompter.ask(question).await;
            let by = match answer {
                Answer::Nobody | Answer::Late(_) | Answer::Busy => "nobody",
                _ => self.by,
            };
            execution.answered(number, word(answer), by);
            answer
        }
        .boxed()
    }
}

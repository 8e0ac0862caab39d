//! The local page, for the questions of one request.

use std::sync::Arc;

use gateway::permission::Answer;
use mcp::form::Field;
use serde_json::Value;
use terminal::Notifier;

use crate::open_questions::{Asker, Offer, OpenQuestions, Shown};

/// The local page, and who asks there.
pub(crate) struct PagePrompt {
    pub(crate) questions: Arc<OpenQuestions>,
    pub(crate) asker: Arc<Asker>,
    pub(crate) notifier: Notifier,
}

impl PagePrompt {
    /// Whether it answers the questions of clients that can't ask their user.
    pub(crate) fn answers(&self) -> bool {
        self.questions.is_answered_here()
    }

    /// Asks a question with these answers, and waits without a time limit.
    pub(crate) async fn ask(&self, text: String, offers: Vec<Offer>) -> Answer {
        self.notifier.note("a question about a permission waits for you on the page (--ui)");
        self.questions.ask(self.asker.clone(), text, offers).await
    }

    /// Asks for the fields of a server's form, and waits for MCP's `ElicitResult` without a time limit.
    pub(crate) async fn fill_in(&self, text: String, fields: Vec<Field>) -> Value {
        self.notifier.note("a question of a server waits for you on the page (--ui)");
        self.questions.fill_in(self.asker.clone(), text, fields).await
    }

    /// Shows a question that the client's user is asked, until the result is dropped.
    pub(crate) fn show(&self, text: String) -> Shown<'_> {
        self.questions.show(self.asker.clone(), text)
    }
}

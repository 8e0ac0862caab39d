//! The interface between the sessions of an execution and its client or terminal.

use mcp::{Host, QuestionError};
use runner::{Journal, QuestionKind};
use serde_json::Value;
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

/// Maximum length of a server's question that is noted, in characters.
const TEXT: usize = 2_000;

/// Notes a server's question with this text in the journal, and its answer in a word: by `by`, or by nobody.
pub async fn noted(
    journal: &Journal,
    (server, text): (&str, &Value),
    by: &'static str,
    answer: impl Future<Output = Result<Value, QuestionError>>,
    word: fn(&Value) -> &'static str,
) -> Result<Value, QuestionError> {
    let text: String = text.as_str().unwrap_or_default().chars().take(TEXT).collect();
    let asked = journal.ask(QuestionKind::Server, vec![server.to_owned()], &text, &text);
    let answer = answer.await;
    match &answer {
        Ok(answer) => asked.answered(word(answer), by),
        Err(_) => asked.answered("unanswered", "nobody"),
    }
    answer
}

/// The action of an `ElicitResult` (MCP).
pub fn action(answer: &Value) -> &'static str {
    match answer["action"].as_str() {
        Some("accept") => "accept",
        Some("decline") => "decline",
        _ => "cancel",
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

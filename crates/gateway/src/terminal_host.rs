//! The terminal as a host of servers: the user answers their elicitations, and sees their log lines.

mod elicitation;
pub mod login;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Host, Notice, QuestionError};
use parking_lot::Mutex;
use runner::Journal;
use serde_json::Value;
use tokio::sync::watch;

use terminal::{AskAgain, Notifier, Terminal, TerminalPrompt};

use crate::session_host::{self, SessionHost, Waiting};

/// Maximum number of lines of a server in [`WINDOW`]; further ones are counted.
const LINE_LIMIT: u32 = 200;
const WINDOW: Duration = Duration::from_secs(1);

/// Maximum length of a server's line, in characters.
const LINE_LENGTH: usize = 2_000;

/// The user at the terminal, as a host of servers.
pub struct TerminalHost {
    notifier: Notifier,
    prompt: TerminalPrompt,
    /// Has the questions of servers in an execution.
    journal: Journal,
    /// The number of open questions, which pause time limits.
    questions: watch::Sender<usize>,
    /// The recent lines of each server.
    log_rates: Mutex<HashMap<String, LogRate>>,
}

/// The number of a server's lines since the window started.
struct LogRate {
    since: Instant,
    lines: u32,
}

impl TerminalHost {
    /// Creates a host for the terminal of this process, if it has one.
    pub fn at(terminal: &Terminal) -> Arc<Self> {
        TerminalHost::of_execution(terminal, Journal::default())
    }

    /// Creates a host for an execution with this journal.
    pub fn of_execution(terminal: &Terminal, journal: Journal) -> Arc<Self> {
        Arc::new(TerminalHost {
            journal,
            notifier: terminal.notifier(),
            prompt: terminal.prompt(),
            questions: watch::Sender::default(),
            log_rates: Mutex::default(),
        })
    }

    /// Asks a question, and returns whether the user says yes. Without a user, the answer is no.
    pub async fn confirm(&self, question: &str) -> bool {
        let _waiting = self.wait_for_user();
        self.prompt.confirm(question).await
    }

    /// Asks a question, like [`TerminalPrompt::answer`].
    pub async fn answer<T>(
        &self,
        question: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<T, AskAgain>,
    ) -> Option<T> {
        let _waiting = self.wait_for_user();
        self.prompt.answer(question, prompt, read).await
    }

    /// Pauses time limits until the result is dropped.
    pub fn wait_for_user(&self) -> Waiting<'_> {
        Waiting::new(&self.questions)
    }

    /// Shows a line, unless the server sends too many.
    fn show(&self, server: &str, line: &str) {
        let mut all = self.log_rates.lock();
        let rate =
            all.entry(server.to_owned()).or_insert_with(|| LogRate { since: Instant::now(), lines: 0 });
        if rate.since.elapsed() >= WINDOW {
            if let Some(left_out) = rate.lines.checked_sub(LINE_LIMIT).filter(|lines| *lines > 0) {
                self.notifier.note(&format!("{server}: left out {}", report::count(left_out, "line")));
            }
            *rate = LogRate { since: Instant::now(), lines: 0 };
        }
        rate.lines = rate.lines.saturating_add(1);
        if rate.lines <= LINE_LIMIT {
            let line: String = line.chars().take(LINE_LENGTH).collect();
            self.notifier.note(&format!("{server}: {}", printable::prose(&line)));
        }
    }
}

impl SessionHost for TerminalHost {
    fn questions(&self) -> watch::Receiver<usize> {
        self.questions.subscribe()
    }

    fn notifier(&self) -> Notifier {
        self.notifier.clone()
    }

    fn shows_waits(&self) -> bool {
        true
    }
}

impl Host for TerminalHost {
    fn elicits(&self) -> bool {
        self.prompt.is_there()
    }

    fn elicits_by_url(&self) -> bool {
        self.prompt.is_there()
    }

    fn elicit<'a>(
        &'a self,
        server: &'a str,
        parameters: Value,
    ) -> BoxFuture<'a, Result<Value, QuestionError>> {
        async move {
            let _waiting = self.wait_for_user();
            let text = &parameters["message"];
            let answer = elicitation::elicit(&self.prompt, server, &parameters);
            session_host::noted(&self.journal, (server, text), "terminal", answer, session_host::action).await
        }
        .boxed()
    }

    fn shows_stderr(&self) -> bool {
        self.notifier.is_verbose()
    }

    fn notice(&self, server: &str, notice: &Notice) {
        match notice {
            // Otherwise, a failure of the server shows its last lines.
            Notice::Stderr(line) if self.notifier.is_verbose() => self.show(server, line),
            Notice::Stray(line) => {
                self.show(
                    server,
                    &format!("wrote a line to standard output that is not an MCP message: {line}"),
                );
            }
            // These levels are for debugging a server.
            Notice::Log { level, .. } if matches!(level.as_str(), "debug" | "info") => {}
            Notice::Log { level, logger, data } => {
                let text = text_of(data).map_or_else(|| data.to_string(), str::to_owned);
                let logger = logger.as_deref().map(|logger| format!(" {logger}")).unwrap_or_default();
                self.show(server, &format!("[{level}{logger}] {text}"));
            }
            _ => {}
        }
    }
}

/// The text of a log message's data: the data itself, or a member that says what happened. A subagent's events have it
/// in their payload; of these, the first line is enough, because the events themselves are shown too.
fn text_of(data: &Value) -> Option<&str> {
    let text = |member: &&str| data.pointer(member)?.as_str();
    let own = ["", "/message", "/error"].iter().find_map(text);
    own.or_else(|| {
        let members = ["/payload/error", "/payload/why", "/payload/message", "/payload/text"];
        members.iter().find_map(text)?.lines().next()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::text_of;

    #[test]
    fn a_log_message_is_shown_as_its_text() {
        let failed =
            json!({ "event": "end", "runId": "1", "payload": { "status": "error", "error": "no key" } });
        for (data, text) in [
            (json!("plain"), Some("plain")),
            (json!({ "message": "it broke", "code": 3 }), Some("it broke")),
            (failed, Some("no key")),
            (
                json!({ "event": "tool_result", "payload": { "text": "error[E0599]\n --> 1:1" } }),
                Some("error[E0599]"),
            ),
            (json!({ "a": 1 }), None),
            (json!(3), None),
        ] {
            assert_eq!(text_of(&data), text, "{data}");
        }
    }
}

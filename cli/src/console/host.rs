//! The console as servers see it: the person at its terminal, who is asked whether tools may be called, and whatever
//! servers ask; what is told meanwhile is shown as lines.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Host, Notice, ProgressMade};
use serde_json::{Value, json};
use server::client_host::ASKED_BY;
use terminal::Terminal;
use tokio_util::sync::CancellationToken;

use super::style::{Style, TextStyle};
use crate::commands::mcp::short;
use crate::terminal_host::TerminalHost;

/// Most characters of a line, and most lines in [`WINDOW`]; further ones are counted.
const LINE: usize = 500;
const MOST_LINES: u32 = 100;
const WINDOW: Duration = Duration::from_secs(1);

/// How long a call says nothing of how far it is at first, and between two times.
const PATIENCE: Duration = Duration::from_secs(2);

/// The person at the terminal.
pub(crate) struct ConsoleHost {
    person: Arc<TerminalHost>,
    terminal: Arc<Terminal>,
    style: Style,
    /// Ends the questions of the turn that is given up.
    turn: Mutex<CancellationToken>,
    told: Mutex<LogRate>,
    progress: Mutex<Option<Instant>>,
}

/// How much was told since the window began.
struct LogRate {
    since: Instant,
    lines: u32,
}

impl ConsoleHost {
    pub(crate) fn new(terminal: Arc<Terminal>, style: Style) -> Arc<Self> {
        // Before the first turn a line is edited at the same terminal, and nobody is asked.
        let no_turn = CancellationToken::new();
        no_turn.cancel();
        Arc::new(ConsoleHost {
            person: TerminalHost::at(&terminal),
            terminal,
            style,
            turn: Mutex::new(no_turn),
            told: Mutex::new(LogRate { since: Instant::now(), lines: 0 }),
            progress: Mutex::default(),
        })
    }

    /// A turn begins; its questions end with the token.
    pub(crate) fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *lock(&self.turn) = token.clone();
        *lock(&self.progress) = Some(Instant::now());
        token
    }

    /// How far a call is: now and then, for a person.
    pub(crate) fn progress(&self, tool: &str, made: &ProgressMade) {
        let Some(message) = made.message.as_deref().filter(|message| !message.is_empty()) else { return };
        let mut last = lock(&self.progress);
        if last.is_none_or(|last| last.elapsed() < PATIENCE) {
            return;
        }
        *last = Some(Instant::now());
        drop(last);
        self.line(&format!("{tool}: {message}"));
    }

    /// A line that matters less, unless there are too many.
    fn line(&self, text: &str) {
        let mut told = lock(&self.told);
        if told.since.elapsed() >= WINDOW {
            let left_out = told.lines.saturating_sub(MOST_LINES);
            *told = LogRate { since: Instant::now(), lines: 0 };
            if left_out > 0 {
                self.terminal.note(&format!("{left_out} lines are left out"));
            }
        }
        told.lines = told.lines.saturating_add(1);
        if told.lines <= MOST_LINES && !self.terminal.is_quiet() {
            self.terminal.show(&self.style.paint(TextStyle::Dim, &format!("  · {}", short(text, LINE))));
        }
    }

    /// Whether a tool may be called: this process's own question, whose form has one field.
    async fn permission(&self, parameters: &Value) -> Value {
        let is_offered = |answer: &str| offers(parameters, answer);
        let offered = if is_offered("session") {
            "[y] yes, this once  [s] every time in this session  [n] no: "
        } else {
            "[y] yes, this once  [n] no: "
        };
        let message = parameters["message"].as_str().unwrap_or_default();
        let read = |answer: &str| match answer {
            "y" | "Y" | "yes" => Ok("once"),
            "s" | "S" if is_offered("session") => Ok("session"),
            "n" | "N" | "no" => Ok("no"),
            _ => Err(String::new()),
        };
        match self.person.answer(&format!("{message}\n"), offered, read).await {
            Some(answer) => json!({ "action": "accept", "content": { "answer": answer } }),
            None => json!({ "action": "cancel" }),
        }
    }

    async fn answer(&self, parameters: Value) -> Result<Value, String> {
        let prompter = parameters["_meta"][ASKED_BY].as_str().map(str::to_owned);
        match prompter {
            None if is_permission(&parameters) => Ok(self.permission(&parameters).await),
            server => self.person.elicit(server.as_deref().unwrap_or("?"), parameters).await,
        }
    }
}

impl Host for ConsoleHost {
    fn elicits(&self) -> bool {
        self.person.elicits()
    }

    fn elicits_by_url(&self) -> bool {
        self.person.elicits_by_url()
    }

    fn elicit<'a>(&'a self, _: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, String>> {
        let turn = lock(&self.turn).clone();
        async move {
            tokio::select! {
                biased;
                () = turn.cancelled() => Ok(json!({ "action": "cancel" })),
                answer = self.answer(parameters) => answer,
            }
        }
        .boxed()
    }

    fn notice(&self, _: &str, notice: &Notice) {
        let Notice::Log { level, logger, data } = notice else { return };
        let logger = logger.as_deref().unwrap_or_default();
        match (level.as_str(), logger) {
            ("debug", _) => {}
            (_, "calls") => self.line(&call(data)),
            // The console tells itself which servers are there.
            ("warning", "toolsmith") => {}
            ("info", "program") => self.line(&text(data)),
            // What is told for those who debug a server stays with them.
            ("info", _) => {}
            _ => self.line(&format!("[{level} {logger}] {}", text(data))),
        }
    }
}

/// Whether a question is this process's own.
fn is_permission(parameters: &Value) -> bool {
    offers(parameters, "once") && offers(parameters, "no")
}

fn offers(parameters: &Value, answer: &str) -> bool {
    let answers = &parameters["requestedSchema"]["properties"]["answer"]["enum"];
    answers.as_array().is_some_and(|known| known.iter().any(|one| one == answer))
}

/// A call of a program, in words.
fn call(data: &Value) -> String {
    let name = data["call"].as_str().unwrap_or("a call");
    let how = if data["ok"] == true { "" } else { " failed" };
    format!("{name}{how}, {} ms", data["ms"])
}

fn text(data: &Value) -> String {
    data.as_str().map_or_else(|| data.to_string(), str::to_owned)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_in_words() {
        assert_eq!(call(&json!({ "call": "shop.find", "ok": true, "ms": 12.5 })), "shop.find, 12.5 ms");
        assert_eq!(call(&json!({ "call": "shop.find", "ok": false, "ms": 1 })), "shop.find failed, 1 ms");
    }

    #[test]
    fn only_a_form_with_these_answers_is_about_permission() {
        let form = |answers: &[&str]| json!({ "requestedSchema": { "properties": { "answer": { "enum": answers } } } });
        assert!(is_permission(&form(&["once", "session", "no"])));
        assert!(offers(&form(&["once", "session", "no"]), "session"));
        assert!(!is_permission(&form(&["yes", "no"])));
        assert!(!is_permission(&json!({ "message": "once or no?" })));
    }
}

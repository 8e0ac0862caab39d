//! The console as a host of servers: asks the user for permissions and answers to elicitations, and shows notifications
//! as lines.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gateway::terminal_host::TerminalHost;
use mcp::{Host, Notice, ProgressMade, QuestionError};
use parking_lot::Mutex;
use report::short_number;
use serde_json::{Value, json};
use server::client_host::ASKED_BY;
use server::definitions::EXECUTE;
use terminal::table::short;
use terminal::{AskAgain, Terminal};
use tokio_util::sync::CancellationToken;

use super::style::{Style, TextStyle};
use super::turn_status::TurnStatus;

/// Maximum length of a line, in characters, and maximum number of lines in [`WINDOW`]; further ones are counted.
const LINE: usize = 500;
const LINE_LIMIT: u32 = 100;
const WINDOW: Duration = Duration::from_secs(1);

/// Minimum time before the first progress line of a turn, and between two of them.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(2);

/// The user at the terminal.
pub(crate) struct ConsoleHost {
    user: Arc<TerminalHost>,
    terminal: Arc<Terminal>,
    style: Style,
    /// Cancels the questions of the current turn.
    turn: Mutex<CancellationToken>,
    log_rate: Mutex<LogRate>,
    progress: Mutex<Option<Instant>>,
    status: Arc<TurnStatus>,
}

/// The number of lines since the window started.
struct LogRate {
    since: Instant,
    lines: u32,
}

impl ConsoleHost {
    pub(crate) fn new(terminal: Arc<Terminal>, style: Style, status: Arc<TurnStatus>) -> Arc<Self> {
        // No questions before the first turn, because a line is edited at the same terminal.
        let no_turn = CancellationToken::new();
        no_turn.cancel();
        Arc::new(ConsoleHost {
            user: TerminalHost::at(&terminal),
            terminal,
            style,
            turn: Mutex::new(no_turn),
            log_rate: Mutex::new(LogRate { since: Instant::now(), lines: 0 }),
            progress: Mutex::default(),
            status,
        })
    }

    /// Starts a turn, and returns the token that cancels its questions.
    pub(crate) fn begin(&self) -> CancellationToken {
        let token = CancellationToken::new();
        *self.turn.lock() = token.clone();
        *self.progress.lock() = Some(Instant::now());
        token
    }

    /// Shows the progress of a call: in the status line, or in a line at most once per interval.
    pub(crate) fn progress(&self, tool: &str, made: &ProgressMade) {
        let made = progress(tool, made);
        if made.is_empty() {
            return;
        }
        if self.terminal.has_status() {
            return self.status.set_progress(&short(&made, LINE));
        }
        let mut last = self.progress.lock();
        if last.is_none_or(|last| last.elapsed() < PROGRESS_INTERVAL) {
            return;
        }
        *last = Some(Instant::now());
        drop(last);
        self.line(&format!("{tool}: {made}"));
    }

    /// Shows a dimmed line, unless there were too many.
    fn line(&self, text: &str) {
        let mut rate = self.log_rate.lock();
        if rate.since.elapsed() >= WINDOW {
            let left_out = rate.lines.saturating_sub(LINE_LIMIT);
            *rate = LogRate { since: Instant::now(), lines: 0 };
            if left_out > 0 {
                self.terminal.note(&format!("left out {}", report::count(left_out, "line")));
            }
        }
        rate.lines = rate.lines.saturating_add(1);
        if rate.lines <= LINE_LIMIT && !self.terminal.is_quiet() {
            self.terminal.show(&self.style.paint(TextStyle::Dim, &format!("  · {}", short(text, LINE))));
        }
    }

    /// Asks whether to allow a call. The question is this process's own elicitation, whose form has one field.
    async fn permission(&self, parameters: &Value) -> Value {
        let is_offered = |answer: &str| offers(parameters, answer);
        let session = if is_offered("session") { "[s] yes, in this session  " } else { "" };
        let choice = if is_offered("choose") { "[c] choose for each server  " } else { "" };
        let choices = format!("[y] yes, once  {session}{choice}[n] no: ");
        let message = parameters["message"].as_str().unwrap_or_default();
        let read = |answer: &str| match answer {
            "y" | "Y" | "yes" => Ok("once"),
            "s" | "S" if is_offered("session") => Ok("session"),
            "c" | "C" if is_offered("choose") => Ok("choose"),
            "n" | "N" | "no" => Ok("no"),
            _ => Err(AskAgain("type one of the letters in brackets\n".to_owned())),
        };
        match self.user.answer(&format!("{message}\n"), &choices, read).await {
            Some(answer) => json!({ "action": "accept", "content": { "answer": answer } }),
            None => json!({ "action": "cancel" }),
        }
    }

    async fn answer(&self, parameters: Value) -> Result<Value, QuestionError> {
        let prompter = parameters["_meta"][ASKED_BY].as_str().map(str::to_owned);
        match prompter {
            None if is_permission(&parameters) => Ok(self.permission(&parameters).await),
            server => self.user.elicit(server.as_deref().unwrap_or("?"), parameters).await,
        }
    }
}

impl Host for ConsoleHost {
    fn elicits(&self) -> bool {
        self.user.elicits()
    }

    fn elicits_by_url(&self) -> bool {
        self.user.elicits_by_url()
    }

    fn elicit<'a>(&'a self, _: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, QuestionError>> {
        let turn = self.turn.lock().clone();
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
            // The console reports changes of servers itself.
            ("warning", "toolsmith") => {}
            ("info", "program") => self.line(&text(data)),
            // Other messages at this level are for debugging a server.
            ("info", _) => {}
            _ => self.line(&format!("[{level} {logger}] {}", text(data))),
        }
    }
}

/// Whether an elicitation is this process's own question for permission.
fn is_permission(parameters: &Value) -> bool {
    offers(parameters, "once") && offers(parameters, "no")
}

fn offers(parameters: &Value, answer: &str) -> bool {
    let answers = &parameters["requestedSchema"]["properties"]["answer"]["enum"];
    answers.as_array().is_some_and(|known| known.iter().any(|one| one == answer))
}

/// Formats progress: `4 of 10 orders`. A number without a total has no meaning by itself, and the numbers of snippets
/// are in their messages.
fn progress(tool: &str, made: &ProgressMade) -> String {
    let total = made.total.filter(|_| tool != EXECUTE);
    let numbers = total.map(|total| format!("{} of {}", short_number(made.done), short_number(total)));
    let message = made.message.clone().filter(|message| !message.is_empty());
    numbers.into_iter().chain(message).collect::<Vec<_>>().join(" ")
}

/// Formats a program's call.
fn call(data: &Value) -> String {
    let name = data["call"].as_str().unwrap_or("a call");
    let how = if data["ok"] == true { "" } else { " failed" };
    format!("{name}{how}, {} ms", data["ms"])
}

fn text(data: &Value) -> String {
    data.as_str().map_or_else(|| data.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_formatted() {
        assert_eq!(call(&json!({ "call": "shop.find", "ok": true, "ms": 12.5 })), "shop.find, 12.5 ms");
        assert_eq!(call(&json!({ "call": "shop.find", "ok": false, "ms": 1 })), "shop.find failed, 1 ms");
    }

    #[test]
    fn progress_has_its_numbers() {
        let made = |done, total, message: &str| {
            progress("fetch", &ProgressMade { done, total, message: Some(message.to_owned()) })
        };
        assert_eq!(made(4.0, Some(10.0), "orders"), "4 of 10 orders");
        assert_eq!(made(4.0, Some(10.0), ""), "4 of 10");
        assert_eq!(made(2.0, None, "compiling"), "compiling");
        assert_eq!(made(2.0, None, ""), "");
        assert_eq!(made(1.0, Some(1e300), ""), "1 of 1e300");
    }

    #[test]
    fn only_forms_with_the_permission_answers_ask_for_permission() {
        let form = |answers: &[&str]| json!({ "requestedSchema": { "properties": { "answer": { "enum": answers } } } });
        assert!(is_permission(&form(&["once", "session", "no"])));
        assert!(offers(&form(&["once", "session", "no"]), "session"));
        assert!(!is_permission(&form(&["yes", "no"])));
        assert!(!is_permission(&json!({ "message": "once or no?" })));
    }
}

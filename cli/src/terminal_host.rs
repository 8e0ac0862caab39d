//! What servers may ask of this process and tell it: the person at the terminal answers, and reads along.

mod elicitation;
mod form;

use gateway::session_host::{SessionHost, Waiting};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use mcp::{Host, Notice};
use serde_json::Value;
use tokio::sync::watch;

use terminal::{Notifier, Terminal, TerminalPrompt};

/// How many lines of a server are shown in [`WINDOW`]; the others are counted.
const MOST_LINES: u32 = 200;
const WINDOW: Duration = Duration::from_secs(1);

/// Most characters of one line that a server tells.
const LONGEST_TOLD: usize = 2_000;

/// The person at the terminal, as servers see them.
pub(crate) struct TerminalHost {
    notifier: Notifier,
    prompt: TerminalPrompt,
    /// How many questions are open: meanwhile no time limit runs.
    questions: watch::Sender<usize>,
    /// How much each server has told lately.
    told: Mutex<HashMap<String, LogRate>>,
}

/// How much a server has told since the window began.
struct LogRate {
    since: Instant,
    lines: u32,
}

impl TerminalHost {
    /// Whoever sits at the terminal that this process belongs to, if anybody does.
    pub(crate) fn at(terminal: &Terminal) -> Arc<Self> {
        Arc::new(TerminalHost {
            notifier: terminal.notifier(),
            prompt: terminal.prompt(),
            questions: watch::Sender::default(),
            told: Mutex::default(),
        })
    }

    /// Whether the person says yes to a question; nobody says no.
    pub(crate) async fn confirm(&self, question: &str) -> bool {
        let _waiting = self.wait_for_person();
        self.prompt.confirm(question).await
    }

    /// What the person answers to a question, as [`TerminalPrompt::answer`].
    pub(crate) async fn answer<T>(
        &self,
        question: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let _waiting = self.wait_for_person();
        self.prompt.answer(question, prompt, read).await
    }

    /// No time limit runs until the result is dropped.
    pub(crate) fn wait_for_person(&self) -> Waiting<'_> {
        Waiting::new(&self.questions)
    }

    /// Shows a line, unless the server tells too much.
    fn show(&self, server: &str, line: &str) {
        let mut all = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let told =
            all.entry(server.to_owned()).or_insert_with(|| LogRate { since: Instant::now(), lines: 0 });
        if told.since.elapsed() >= WINDOW {
            if let Some(left_out) = told.lines.checked_sub(MOST_LINES).filter(|lines| *lines > 0) {
                self.notifier.note(&format!("{server}: {left_out} lines are left out"));
            }
            *told = LogRate { since: Instant::now(), lines: 0 };
        }
        told.lines = told.lines.saturating_add(1);
        if told.lines <= MOST_LINES {
            let line: String = line.chars().take(LONGEST_TOLD).collect();
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
}

impl Host for TerminalHost {
    fn elicits(&self) -> bool {
        self.prompt.is_there()
    }

    fn elicits_by_url(&self) -> bool {
        self.prompt.is_there()
    }

    fn elicit<'a>(&'a self, server: &'a str, parameters: Value) -> BoxFuture<'a, Result<Value, String>> {
        async move {
            let _waiting = self.wait_for_person();
            elicitation::elicit(&self.prompt, server, &parameters).await
        }
        .boxed()
    }

    fn notice(&self, server: &str, notice: &Notice) {
        match notice {
            Notice::Stderr(line) => self.show(server, line),
            Notice::Stray(line) => {
                self.show(server, &format!("writes what is no MCP message where messages belong: {line}"));
            }
            // What is told for those who debug a server stays with them.
            Notice::Log { level, .. } if matches!(level.as_str(), "debug" | "info") => {}
            Notice::Log { level, logger, data } => {
                let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
                let logger = logger.as_deref().map(|logger| format!(" {logger}")).unwrap_or_default();
                self.show(server, &format!("[{level}{logger}] {text}"));
            }
            _ => {}
        }
    }
}

//! Asks the user. While a question is open, nothing else is written, and programs with live output wait.
//!
//! Questions are written to standard error and answers read from `/dev/tty`: standard input may be the snippet. If the
//! terminal is gone, there is no answer, and therefore no consent.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{oneshot, watch};

use super::writer::{Piece, Shown};
use crate::keyboard::Keyboard;

/// Limit on text that this process holds back while a question is open (64 KiB); the rest is dropped.
const MOST_SAID: usize = 64 << 10;

/// The number of times that a question is repeated until the answer is understood.
const TRIES: usize = 3;

/// Asks the user at the terminal, if there is one.
#[derive(Debug, Clone)]
pub struct TerminalPrompt {
    is_there: bool,
    writer: queue::Sender<Piece>,
    open: watch::Sender<usize>,
}

/// An open question. Until it is dropped, nothing else is written.
pub struct Question {
    keyboard: Keyboard,
    texts: mpsc::Sender<Shown>,
    _open: Open,
}

/// The text that asks once more, because the answer to a question is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskAgain(pub String);

impl TerminalPrompt {
    /// Counts questions in `open`.
    pub(super) fn new(writer: queue::Sender<Piece>, open: watch::Sender<usize>) -> Self {
        let is_there = io::stderr().is_terminal() && Keyboard::is_there();
        TerminalPrompt { is_there, writer, open }
    }

    /// Whether questions can be asked.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// Opens a question as soon as no other is open. `None` with no terminal to ask on.
    pub async fn question(&self) -> Option<Question> {
        if !self.is_there {
            return None;
        }
        let open = Open::new(&self.open);
        let (opened, is_opened) = oneshot::channel();
        let (texts, shown) = mpsc::channel();
        // The receiving thread outlives all senders, so this does not fail while it matters.
        self.writer.keep(Piece::Question(opened, shown));
        let _ = is_opened.await;
        Some(Question { keyboard: Keyboard::open().ok()?, texts, _open: open })
    }

    /// Asks one question, see [`Question::answer`].
    pub async fn answer<T>(
        &self,
        text: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<T, AskAgain>,
    ) -> Option<T> {
        self.question().await?.answer(text, prompt, read).await
    }

    /// Reads a line that is not shown while it is typed. `None` if nothing is typed, or with no terminal to ask on.
    pub async fn secret(&self, prompt: &str) -> Option<String> {
        let question = self.question().await?;
        question.keyboard.settle().await.ok()?;
        question.keyboard.hide().ok()?;
        question.show(prompt).await;
        let line = question.keyboard.line().await.ok()?;
        // The typed newline is not shown either.
        question.show("\n").await;
        line.filter(|line| !line.is_empty())
    }

    /// Asks a yes/no question; no answer means no.
    pub async fn confirm(&self, question: &str) -> bool {
        let is_yes = |typed: &str| Ok(matches!(typed.to_ascii_lowercase().as_str(), "y" | "yes"));
        self.answer(&format!("{question} "), "[y/N] ", is_yes).await.unwrap_or(false)
    }
}

impl Question {
    /// Asks until `read` accepts the answer; its error replaces the text of the question. `None` after [`TRIES`]
    /// attempts or at the end of input.
    pub async fn answer<T>(
        &self,
        text: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<T, AskAgain>,
    ) -> Option<T> {
        let mut text = text.to_owned();
        for _ in 0..TRIES {
            let typed = self.ask(&text, prompt).await.ok()??;
            match read(&typed) {
                Ok(answer) => return Some(answer),
                Err(AskAgain(again)) => text = again,
            }
        }
        self.show(&format!("toolsmith: none of the {TRIES} answers is valid; the question is closed\n"))
            .await;
        None
    }

    /// Shows the text; when the user has stopped typing, shows the prompt and reads a line. Input counts from the
    /// prompt on. `None` at the end of input.
    /// # Errors
    /// If the terminal is gone.
    async fn ask(&self, text: &str, prompt: &str) -> io::Result<Option<String>> {
        self.show(text).await;
        self.keyboard.settle().await?;
        self.show(prompt).await;
        let line = self.keyboard.line().await?;
        if line.is_none() {
            // No typed key has ended the line.
            self.show("\n").await;
        }
        Ok(line)
    }

    async fn show(&self, text: &str) {
        let (done, is_done) = oneshot::channel();
        let _ = self.texts.send(Shown { text: printable::lines(text), done });
        let _ = is_done.await;
    }
}

/// Counts a question that is open or waiting. Dropping it ends the question.
struct Open(watch::Sender<usize>);

impl Open {
    fn new(open: &watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        held().questions += 1;
        Open(open.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut held = held();
        held.questions -= 1;
        if held.questions == 0 {
            let text = std::mem::take(&mut held.text);
            drop(io::stderr().lock().write_all(text.as_bytes()));
        }
        drop(held);
        self.0.send_modify(|open| *open -= 1);
    }
}

/// Text for standard error that is held back while questions are open.
struct HeldOutput {
    questions: usize,
    text: String,
}

static HELD: Mutex<HeldOutput> = Mutex::new(HeldOutput { questions: 0, text: String::new() });

fn held() -> MutexGuard<'static, HeldOutput> {
    HELD.lock()
}

/// Writes to standard error at once, or after the open question. A failed write is ignored.
pub(super) fn say(text: &str) {
    let mut held = held();
    if held.questions == 0 {
        drop(io::stderr().lock().write_all(text.as_bytes()));
    } else if held.text.len() + text.len() <= MOST_SAID {
        held.text.push_str(text);
    }
}

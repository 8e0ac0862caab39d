//! Where a person is asked: while a question is open, nothing else is written, and programs whose output is shown wait.
//!
//! Questions stand on standard error, answers come from `/dev/tty`: standard input may be the snippet. A terminal that is
//! gone gives no answer, and so no consent.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};

use tokio::sync::{oneshot, watch};

use super::writer::{Piece, Shown};
use crate::keyboard::Keyboard;

/// Most bytes of what this process says past the terminal while a question is open (64 KiB); the rest is left out.
const MOST_SAID: usize = 64 << 10;

/// How often a person is asked until the answer is understood.
const TRIES: usize = 3;

/// The person at the terminal, as far as they can be asked.
#[derive(Debug, Clone)]
pub struct TerminalPrompt {
    is_there: bool,
    writer: queue::Sender<Piece>,
    open: watch::Sender<usize>,
}

/// A question that is shown. Until it is dropped, nothing else is written.
pub struct Question {
    keyboard: Keyboard,
    texts: mpsc::Sender<Shown>,
    _open: Open,
}

impl TerminalPrompt {
    /// Questions are counted in `open`.
    pub(super) fn new(writer: queue::Sender<Piece>, open: watch::Sender<usize>) -> Self {
        let is_there = io::stderr().is_terminal() && Keyboard::is_there();
        TerminalPrompt { is_there, writer, open }
    }

    /// Whether there is anybody to ask.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// Begins a question, as soon as no other one is open. `None` where there is nobody to ask.
    pub async fn question(&self) -> Option<Question> {
        if !self.is_there {
            return None;
        }
        let open = Open::new(&self.open);
        let (begun, has_begun) = oneshot::channel();
        let (texts, shown) = mpsc::channel();
        // The thread ends only with its last sender, and then there is nobody to be shown anything.
        self.writer.keep(Piece::Question(begun, shown));
        let _ = has_begun.await;
        Some(Question { keyboard: Keyboard::open().ok()?, texts, _open: open })
    }

    /// Asks one question, as [`Question::answer`].
    pub async fn answer<T>(
        &self,
        text: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        self.question().await?.answer(text, prompt, read).await
    }

    /// Whether the person says yes; nobody says no.
    pub async fn confirm(&self, question: &str) -> bool {
        let is_yes = |typed: &str| Ok(matches!(typed.to_ascii_lowercase().as_str(), "y" | "yes"));
        self.answer(&format!("{question} "), "[y/N] ", is_yes).await.unwrap_or(false)
    }
}

impl Question {
    /// What the person answers, as `read` understands it. What it does not is asked for again, with the text that it gives
    /// instead. `None` where no answer is understood, or the person ends the input.
    pub async fn answer<T>(
        &self,
        text: &str,
        prompt: &str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Option<T> {
        let mut text = text.to_owned();
        for _ in 0..TRIES {
            let typed = self.ask(&text, prompt).await.ok()??;
            match read(&typed) {
                Ok(answer) => return Some(answer),
                Err(again) => text = again,
            }
        }
        None
    }

    /// Shows a text; then, once nobody types any more, the prompt; and reads a line. The prompt says that an answer is
    /// taken from now on. `None` where the person ends the input.
    ///
    /// # Errors
    /// Where the terminal is gone.
    async fn ask(&self, text: &str, prompt: &str) -> io::Result<Option<String>> {
        self.show(text).await;
        self.keyboard.settle().await?;
        self.show(prompt).await;
        let line = self.keyboard.line().await?;
        if line.is_none() {
            // No key has ended the line.
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

/// A question is open, or waits for another one. Dropping it ends that.
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

/// What this process has said past the thread that writes, while questions are open.
struct HeldOutput {
    questions: usize,
    text: String,
}

static HELD: Mutex<HeldOutput> = Mutex::new(HeldOutput { questions: 0, text: String::new() });

fn held() -> MutexGuard<'static, HeldOutput> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes to standard error at once, or after the question that is open. A reader that is gone is no reason to fail.
pub(super) fn say(text: &str) {
    let mut held = held();
    if held.questions == 0 {
        drop(io::stderr().lock().write_all(text.as_bytes()));
    } else if held.text.len() + text.len() <= MOST_SAID {
        held.text.push_str(text);
    }
}

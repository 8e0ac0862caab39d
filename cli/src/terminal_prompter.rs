//! A person at the terminal of this process.
//!
//! Questions stand on standard error, answers come from `/dev/tty`: standard input may be the snippet. While a question
//! is open nothing else is written, so that no program can paint over it, and what was typed before it is dropped.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;

use config::Config;

use gateway::permission::{self, Answer, Policy, Prompter, Question};
use terminal::{Keyboard, Terminal, TerminalPrompt};

/// How often an answer that is none is asked for again.
const TRIES: usize = 3;

/// The person at the terminal, if there is one.
pub(crate) struct TerminalPrompter {
    prompt: TerminalPrompt,
    is_there: bool,
}

impl TerminalPrompter {
    /// Whoever sits at the terminal that this process belongs to.
    pub(crate) fn at(terminal: &Terminal) -> Self {
        TerminalPrompter {
            prompt: terminal.prompt(),
            is_there: io::stderr().is_terminal() && Keyboard::is_there(),
        }
    }

    /// The answer, where all goes well.
    async fn answer(&self, question: &Question) -> io::Result<Answer> {
        let offered = if question.is_memorable() {
            "[y] yes, this once  [s] for this session  [a] always  [n] no: "
        } else {
            "[y] yes, this once  [s] every time in this session  [n] no: "
        };
        let mut text = format!("{}\n", question.text());
        let asked = self.prompt.question().await?;
        for _ in 0..TRIES {
            match asked.ask(&std::mem::take(&mut text), offered).await?.as_deref() {
                None => break,
                Some("y" | "Y" | "yes") => return Ok(Answer::Once),
                Some("s" | "S") => return Ok(Answer::Session),
                Some("a" | "A") if question.is_memorable() => return Ok(Answer::Always),
                Some("n" | "N" | "no") => return Ok(Answer::No),
                Some(_) => {}
            }
        }
        Ok(Answer::No)
    }
}

/// What may be called from the command line, where the person at the terminal is asked.
pub(crate) fn policy(config: &Arc<Config>, allow: &[String], terminal: &Terminal) -> Arc<Policy> {
    permission::policy(config, allow, &terminal.notifier(), TerminalPrompter::at(terminal))
}

impl Prompter for TerminalPrompter {
    fn is_there(&self) -> bool {
        self.is_there
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Answer> {
        async move {
            if !self.is_there {
                return Answer::Nobody;
            }
            // A terminal that is gone gives no consent.
            self.answer(question).await.unwrap_or(Answer::No)
        }
        .boxed()
    }
}

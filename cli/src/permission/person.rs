//! A person at the terminal of this process.
//!
//! Questions stand on standard error, answers come from `/dev/tty`: standard input may be the snippet. While a question
//! is open nothing else is written, so that no program can paint over it.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::OpenOptionsExt as _;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::net::unix::pipe::Receiver;

use super::{Answer, Asker, Question};
use crate::terminal::{Stage, Terminal};

/// How often an answer that is none is asked for again.
const TRIES: usize = 3;

/// Most bytes of an answer.
const LONGEST_ANSWER: usize = 256;

/// The person at the terminal, if there is one.
pub(crate) struct Person {
    stage: Stage,
    is_there: bool,
}

impl Person {
    /// Whoever sits at the terminal that this process belongs to.
    pub(crate) fn at(terminal: &Terminal) -> Self {
        Person { stage: terminal.stage(), is_there: io::stderr().is_terminal() && open().is_ok() }
    }

    /// The answer, where all goes well.
    async fn answer(&self, question: &Question) -> io::Result<Answer> {
        // A terminal becomes readable as a pipe does.
        let keyboard = Receiver::from_file_unchecked(open()?)?;
        // What was typed before the question was read is no answer to it.
        discard(&keyboard);
        let offered = if question.is_memorable() {
            "[y] yes, this once  [s] for this session  [a] always  [n] no: "
        } else {
            "[y] yes, this once  [s] every time in this session  [n] no: "
        };
        let mut text = format!("{}\n{offered}", question.text());
        for _ in 0..TRIES {
            let held = self.stage.hold(&text).await;
            let line = line(&keyboard).await?;
            drop(held);
            match line.as_deref().map(str::trim) {
                None => break,
                Some("y" | "Y" | "yes") => return Ok(Answer::Once),
                Some("s" | "S") => return Ok(Answer::Session),
                Some("a" | "A") if question.is_memorable() => return Ok(Answer::Always),
                Some("n" | "N" | "no") => return Ok(Answer::No),
                Some(_) => text = offered.to_owned(),
            }
        }
        Ok(Answer::No)
    }
}

impl Asker for Person {
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

/// The terminal that this process belongs to; a description of its own, so that reading from it waits for nobody else.
fn open() -> io::Result<File> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open("/dev/tty")
}

fn discard(keyboard: &Receiver) {
    let mut bytes = [0; LONGEST_ANSWER];
    while matches!(keyboard.try_read(&mut bytes), Ok(1..)) {}
}

/// One line; `None` at the end of the terminal's input.
async fn line(keyboard: &Receiver) -> io::Result<Option<String>> {
    let mut typed = Vec::new();
    loop {
        keyboard.readable().await?;
        let mut bytes = [0; LONGEST_ANSWER];
        let read = match keyboard.try_read(&mut bytes) {
            Ok(read) => read,
            // It was not ready after all.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        };
        if read == 0 {
            return Ok(None);
        }
        typed.extend_from_slice(bytes.get(..read).unwrap_or_default());
        if typed.contains(&b'\n') || typed.len() > LONGEST_ANSWER {
            return Ok(Some(String::from_utf8_lossy(&typed).into_owned()));
        }
    }
}

//! The thread that writes: everything that a terminal shows, in the order in which it was handed over.

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc;

use queue::Received;
use tokio::sync::oneshot;

/// What the writing thread is told.
#[derive(Debug)]
pub(super) enum Piece {
    Out(Vec<u8>),
    Err(Vec<u8>),
    /// More of a line that does not end yet.
    More(Part, Vec<u8>),
    /// What [`Piece::More`] has left open ends.
    EndLine,
    /// Answers when everything before is written, with the first failure.
    Flush(oneshot::Sender<Option<io::Error>>),
    /// Is written to standard error, told to be so, and nothing after it until the last sender is dropped.
    Question(Vec<u8>, oneshot::Sender<()>, mpsc::Receiver<()>),
    /// A line is edited from now on, or no longer; answers when that holds.
    Edit(Option<Box<dyn Aside>>, mpsc::Sender<()>),
}

/// Most bytes of a piece that others are merged into (64 KiB).
const MERGED: usize = 64 << 10;

impl Piece {
    /// Puts `next` into the last piece of the queue, where it goes to the same stream; gives back what does not.
    pub(super) fn merge(last: &mut Piece, next: Piece) -> Option<Piece> {
        match (last, next) {
            (Piece::Out(bytes), Piece::Out(more)) | (Piece::Err(bytes), Piece::Err(more))
                if bytes.len() + more.len() <= MERGED =>
            {
                bytes.extend_from_slice(&more);
                None
            }
            (_, next) => Some(next),
        }
    }
}

/// A text that is shown as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// What a model says, on standard output.
    Text,
    /// What it thinks, on standard error.
    Thought,
}

/// Keeps what is shown out of a line that somebody types.
pub(crate) trait Aside: fmt::Debug + Send {
    /// Shows whole lines, without waiting.
    fn show(&mut self, text: &str);

    /// The line is no longer edited: what was not shown yet.
    fn end(self: Box<Self>) -> String;
}

/// Writes until the last sender is gone.
pub(super) fn write(pieces: &mut queue::Receiver<Piece>) {
    let is_one = io::stdout().is_terminal() && io::stderr().is_terminal();
    let mut writing = Writing { is_one, text: false, thought: false, failed: None, aside: None };
    while let Some(Received { missed, item }) = pieces.receive_blocking() {
        if missed > 0 {
            writing.end_line(is_one, true);
            writing
                .err(format!("toolsmith: {missed} lines are left out here: nobody read them\n").as_bytes());
        }
        let Some(piece) = item else { continue };
        match piece {
            Piece::Out(bytes) => {
                writing.end_line(true, true);
                writing.out(&bytes);
            }
            Piece::Err(bytes) => {
                writing.end_line(is_one, true);
                writing.err(&bytes);
            }
            Piece::More(part, bytes) => writing.more(part, &bytes),
            Piece::EndLine => writing.end_line(true, true),
            Piece::Flush(done) => drop(done.send(writing.failed.take())),
            Piece::Question(bytes, shown, held) => {
                writing.end_line(is_one, true);
                writing.err(&bytes);
                let _ = shown.send(());
                let _ = held.recv();
            }
            Piece::Edit(aside, done) => {
                writing.end_line(is_one, true);
                let before = std::mem::replace(&mut writing.aside, aside);
                let left = before.map(Aside::end).unwrap_or_default();
                writing.left(&left);
                let _ = done.send(());
            }
        }
    }
}

struct Writing {
    /// Whether both streams are shown on one terminal.
    is_one: bool,
    /// Whether a text has left a line of its stream open.
    text: bool,
    thought: bool,
    failed: Option<io::Error>,
    aside: Option<Box<dyn Aside>>,
}

impl Writing {
    /// Ends what stands in the way of a line.
    fn end_line(&mut self, text: bool, thought: bool) {
        if text && std::mem::take(&mut self.text) {
            self.out(b"\n");
        }
        if thought && std::mem::take(&mut self.thought) {
            self.err(b"\n");
        }
    }

    fn more(&mut self, part: Part, bytes: &[u8]) {
        let is_open = bytes.last().is_some_and(|last| *last != b'\n');
        match part {
            Part::Text => {
                self.end_line(false, true);
                self.out(bytes);
                self.text = is_open;
            }
            Part::Thought => {
                self.end_line(self.is_one, false);
                self.err(bytes);
                self.thought = is_open;
            }
        }
    }

    fn out(&mut self, bytes: &[u8]) {
        if self.aside(bytes) {
            return;
        }
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush())
            // A reader that is gone changes nothing about how the snippet ends.
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            self.failed.get_or_insert(error);
        }
    }

    fn err(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() && !self.aside(bytes) {
            drop(io::stderr().lock().write_all(bytes));
        }
    }

    /// Writes what was not shown beside a line that was edited.
    fn left(&mut self, text: &str) {
        if !text.is_empty() {
            drop(io::stderr().lock().write_all(text.as_bytes()));
        }
    }

    /// Whether somebody edits a line, and has been shown this.
    fn aside(&mut self, bytes: &[u8]) -> bool {
        let aside = self.aside.as_mut();
        aside.map(|aside| aside.show(&String::from_utf8_lossy(bytes))).is_some()
    }
}

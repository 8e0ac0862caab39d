//! The thread that writes: everything that a terminal shows, in the order in which it was handed over.

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc;

use printable::Filter;
use queue::Received;
use tokio::sync::oneshot;

/// Undoes what may have been done to the terminal, and begins an empty line with nothing below it. In this order: ends
/// a control string (ST); leaves the other screen in the ways that terminals know (xterm's modes 1049, 1047 and 47), with
/// the cursor kept where it is (DECSC), since the first of them moves it; resets modes, margins and character sets
/// (DECSTR) and the look of text (SGR 0); gives back the colours of palette (OSC 104), text, background and cursor (OSC
/// 110 to 112); shows the cursor; wraps long lines; empties the line and what is below.
const RESET: &str = "\x1b\\\x1b7\x1b[?1049l\x1b[?1047l\x1b[?47l\x1b[!p\x1b[0m\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\
                                \x1b]112\x1b\\\x1b[?25h\x1b[?7h\r\x1b[J";

/// What the writing thread is told.
#[derive(Debug)]
pub(super) enum Piece {
    Out(Vec<u8>),
    Err(Vec<u8>),
    /// What a program has printed: to a terminal without what controls it.
    Program(Stream, Vec<u8>),
    /// More of a line that does not end yet.
    More(Part, Vec<u8>),
    /// What [`Piece::More`] has left open ends.
    EndLine,
    /// Answers when everything before is written, with the first failure.
    Flush(oneshot::Sender<Option<io::Error>>),
    /// A question begins, which is told: its texts are written to standard error, and nothing else until their sender
    /// is dropped.
    Question(oneshot::Sender<()>, mpsc::Receiver<Shown>),
    /// A line is edited from now on, or no longer; answers when that holds.
    Edit(Option<Box<dyn Aside>>, mpsc::Sender<()>),
}

/// Most bytes of a piece that others are merged into (64 KiB).
const MERGED: usize = 64 << 10;

impl Piece {
    /// Puts `next` into the last piece of the queue, where it goes to the same stream; gives back what does not.
    pub(super) fn merge(last: &mut Piece, next: Piece) -> Option<Piece> {
        let (bytes, more) = match (last, next) {
            (Piece::Out(bytes), Piece::Out(more)) | (Piece::Err(bytes), Piece::Err(more))
                if bytes.len() + more.len() <= MERGED =>
            {
                (bytes, more)
            }
            (Piece::Program(stream, bytes), Piece::Program(other, more))
                if *stream == other && bytes.len() + more.len() <= MERGED =>
            {
                (bytes, more)
            }
            (_, next) => return Some(next),
        };
        bytes.extend_from_slice(&more);
        None
    }
}

/// A text of a question, fit to be shown.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Is told when it is written.
    pub(super) done: oneshot::Sender<()>,
}

/// Which of a program's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// A text that is shown as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// What a model says, on standard output.
    Text,
    /// What it thinks, on standard error.
    Thought,
}

/// Keeps what is shown out of a line that somebody types.
pub trait Aside: fmt::Debug + Send {
    /// Shows whole lines, without waiting.
    fn show(&mut self, text: &str);

    /// The line is no longer edited: what was not shown yet.
    fn end(self: Box<Self>) -> String;
}

/// Writes until the last sender is gone.
pub(super) fn write(pieces: &mut queue::Receiver<Piece>) {
    let mut writing = Writing::new();
    while let Some(Received { missed, item }) = pieces.receive_blocking() {
        if missed > 0 {
            let note = format!("toolsmith: {missed} lines are left out here: nobody read them\n");
            writing.piece(Piece::Err(note.into_bytes()));
        }
        if let Some(piece) = item {
            writing.piece(piece);
        }
    }
}

struct Writing {
    /// Whether both streams are shown on one terminal.
    is_one: bool,
    /// What makes a program's output safe, for each stream that is a terminal.
    filters: [Option<Filter>; 2],
    /// Whether a text has left a line of its stream open.
    text: bool,
    thought: bool,
    /// Whether the terminal's line is open, whoever began it.
    line_open: bool,
    failed: Option<io::Error>,
    aside: Option<Box<dyn Aside>>,
}

impl Writing {
    fn new() -> Self {
        let are_terminals = [io::stdout().is_terminal(), io::stderr().is_terminal()];
        Writing {
            is_one: are_terminals == [true, true],
            filters: are_terminals.map(|is_terminal| is_terminal.then(Filter::default)),
            text: false,
            thought: false,
            line_open: false,
            failed: None,
            aside: None,
        }
    }

    fn piece(&mut self, piece: Piece) {
        match piece {
            Piece::Out(bytes) => {
                self.end_line(true, true);
                self.end_program(Stream::Out);
                self.out(&bytes);
            }
            Piece::Err(bytes) => {
                self.end_line(self.is_one, true);
                self.err(&bytes);
            }
            Piece::Program(stream, bytes) => self.program(stream, &bytes),
            Piece::More(part, bytes) => self.more(part, &bytes),
            Piece::EndLine => self.end_line(true, true),
            Piece::Flush(done) => {
                self.end_program(Stream::Out);
                self.end_program(Stream::Err);
                let _ = done.send(self.failed.take());
            }
            Piece::Question(begun, texts) => self.question(begun, &texts),
            Piece::Edit(aside, done) => {
                self.end_line(self.is_one, true);
                let before = std::mem::replace(&mut self.aside, aside);
                let left = before.map(Aside::end).unwrap_or_default();
                self.left(&left);
                let _ = done.send(());
            }
        }
    }

    /// Nothing else is written until the question ends.
    fn question(&mut self, begun: oneshot::Sender<()>, texts: &mpsc::Receiver<Shown>) {
        self.end_line(self.is_one, true);
        let end = if self.line_open { "\n" } else { "" };
        self.err(format!("{end}{RESET}").as_bytes());
        let _ = begun.send(());
        while let Ok(Shown { text, done }) = texts.recv() {
            self.err(text.as_bytes());
            let _ = done.send(());
        }
        // A key has ended the line of the answer.
        self.line_open = false;
    }

    fn program(&mut self, stream: Stream, bytes: &[u8]) {
        self.end_line(self.is_one || matches!(stream, Stream::Out), true);
        match self.filters[stream as usize].as_mut().map(|filter| filter.feed(bytes)) {
            Some(safe) => self.to(stream, safe.as_bytes()),
            None => self.to(stream, bytes),
        }
    }

    /// What was held back of a program's output is all that comes.
    fn end_program(&mut self, stream: Stream) {
        if let Some(rest) = self.filters[stream as usize].as_mut().map(Filter::end) {
            self.to(stream, rest.as_bytes());
        }
    }

    fn to(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Out => self.out(bytes),
            Stream::Err => self.err(bytes),
        }
    }

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
        if bytes.is_empty() || self.aside(bytes) {
            return;
        }
        self.note_line(Stream::Out, bytes);
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
            self.note_line(Stream::Err, bytes);
            drop(io::stderr().lock().write_all(bytes));
        }
    }

    /// Notes whether a line of the terminal is open. What ends by emptying its line leaves none.
    fn note_line(&mut self, stream: Stream, bytes: &[u8]) {
        if self.filters[stream as usize].is_some() {
            self.line_open = !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r\x1b[K");
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

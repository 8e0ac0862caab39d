//! The writing thread: all terminal output, in the order in which it was queued.

use std::fmt;
use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc;

use printable::Filter;
use queue::Received;
use serde_json::Map;
use tokio::sync::oneshot;

use crate::log::{self, Level};

/// Restores the terminal's state and starts an empty line with nothing below it. In this order: ends a control string
/// (ST); leaves the alternate screen in all common ways (xterm's modes 1049, 1047 and 47), with the cursor saved
/// (DECSC), because the first of them moves it; resets modes, margins and character sets (DECSTR) and text attributes
/// (SGR 0); resets the colours of the palette (OSC 104), text, background and cursor (OSC 110 to 112); shows the
/// cursor; enables line wrapping; clears the line and everything below.
const RESET: &str = "\x1b\\\x1b7\x1b[?1049l\x1b[?1047l\x1b[?47l\x1b[!p\x1b[0m\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\
                                \x1b]112\x1b\\\x1b[?25h\x1b[?7h\r\x1b[J";

/// Clears the line of the terminal.
const CLEAR: &str = "\r\x1b[K";

/// A request to the writing thread.
#[derive(Debug)]
pub(super) enum Piece {
    Out(Vec<u8>),
    Err(Vec<u8>),
    /// Output of a program; control sequences are removed for a terminal.
    Program(Stream, Vec<u8>),
    /// Part of a line that continues.
    More(Part, Vec<u8>),
    /// Ends a line that [`Piece::More`] left open.
    EndLine,
    /// Shows the state of work in a line of the terminal until something else is written; empty to clear it.
    Status(String),
    /// Clears the status, and replies when it is cleared.
    Clear(mpsc::Sender<()>),
    /// Replies when everything before is written, with the first error.
    Flush(oneshot::Sender<Option<io::Error>>),
    /// Opens a question and confirms that. Only its texts are written, to standard error, until their sender is
    /// dropped.
    Question(oneshot::Sender<()>, mpsc::Receiver<Shown>),
    /// Starts or ends the editing of a line; replies when the change has taken effect.
    Edit(Option<Box<dyn Aside>>, mpsc::Sender<()>),
}

/// Maximum size of a merged piece, in bytes (64 KiB).
const MERGED: usize = 64 << 10;

impl Piece {
    /// Merges `next` into the last piece of the queue if both go to the same stream; otherwise returns it.
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

/// A text of a question, made safe to show.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Notified when the text is written.
    pub(super) done: oneshot::Sender<()>,
}

/// Standard output or standard error of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Err,
}

/// The kind of streamed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A model's text, on standard output.
    Text,
    /// A model's thoughts, on standard error.
    Thought,
}

/// Shows output around a line that the user edits.
pub trait Aside: fmt::Debug + Send {
    /// Shows whole lines, without waiting.
    fn show(&mut self, text: &str);

    /// Ends the editing; returns the output that was not shown yet.
    fn end(self: Box<Self>) -> String;
}

/// Writes until the last sender is gone.
pub(super) fn write(pieces: &mut queue::Receiver<Piece>) {
    let mut writing = Writing::new();
    while let Some(Received { missed, item }) = pieces.receive_blocking() {
        if missed > 0 {
            let note = format!("left out {} here: not read in time", report::count(missed, "line"));
            let line = match log::is_json() {
                true => log::json_line(Level::Warning, &note, &Map::new()),
                false => format!("toolsmith: {note}\n"),
            };
            writing.piece(Piece::Err(line.into_bytes()));
        }
        if let Some(piece) = item {
            writing.piece(piece);
        }
    }
}

struct Writing {
    /// Whether both streams are shown on one terminal.
    is_one: bool,
    /// Filters that make a program's output safe, for each stream that is a terminal.
    filters: [Option<Filter>; 2],
    /// Whether streamed text has left a line of its stream open.
    text: bool,
    thought: bool,
    /// Whether the terminal's current line is open.
    line_open: bool,
    /// Whether the terminal's current line shows a status.
    has_status: bool,
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
            has_status: false,
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
            Piece::Status(text) => self.status(&text),
            Piece::Clear(done) => {
                self.clear_status();
                let _ = done.send(());
            }
            Piece::Flush(done) => {
                self.clear_status();
                self.end_program(Stream::Out);
                self.end_program(Stream::Err);
                let _ = done.send(self.failed.take());
            }
            Piece::Question(opened, texts) => self.question(opened, &texts),
            Piece::Edit(aside, done) => {
                self.clear_status();
                self.end_line(self.is_one, true);
                let before = std::mem::replace(&mut self.aside, aside);
                let left = before.map(Aside::end).unwrap_or_default();
                self.left(&left);
                let _ = done.send(());
            }
        }
    }

    /// Writes nothing else until the question ends.
    fn question(&mut self, opened: oneshot::Sender<()>, texts: &mpsc::Receiver<Shown>) {
        self.clear_status();
        self.end_line(self.is_one, true);
        let end = if self.line_open { "\n" } else { "" };
        self.err(format!("{end}{RESET}").as_bytes());
        let _ = opened.send(());
        while let Ok(Shown { text, done }) = texts.recv() {
            self.err(text.as_bytes());
            let _ = done.send(());
        }
        // The user's Enter has ended the line.
        self.line_open = false;
    }

    fn program(&mut self, stream: Stream, bytes: &[u8]) {
        self.end_line(self.is_one || matches!(stream, Stream::Out), true);
        match self.filters[stream as usize].as_mut().map(|filter| filter.feed(bytes)) {
            Some(safe) => self.to(stream, safe.as_bytes()),
            None => self.to(stream, bytes),
        }
    }

    /// Writes the rest that the filter held back.
    fn end_program(&mut self, stream: Stream) {
        if let Some(rest) = self.filters[stream as usize].as_mut().map(Filter::end) {
            self.to(stream, rest.as_bytes());
        }
    }

    /// Shows a status unless a line is open or edited.
    fn status(&mut self, text: &str) {
        if self.line_open || self.aside.is_some() || (text.is_empty() && !self.has_status) {
            return;
        }
        self.has_status = !text.is_empty();
        drop(io::stderr().lock().write_all(format!("{CLEAR}{text}").as_bytes()));
    }

    fn clear_status(&mut self) {
        self.status("");
    }

    fn to(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Out => self.out(bytes),
            Stream::Err => self.err(bytes),
        }
    }

    /// Ends open lines of streamed text.
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
        self.clear_status();
        self.note_line(Stream::Out, bytes);
        let mut stdout = io::stdout().lock();
        if let Err(error) = stdout.write_all(bytes).and_then(|()| stdout.flush())
            // A missing reader does not change how the snippet ends.
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            self.failed.get_or_insert(error);
        }
    }

    fn err(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() && !self.aside(bytes) {
            self.clear_status();
            self.note_line(Stream::Err, bytes);
            drop(io::stderr().lock().write_all(bytes));
        }
    }

    /// Records whether the terminal's line is open.
    fn note_line(&mut self, stream: Stream, bytes: &[u8]) {
        if self.filters[stream as usize].is_some() {
            self.line_open = !bytes.ends_with(b"\n");
        }
    }

    /// Writes output that was not shown while a line was edited.
    fn left(&mut self, text: &str) {
        if !text.is_empty() {
            drop(io::stderr().lock().write_all(text.as_bytes()));
        }
    }

    /// Passes output to the line editor; `false` if no line is edited.
    fn aside(&mut self, bytes: &[u8]) -> bool {
        let aside = self.aside.as_mut();
        aside.map(|aside| aside.show(&String::from_utf8_lossy(bytes))).is_some()
    }
}

//! Sends notes and log lines to the terminal from anywhere in the process.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::bar::{CLEAR, ProgressLine};
use crate::log::{self, Level};
use crate::masker::masked;
use crate::writer::Piece;

/// Maximum size of a note, in bytes (64 KiB); the rest is cut off.
const MAX_NOTE: usize = 64 << 10;

/// Maximum size of a message in JSON, in bytes: escaped sixfold, its line is not cut.
const MAX_JSON: usize = MAX_NOTE / 8;

/// Sends notes to the user from anywhere in the process.
#[derive(Debug, Clone)]
pub struct Notifier {
    pub(super) writer: queue::Sender<Piece>,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) one_line: bool,
    pub(super) line: Arc<ProgressLine>,
}

impl Notifier {
    /// Shows a note unless quiet.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.log(message);
        }
    }

    /// Shows a note only if verbose.
    pub fn detail(&self, message: &str) {
        if self.verbose {
            self.leveled(Level::Debug, "", message);
        }
    }

    /// Logs information unless quiet.
    pub fn info(&self, message: &str) {
        if !self.quiet {
            self.leveled(Level::Info, "info: ", message);
        }
    }

    /// Logs a warning, even if quiet.
    pub fn warning(&self, message: &str) {
        self.leveled(Level::Warning, "warning: ", message);
    }

    /// Logs an error, even if quiet.
    pub fn error(&self, message: &str) {
        self.leveled(Level::Error, "error: ", message);
    }

    /// Logs something that happened with its data, unless quiet; only if messages are JSON lines.
    pub fn event(&self, message: &str, members: &Map<String, Value>) {
        if log::is_json() && !self.quiet {
            push_note(&self.writer, log::json_line(Level::Info, message, members));
        }
    }

    /// Whether notes are suppressed.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether details are shown, such as what servers write to standard error.
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Shows on a terminal that `done` of about `total` steps of long work are done, in a line that overwrites itself;
    /// elsewhere nothing, unless quiet.
    pub fn step(&self, done: usize, total: usize, message: &str) {
        if self.one_line && !self.quiet {
            push_note(&self.writer, self.line.step(done, total, &printable::prose(&masked(message))));
        }
    }

    /// Ends the work whose steps are shown.
    pub fn end_steps(&self) {
        if self.line.end() {
            push_note(&self.writer, CLEAR.to_owned());
        }
    }

    /// Shows a message even if quiet.
    pub fn log(&self, message: &str) {
        self.leveled(Level::Info, "", message);
    }

    /// Shows a message, in text after the name of this program and a prefix.
    fn leveled(&self, level: Level, prefix: &str, message: &str) {
        if log::is_json() {
            self.json(level, message);
        } else {
            self.say(&format!("toolsmith: {prefix}{message}"));
        }
    }

    fn json(&self, level: Level, message: &str) {
        let line = log::json_line(level, &queue::shortened(message, MAX_JSON), &Map::new());
        push_note(&self.writer, line);
    }

    /// Shows lines.
    pub fn say(&self, lines: &str) {
        if log::is_json() {
            return self.json(Level::Info, lines);
        }
        // The current line may show progress.
        let clear = if self.one_line { CLEAR } else { "" };
        self.line.take();
        let text = printable::lines(&masked(&queue::shortened(lines, MAX_NOTE)));
        push_note(&self.writer, format!("{clear}{text}\n"));
    }
}

/// Queues a note, cut at the limit.
pub(super) fn push_note(writer: &queue::Sender<Piece>, text: String) {
    // A cut line still needs its line end.
    let text = match text.len() <= MAX_NOTE {
        true => text,
        false => format!("{}\n", queue::shortened(&text, MAX_NOTE)),
    };
    let bytes = size_of::<Piece>() + text.len();
    writer.push(Piece::Err(text.into_bytes()), bytes);
}

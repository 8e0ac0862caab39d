//! What a run shows while it is under way: progress on standard error, the program's output as it comes.

use std::fmt;
use std::io::{IsTerminal as _, Write as _};
use std::sync::Mutex;

use runner::Observer;

/// Writes to standard error. A reader that is gone does not end the run: its tools have effects of their own.
pub(crate) fn say(text: fmt::Arguments<'_>) {
    let _ = std::io::stderr().lock().write_fmt(text);
}

/// Shows a run on the terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    quiet: bool,
    /// Whether the program's output goes through as it comes.
    live: bool,
    /// Whether progress overwrites itself in one line.
    one_line: bool,
    /// The end of what the program printed: whether a line is open.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    stdout_open: bool,
    progress_shown: bool,
}

impl Terminal {
    /// Shows progress unless `quiet`, and the program's output if `live`.
    pub(crate) fn new(quiet: bool, live: bool) -> Self {
        Terminal { quiet, live, one_line: std::io::stderr().is_terminal(), state: Mutex::default() }
    }

    /// Says something that is no error, unless quiet.
    pub(crate) fn note(&self, message: &str) {
        if !self.quiet {
            self.clear_progress();
            say(format_args!("toolsmith: {message}\n"));
        }
    }

    /// Whether the program's output ended in the middle of a line.
    pub(crate) fn line_is_open(&self) -> bool {
        self.state().stdout_open
    }

    /// Removes the progress line, if there is one.
    pub(crate) fn clear_progress(&self) {
        if std::mem::take(&mut self.state().progress_shown) {
            say(format_args!("\r\x1b[K"));
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Observer for Terminal {
    fn progress(&self, message: &str) {
        if self.quiet {
            return;
        }
        if self.one_line {
            self.state().progress_shown = true;
            say(format_args!("\r\x1b[Ktoolsmith: {message}"));
        } else {
            say(format_args!("toolsmith: {message}\n"));
        }
    }

    fn stdout(&self, bytes: &[u8]) {
        if self.live {
            self.clear_progress();
            self.state().stdout_open = bytes.last() != Some(&b'\n');
            // As with standard error: a reader that is gone does not end the run.
            let mut stdout = std::io::stdout().lock();
            let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
        }
    }

    fn stderr(&self, bytes: &[u8]) {
        if self.live {
            self.clear_progress();
            let _ = std::io::stderr().lock().write_all(bytes);
        }
    }

    fn program_progress(&self, done: f64, total: f64, message: &str) {
        let message: String = message.chars().filter(|c| !c.is_control()).take(200).collect();
        self.progress(&format!("{done} of {total} {message}"));
    }
}

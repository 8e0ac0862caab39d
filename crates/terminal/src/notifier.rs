//! Sends notes and log lines to the terminal from anywhere in the process.

use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::log::{self, Level};
use crate::masker::masked;
use crate::work::Work;
use crate::writer::Piece;

/// Maximum size of a note, in bytes (64 KiB); the rest is cut off.
const MAX_NOTE: usize = 64 << 10;

/// Maximum size of a message in JSON, in bytes: escaped sixfold, its line is not cut.
const MAX_JSON: usize = MAX_NOTE / 8;

/// Time between two states of a wait.
const TICK: Duration = Duration::from_secs(1);

/// Time limit for clearing the status line of cancelled work.
const CLEARING: Duration = Duration::from_millis(500);

/// Times of the lines about the start of a server, without a terminal: after 1 s, 10 s and each further 30 s.
const FIRST_LINE: Duration = Duration::from_secs(1);
const SECOND_LINE: Duration = Duration::from_secs(10);
const FURTHER_LINES: Duration = Duration::from_secs(30);

/// Something that is awaited, with the times of its lines.
#[derive(Debug, Clone)]
pub struct Wait {
    action: &'static str,
    name: String,
    first_line: Duration,
}

impl Wait {
    /// The start of a server: `starting`, `git (uvx)`.
    pub fn start(action: &'static str, name: String) -> Self {
        Wait { action, name, first_line: FIRST_LINE }
    }

    /// The answer of a server. Without a terminal, only long waits are shown, because there may be many.
    pub fn answer(name: String) -> Self {
        Wait { action: "waiting for", name, first_line: SECOND_LINE }
    }

    /// The times of the lines without a terminal.
    fn lines(&self) -> impl Iterator<Item = Duration> + use<> {
        let further = std::iter::successors(Some(SECOND_LINE), |line| line.checked_add(FURTHER_LINES));
        [self.first_line].into_iter().filter(|first| *first < SECOND_LINE).chain(further)
    }
}

/// Sends notes to the user from anywhere in the process.
#[derive(Debug, Clone)]
pub struct Notifier {
    pub(super) writer: queue::Sender<Piece>,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    pub(super) one_line: bool,
    pub(super) work: Arc<Work>,
    /// The number of questions that are open or waiting.
    pub(super) questions: watch::Receiver<usize>,
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
            self.status(&self.work.step(done, total, &printable::prose(&masked(message))));
        }
    }

    /// Ends the work whose steps are shown.
    pub fn end_steps(&self) {
        self.work.end_steps();
        self.status("");
    }

    /// Awaits `work`, and shows from the first second on what is awaited: on a terminal in a line that counts the
    /// seconds, elsewhere in a line at each of `lines`; nothing if quiet.
    pub async fn awaiting<T>(&self, wait: &Wait, work: impl Future<Output = T>) -> T {
        if self.quiet {
            return work.await;
        }
        let name = printable::prose(&masked(&wait.name));
        let _waiting = self.work.await_for(wait.action, &name);
        let (started, mut lines) = (Instant::now(), wait.lines());
        let mut next = lines.next();
        self.ticking(work, || {
            if !self.one_line && next.is_some_and(|next| started.elapsed() >= next) {
                let seconds = started.elapsed().as_secs();
                self.note(&format!("{} {name}, {seconds} s", wait.action));
                next = lines.next();
            }
        })
        .await
    }

    /// Awaits the work of a run, and shows on a terminal its phase, or what it awaits, each second.
    pub async fn working<T>(&self, work: impl Future<Output = T>) -> T {
        let done = self.ticking(work, || {}).await;
        self.work.begin_phase(None);
        done
    }

    async fn ticking<T>(&self, work: impl Future<Output = T>, mut each: impl FnMut()) -> T {
        let mut work = pin!(work);
        let mut shown = ShownStatus { notifier: self, is_shown: false };
        loop {
            if let Ok(done) = timeout(TICK, work.as_mut()).await {
                if std::mem::take(&mut shown.is_shown) {
                    self.status("");
                }
                return done;
            }
            if *self.questions.borrow() > 0 {
                self.work.restart();
                continue;
            }
            each();
            if let Some(line) = self.work.awaited().filter(|_| self.one_line && !self.quiet) {
                shown.is_shown = true;
                self.status(&line);
            }
        }
    }

    /// Shows a line on the terminal until something else is written; empty to clear it.
    pub(super) fn status(&self, line: &str) {
        if self.one_line {
            push_status(&self.writer, masked(line));
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
        let text = printable::lines(&masked(&queue::shortened(lines, MAX_NOTE)));
        push_note(&self.writer, format!("{text}\n"));
    }
}

/// A status line. If the work is cancelled, this clears it before the process may end.
struct ShownStatus<'a> {
    notifier: &'a Notifier,
    is_shown: bool,
}

impl Drop for ShownStatus<'_> {
    fn drop(&mut self) {
        if self.is_shown {
            let (done, is_done) = mpsc::channel();
            self.notifier.writer.keep(Piece::Clear(done));
            // A stopped terminal does not delay the end.
            let _ = is_done.recv_timeout(CLEARING);
        }
    }
}

/// Queues a status, which replaces one that is still last in the queue, so that no flood of them pushes out notes.
pub(super) fn push_status(writer: &queue::Sender<Piece>, line: String) {
    let bytes = size_of::<Piece>() + line.len();
    writer.push_or_replace(Piece::Status(line), bytes, |last| matches!(last, Piece::Status(_)));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn notifier() -> (Notifier, queue::Receiver<Piece>) {
        let (writer, pieces) = queue::bounded(crate::NOTES);
        let questions = watch::Sender::new(0).subscribe();
        let (quiet, verbose, one_line, work) = (false, false, true, Arc::default());
        (Notifier { writer, quiet, verbose, one_line, work, questions }, pieces)
    }

    fn next(pieces: &mut queue::Receiver<Piece>) -> Option<Piece> {
        pieces.try_receive()?.item
    }

    #[test]
    fn a_status_is_masked_and_replaces_the_one_before() {
        crate::mask(crate::Masker::new(&["a-secret-of-the-line".to_owned()]));
        let (notifier, mut pieces) = notifier();
        notifier.status("one");
        notifier.status("with a-secret-of-the-line");
        notifier.note("kept");
        notifier.status("last");
        assert!(matches!(next(&mut pieces), Some(Piece::Status(line)) if line == "with ***"));
        assert!(matches!(next(&mut pieces), Some(Piece::Err(_))));
        assert!(matches!(next(&mut pieces), Some(Piece::Status(line)) if line == "last"));
        assert!(next(&mut pieces).is_none());
    }

    #[test]
    fn the_status_of_cancelled_work_is_cleared() {
        let (notifier, mut pieces) = notifier();
        drop(ShownStatus { notifier: &notifier, is_shown: false });
        assert!(next(&mut pieces).is_none());
        drop(ShownStatus { notifier: &notifier, is_shown: true });
        assert!(matches!(next(&mut pieces), Some(Piece::Clear(_))));
    }
}

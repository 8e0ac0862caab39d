//! The terminal's view of a run: progress on standard error, and the program's output as it arrives.
//!
//! A separate thread writes, so a slow reader delays neither the run, nor its timeout, nor a signal. A program's output
//! is queued up to its output limit. Notes and progress have a queue of [`NOTES`]; the oldest are dropped, and the
//! reader sees how many. Untrusted text is made safe with [`printable`] for a terminal, and passed unchanged to a pipe
//! or a file.

#![forbid(unsafe_code)]

mod colours;
mod keyboard;
mod log;
mod masker;
mod notifier;
mod prompt;
pub mod table;
mod typed_lines;
mod verbosity;
mod work;
mod writer;

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::{Mutex, MutexGuard};
use queue::Bounds;
use report::short_number;
use runner::{Event, Journal, Phase, Sink};
use serde_json::Map;
use tokio::sync::{oneshot, watch};

pub use self::colours::{Colours, bold, stderr_has_colours, stdout_has_colours, use_colours};
pub use self::keyboard::{GRACE, Keyboard};
use self::log::Level;
pub use self::log::{LogFormat, set_log_format};
pub use self::masker::{Masker, mask, masked};
use self::notifier::push_note;
pub use self::notifier::{Notifier, Wait};
pub use self::prompt::{AskAgain, Question, TerminalPrompt};
pub use self::typed_lines::TypedLines;
pub use self::verbosity::{Verbosity, set_verbosity};
use self::work::Work;
pub use self::work::{columns, fitting_columns};
pub use self::writer::{Aside, Part};
use self::writer::{Piece, Stream, write};

/// Writes to standard error at once, or after the open question. Removes control sequences.
pub fn say(text: fmt::Arguments<'_>) {
    if log::is_json() {
        return prompt::say(&log::json_line(Level::Info, &text.to_string(), &Map::new()));
    }
    prompt::say(&printable::lines(&masked(&text.to_string())));
}

/// Writes an error to standard error like [`say`], with colours if enabled.
pub fn say_error(text: &str) {
    if log::is_json() {
        return prompt::say(&log::json_line(Level::Error, text, &Map::new()));
    }
    let safe = printable::lines(&masked(text));
    prompt::say(&if stderr_has_colours() { colours::error(&safe) } else { safe.to_string() });
}

/// Writes a note to standard error like [`say`], unless the process is quiet.
pub fn say_note(text: fmt::Arguments<'_>) {
    if !verbosity::is_quiet() {
        say(text);
    }
}

/// Writes a line of JSON to standard output at once; on a terminal, invisible characters are escaped.
///
/// # Errors
/// If it can't be written.
pub fn print_json(json: &str) -> io::Result<()> {
    use std::io::Write as _;
    let mut stdout = io::stdout().lock();
    if stdout.is_terminal() {
        writeln!(stdout, "{}", printable::json(json))
    } else {
        writeln!(stdout, "{json}")
    }
}

/// Shows a run on the terminal. Clones show it on the same one.
#[derive(Debug, Clone)]
pub struct Terminal {
    quiet: bool,
    verbose: bool,
    /// Whether the program's output is forwarded as it arrives.
    live: bool,
    /// Whether there is a terminal that shows progress in one line, which overwrites itself.
    one_line: bool,
    writer: queue::Sender<Piece>,
    /// The number of questions that are open or waiting.
    questions: watch::Sender<usize>,
    work: Arc<Work>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the program's output ended in the middle of a line.
    stdout_open: bool,
    /// When the program's own progress was last shown, and whether that was its last step.
    program_progress: Option<(Instant, bool)>,
}

/// Limit of queued notes, progress and lines of servers (1 MiB).
const NOTES: Bounds = Bounds { bytes: 1 << 20, items: 4_096 };

/// Minimum interval between updates of the program's own progress.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

impl Terminal {
    /// Shows progress unless `quiet` or the process is quiet ([`set_verbosity`]), and the program's output if `live`.
    pub fn new(quiet: bool, live: bool) -> Self {
        let (writer, mut pieces) = queue::bounded(NOTES);
        std::thread::spawn(move || write(&mut pieces));
        let is_plain = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let one_line = io::stderr().is_terminal() && !is_plain && !log::is_json();
        let quiet = quiet || verbosity::is_quiet();
        Terminal {
            quiet,
            verbose: verbosity::is_verbose() && !quiet,
            live,
            one_line,
            writer,
            questions: watch::Sender::default(),
            work: Arc::default(),
            state: Arc::default(),
        }
    }

    /// Shows nothing, for a program that uses this as a library.
    pub fn silent() -> Self {
        // Nobody receives: what is written is dropped at once.
        let (writer, _) = queue::bounded(NOTES);
        Terminal {
            quiet: true,
            verbose: false,
            live: false,
            one_line: false,
            writer,
            questions: watch::Sender::default(),
            work: Arc::default(),
            state: Arc::default(),
        }
    }

    /// Streams a model's text to standard output; on a terminal, without control sequences.
    pub fn more_text(&self, text: &str) {
        if io::stdout().is_terminal() {
            self.more(Part::Text, &printable::lines(text));
        } else {
            self.more(Part::Text, text);
        }
    }

    /// Streams text as it is. Its line ends with [`Terminal::end_line`], or when other output follows.
    pub fn more(&self, part: Part, text: &str) {
        self.send(Piece::More(part, text.as_bytes().to_vec()));
    }

    /// Ends the line of streamed text.
    pub fn end_line(&self) {
        self.send(Piece::EndLine);
    }

    /// Shows a line on standard error that is already safe, with colours if enabled.
    pub fn show(&self, line: &str) {
        if log::is_json() {
            return self.notifier().say(line);
        }
        self.note_of(format!("{}\n", masked(line)));
    }

    /// Routes all output through `aside` while the user edits a line; `None` ends this. Returns when earlier output is
    /// written.
    pub fn edit(&self, aside: Option<Box<dyn Aside>>) {
        let (done, is_done) = mpsc::channel();
        self.send(Piece::Edit(aside, done));
        let _ = is_done.recv();
    }

    /// Whether notes are suppressed.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Whether [`Terminal::status`] is shown.
    pub fn has_status(&self) -> bool {
        self.one_line && !self.quiet
    }

    /// Shows a line, already safe, until something else is written; empty to clear it.
    pub fn status(&self, line: &str) {
        if self.has_status() {
            self.notifier().status(line);
        }
    }

    /// Shows a note unless quiet.
    pub fn note(&self, message: &str) {
        self.notifier().note(message);
    }

    /// Writes a line to standard error.
    pub fn eprint(&self, text: &str) {
        if log::is_json() {
            return self.notifier().say(text);
        }
        self.note_of(format!("{}\n", printable::lines(&masked(text))));
    }

    /// Writes lines to standard output, after the program's output: to a terminal without control sequences, to a pipe
    /// or a file unchanged.
    pub fn print(&self, text: &str) {
        if io::stdout().is_terminal() {
            self.print_painted(&printable::lines(text));
        } else {
            self.print_painted(text);
        }
    }

    /// Writes JSON to standard output; on a terminal, invisible characters are escaped, which does not change its
    /// meaning.
    pub fn print_json(&self, json: &str) {
        if io::stdout().is_terminal() {
            self.print_painted(&printable::json(json));
        } else {
            self.print_painted(json);
        }
    }

    /// Writes lines to standard output that are already safe, with colours if enabled.
    pub fn print_painted(&self, text: &str) {
        let end = if std::mem::take(&mut self.state().stdout_open) { "\n" } else { "" };
        self.send(Piece::Out(format!("{end}{text}\n").into_bytes()));
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// If writing to standard output failed, except because its reader is gone.
    pub async fn flush(&self) -> io::Result<()> {
        if std::mem::take(&mut self.state().stdout_open) {
            self.send(Piece::Out(b"\n".to_vec()));
        }
        let (done, written) = oneshot::channel();
        self.send(Piece::Flush(done));
        match written.await {
            Ok(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// A handle that sends notes from other tasks.
    pub fn notifier(&self) -> Notifier {
        let Terminal { quiet, verbose, one_line, .. } = *self;
        let (writer, work) = (self.writer.clone(), self.work.clone());
        Notifier { writer, quiet, verbose, one_line, work, questions: self.questions.subscribe() }
    }

    /// The prompt for questions to the user.
    pub fn prompt(&self) -> TerminalPrompt {
        TerminalPrompt::new(self.writer.clone(), self.questions.clone())
    }

    /// The lines that the user types from now on, after the text that a line has `begun` with, unless they answer
    /// questions. `None` without a terminal.
    pub fn typed_lines(&self, begun: &str) -> Option<TypedLines> {
        let keyboard = Keyboard::open().ok()?;
        TypedLines::new(keyboard, self.questions.subscribe(), begun).ok()
    }

    /// Queues a piece that is never dropped. Small pieces are merged.
    fn send(&self, piece: Piece) {
        self.writer.keep_or_merge(piece, Piece::merge);
    }

    /// Queues a note, which is dropped if the queue is full.
    fn note_of(&self, text: String) {
        push_note(&self.writer, text);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl Terminal {
    /// A journal whose only sink is this terminal.
    pub fn journal(&self) -> Journal {
        Journal::new(vec![Arc::new(self.clone())])
    }

    fn progress(&self, message: &str) {
        if self.quiet {
            return;
        }
        if log::is_json() {
            return self.notifier().log(message);
        }
        let message = printable::prose(&masked(message));
        if self.one_line {
            self.notifier().status(&self.work.message(&message));
        } else {
            self.note_of(format!("toolsmith: {message}\n"));
        }
    }

    fn step(&self, done: usize, total: usize, message: &str) {
        if self.one_line {
            self.notifier().step(done, total, message);
        } else {
            self.progress(&format!("{message} ({done} of {total})"));
        }
    }

    fn phase(&self, phase: Phase) {
        let is_work = matches!(phase, Phase::Checking | Phase::Compiling | Phase::Running);
        self.work.begin_phase(is_work.then(|| phase.words()));
    }

    fn stdout(&self, bytes: &[u8]) {
        if self.live {
            self.state().stdout_open = bytes.last() != Some(&b'\n');
            self.send(Piece::Program(Stream::Out, bytes.to_vec()));
        }
    }

    fn stderr(&self, bytes: &[u8]) {
        if self.live {
            self.send(Piece::Program(Stream::Err, bytes.to_vec()));
        }
    }

    fn program_progress(&self, done: f64, total: f64, message: &str) {
        let (now, is_final) = (Instant::now(), done >= total);
        let last = self.state().program_progress;
        // The last step is always shown, but not a flood of last steps.
        let is_early = last.is_some_and(|(last, _)| now.duration_since(last) < PROGRESS_INTERVAL);
        // By the end of the question it would be out of date.
        if *self.questions.borrow() > 0 {
            return;
        }
        if is_early && (!is_final || last.is_some_and(|(_, was_final)| was_final)) {
            return;
        }
        self.state().program_progress = Some((now, is_final));
        let message: String = message.chars().take(200).collect();
        self.progress(&format!("{} of {} {message}", short_number(done), short_number(total)));
    }
}

impl Sink for Terminal {
    fn takes_output(&self) -> BoxFuture<'_, ()> {
        let mut questions = self.questions.subscribe();
        async move {
            // Fails only when this terminal is dropped.
            let _ = questions.wait_for(|open| *open == 0).await;
        }
        .boxed()
    }

    fn note(&self, event: &Event<'_>) {
        match *event {
            Event::Progress(message) => self.progress(message),
            Event::Step { done, total, message } => self.step(done, total, message),
            Event::Phase(phase) => self.phase(phase),
            Event::Stdout(bytes) => self.stdout(bytes),
            Event::Stderr(bytes) => self.stderr(bytes),
            Event::ProgramProgress { done, total, message } => self.program_progress(done, total, message),
            _ => {}
        }
    }
}

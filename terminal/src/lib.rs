//! What a run shows while it is under way: progress on standard error, the program's output as it comes.
//!
//! A thread of its own writes: a reader that does not read holds up neither the run, nor its time limit, nor a signal.
//! What a program prints waits, bounded by what it may print. Notes and progress have a queue of [`NOTES`]; the oldest are
//! dropped, and the reader learns how many. What is untrusted goes to a terminal only through [`printable`], and to a pipe
//! or a file as it is.

mod keyboard;
mod masker;
mod prompt;
mod writer;

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, mpsc};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use queue::Bounds;
use runner::Observer;
use tokio::sync::{oneshot, watch};

pub use self::keyboard::{GRACE, Keyboard};
pub use self::masker::Masker;
pub use self::prompt::{Question, TerminalPrompt};
pub use self::writer::{Aside, Part};
use self::writer::{Piece, Stream, write};

/// The secrets that nothing tells, of all configurations that were used.
static MASKER: RwLock<Option<Masker>> = RwLock::new(None);

/// From now on, nothing that this process tells people holds these secrets. What programs print and tools answer is
/// theirs, and stays as it is.
pub fn mask(masker: Masker) {
    let mut known = MASKER.write().unwrap_or_else(PoisonError::into_inner);
    *known = Some(match known.take() {
        // What runs with an older configuration may still tell of it.
        Some(before) => masker.with(&before),
        None => masker,
    });
}

fn masked(text: &str) -> String {
    let masker = MASKER.read().unwrap_or_else(PoisonError::into_inner);
    masker.as_ref().unwrap_or(&Masker::default()).mask(text).into_owned()
}

/// Writes to standard error at once, or after the question that is open. Controls nothing of a terminal.
pub fn say(text: fmt::Arguments<'_>) {
    prompt::say(&printable::lines(&masked(&text.to_string())));
}

/// Shows a run on the terminal.
#[derive(Debug)]
pub struct Terminal {
    quiet: bool,
    /// Whether the program's output goes through as it comes.
    live: bool,
    /// Whether progress overwrites itself in one line.
    one_line: bool,
    writer: queue::Sender<Piece>,
    /// How many questions are open, or wait for each other.
    questions: watch::Sender<usize>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whether the program's output ended in the middle of a line.
    stdout_open: bool,
    progress_shown: bool,
    /// When the program's own progress was shown last, and whether that was its last step.
    program_progress: Option<(Instant, bool)>,
}

/// How much of notes, progress and lines of servers waits for a reader that does not read (1 MiB).
const NOTES: Bounds = Bounds { bytes: 1 << 20, items: 4_096 };

/// Most bytes of one of them (64 KiB); the rest is cut off.
const LONGEST_NOTE: usize = 64 << 10;

/// How often the program's own progress is shown at the most.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Tells people something from anywhere in the process.
#[derive(Debug, Clone)]
pub struct Notifier {
    writer: queue::Sender<Piece>,
    quiet: bool,
    one_line: bool,
}

impl Notifier {
    /// Says something that is no error, unless quiet.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.tell(message);
        }
    }

    /// Whether notes are left out.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Says something that has to be known.
    pub fn tell(&self, message: &str) {
        self.say(&format!("toolsmith: {message}"));
    }

    /// Shows lines.
    pub fn say(&self, lines: &str) {
        // Progress may stand in this line.
        let anew = if self.one_line { "\r\x1b[K" } else { "" };
        let text = printable::lines(&masked(&queue::shortened(lines, LONGEST_NOTE)));
        push_note(&self.writer, format!("{anew}{text}\n"));
    }
}

impl Terminal {
    /// Shows progress unless `quiet`, and the program's output if `live`.
    pub fn new(quiet: bool, live: bool) -> Self {
        let (writer, mut pieces) = queue::bounded(NOTES);
        std::thread::spawn(move || write(&mut pieces));
        let one_line = io::stderr().is_terminal();
        Terminal {
            quiet,
            live,
            one_line,
            writer,
            questions: watch::Sender::default(),
            state: Mutex::default(),
        }
    }

    /// Shows a conversation: whole lines, of which none is written over, and text as it comes.
    pub fn of_conversation(quiet: bool) -> Self {
        Terminal { one_line: false, ..Terminal::new(quiet, false) }
    }

    /// More of what a model says, on standard output: to a terminal without what controls it.
    pub fn more_text(&self, text: &str) {
        if io::stdout().is_terminal() {
            self.more(Part::Text, &printable::lines(text));
        } else {
            self.more(Part::Text, text);
        }
    }

    /// More of a text, whose lines end by themselves or where something else is to be said. It is shown as it is.
    pub fn more(&self, part: Part, text: &str) {
        self.send(Piece::More(part, text.as_bytes().to_vec()));
    }

    /// Ends the line of a text.
    pub fn end_line(&self) {
        self.send(Piece::EndLine);
    }

    /// A line on standard error that is fit to be shown, with colours where they are wanted.
    pub fn show(&self, line: &str) {
        self.note_of(format!("{}\n", masked(line)));
    }

    /// While a line is edited, everything goes through what keeps it out of the way; without one, no longer. Waits until
    /// all that was told before is written.
    pub fn edit(&self, aside: Option<Box<dyn Aside>>) {
        let (done, is_done) = mpsc::channel();
        self.send(Piece::Edit(aside, done));
        let _ = is_done.recv();
    }

    /// Whether notes are left out.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Says something that is no error, unless quiet.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.tell(&format!("toolsmith: {message}"));
        }
    }

    /// A line on standard error.
    pub fn tell(&self, text: &str) {
        self.clear_progress();
        self.note_of(format!("{}\n", printable::lines(&masked(text))));
    }

    /// Lines on standard output, after whatever the program printed: to a terminal without what controls it, and to a
    /// pipe or a file as they are.
    pub fn print(&self, text: &str) {
        if io::stdout().is_terminal() {
            self.print_painted(&printable::lines(text));
        } else {
            self.print_painted(text);
        }
    }

    /// JSON on standard output; to a terminal with everything escaped that is invisible, which means the same.
    pub fn print_json(&self, json: &str) {
        if io::stdout().is_terminal() {
            self.print_painted(&printable::json(json));
        } else {
            self.print_painted(json);
        }
    }

    /// Lines on standard output that are safe to show, with colours where they are wanted.
    pub fn print_painted(&self, text: &str) {
        self.clear_progress();
        let end = if std::mem::take(&mut self.state().stdout_open) { "\n" } else { "" };
        self.send(Piece::Out(format!("{end}{text}\n").into_bytes()));
    }

    /// Waits until everything is written.
    ///
    /// # Errors
    /// Where standard output took no more, for another reason than that nobody reads it.
    pub async fn flush(&self) -> io::Result<()> {
        self.clear_progress();
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

    /// What tells people something from elsewhere.
    pub fn notifier(&self) -> Notifier {
        Notifier { writer: self.writer.clone(), quiet: self.quiet, one_line: self.one_line }
    }

    /// The person at the terminal that this process belongs to.
    pub fn prompt(&self) -> TerminalPrompt {
        TerminalPrompt::new(self.writer.clone(), self.questions.clone())
    }

    fn clear_progress(&self) {
        if std::mem::take(&mut self.state().progress_shown) {
            self.send(Piece::Err(b"\r\x1b[K".to_vec()));
        }
    }

    /// Hands over what is never left out. Many small pieces become a large one.
    fn send(&self, piece: Piece) {
        self.writer.keep_or_merge(piece, Piece::merge);
    }

    /// Hands over what is left out where too much waits.
    fn note_of(&self, text: String) {
        push_note(&self.writer, text);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queues a note, its beginning where it is long.
fn push_note(writer: &queue::Sender<Piece>, text: String) {
    // A line that is cut still ends.
    let text = match text.len() <= LONGEST_NOTE {
        true => text,
        false => format!("{}\n", queue::shortened(&text, LONGEST_NOTE)),
    };
    let bytes = size_of::<Piece>() + text.len();
    writer.push(Piece::Err(text.into_bytes()), bytes);
}

/// A number that a program names, in a bounded number of digits.
fn short(number: f64) -> String {
    if number.abs() < 1e15 { number.to_string() } else { format!("{number:e}") }
}

impl Observer for Terminal {
    fn takes_output(&self) -> BoxFuture<'_, ()> {
        let mut questions = self.questions.subscribe();
        async move {
            // It ends only with this terminal.
            let _ = questions.wait_for(|open| *open == 0).await;
        }
        .boxed()
    }

    fn progress(&self, message: &str) {
        if self.quiet {
            return;
        }
        let message = printable::prose(&masked(message));
        if self.one_line {
            self.state().progress_shown = true;
            self.note_of(format!("\r\x1b[Ktoolsmith: {message}"));
        } else {
            self.note_of(format!("toolsmith: {message}\n"));
        }
    }

    fn stdout(&self, bytes: &[u8]) {
        if self.live {
            self.clear_progress();
            self.state().stdout_open = bytes.last() != Some(&b'\n');
            self.send(Piece::Program(Stream::Out, bytes.to_vec()));
        }
    }

    fn stderr(&self, bytes: &[u8]) {
        if self.live {
            self.clear_progress();
            self.send(Piece::Program(Stream::Err, bytes.to_vec()));
        }
    }

    fn program_progress(&self, done: f64, total: f64, message: &str) {
        let (now, is_final) = (Instant::now(), done >= total);
        let last = self.state().program_progress;
        // The last step is shown whenever it comes, but no flood of last steps.
        let is_early = last.is_some_and(|(last, _)| now.duration_since(last) < PROGRESS_INTERVAL);
        // After a question it would be out of date.
        if *self.questions.borrow() > 0 {
            return;
        }
        if is_early && (!is_final || last.is_some_and(|(_, was_final)| was_final)) {
            return;
        }
        self.state().program_progress = Some((now, is_final));
        let message: String = message.chars().take(200).collect();
        self.progress(&format!("{} of {} {message}", short(done), short(total)));
    }
}

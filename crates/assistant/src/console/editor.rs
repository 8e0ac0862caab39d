//! Reads messages from a line editor in a separate thread, or from the lines of standard input.
//!
//! While a line is edited, output goes through the editor, which prints it above the line. Between two prompts the
//! terminal has its original settings, for questions and for Ctrl-C.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

use gateway::failure::Failure;
use parking_lot::{Condvar, Mutex};
use report::Kind;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor as LineEditor, ExternalPrinter, Helper};
use terminal::{Aside, Terminal};
use tokio::sync::oneshot;

use super::slash_command::HELP;
use super::turn_status::TurnStatus;
use super::typed;

/// Maximum number of messages in the history.
const HISTORY: usize = 1_000;

/// Maximum size of a message from standard input without a terminal, in bytes (4 MiB).
const MESSAGE_LIMIT: usize = 4 << 20;

/// Disables bracketed paste (xterm's mode 2004).
const NO_PASTE: &str = "\x1b[?2004l";

/// The result of reading from the user.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Message(String),
    /// Ctrl-C.
    Interrupt,
    /// Ctrl-D, or the end of the input.
    End,
    Failed(String),
}

/// Reads messages, one for each request.
pub(crate) struct Editor {
    requests: mpsc::Sender<Request>,
    /// Whether standard input and output are a terminal.
    pub(crate) is_interactive: bool,
    cooked: Option<Cooked>,
}

/// A request for a message.
struct Request {
    prompt: String,
    /// The text that the user has typed of it before.
    begun: String,
    answer: oneshot::Sender<Typed>,
}

/// The terminal's settings before the first line was edited.
struct Cooked(Termios);

impl Editor {
    /// Starts the thread; `history` is the file for earlier messages.
    ///
    /// # Errors
    /// If the terminal can't be used.
    pub(crate) fn start(terminal: &Arc<Terminal>, history: Option<PathBuf>) -> Result<Self, Failure> {
        let (requests, receiver) = mpsc::channel();
        if !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
            std::thread::spawn(move || read_lines(&receiver));
            return Ok(Editor { requests, is_interactive: false, cooked: None });
        }
        let cooked = tcgetattr(io::stdin()).ok().map(Cooked);
        let wrong = |error: ReadlineError| {
            Failure::new(Kind::Terminal, format!("the terminal can't be used: {error}"))
        };
        let config = Config::builder().max_history_size(HISTORY).map_err(wrong)?.auto_add_history(true);
        let mut editor: LineEditor<Typing, FileHistory> =
            LineEditor::with_config(config.build()).map_err(wrong)?;
        editor.set_helper(Some(Typing));
        let history = history.filter(|file| match prepare(file) {
            Ok(()) => true,
            Err(error) => {
                terminal
                    .eprint(&format!("toolsmith: the history can't be saved: {}: {error}", file.display()));
                false
            }
        });
        if let Some(file) = &history {
            // If it can't be read, start a new one.
            let _ = editor.load_history(file);
        }
        let terminal = terminal.clone();
        std::thread::spawn(move || edit_lines(editor, &terminal, history.as_deref(), &receiver));
        Ok(Editor { requests, is_interactive: true, cooked })
    }

    /// Reads the next message, which may have begun during the last turn.
    pub(crate) async fn read(&self, prompt: &str, status: &TurnStatus) -> Typed {
        let (answer, typed) = oneshot::channel();
        let request = Request { prompt: prompt.to_owned(), begun: status.take_typed(), answer };
        if self.requests.send(request).is_err() {
            return Typed::End;
        }
        typed.await.unwrap_or(Typed::End)
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // A line may still be edited when a signal ends the process.
        if let Some(Cooked(settings)) = &self.cooked {
            let _ = tcsetattr(io::stdin(), OptionalActions::Drain, settings);
            let _ = io::stdout().write_all(NO_PASTE.as_bytes());
        }
    }
}

fn edit_lines(
    mut editor: LineEditor<Typing, FileHistory>,
    terminal: &Terminal,
    history: Option<&Path>,
    requests: &mpsc::Receiver<Request>,
) {
    let relay = editor.create_external_printer().ok().map(Relay::start);
    while let Ok(Request { prompt, begun, answer }) = requests.recv() {
        terminal.edit(relay.as_ref().map(Relay::begin));
        let read = editor.readline_with_initial(&prompt, (&begun, ""));
        terminal.edit(None);
        let typed = match read {
            Ok(text) => Typed::Message(typed::message(&text)),
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Typed::Interrupt,
            Err(ReadlineError::Eof) => Typed::End,
            Err(error) => Typed::Failed(error.to_string()),
        };
        if let (Typed::Message(_), Some(file)) = (&typed, history) {
            // The history is optional, so errors are ignored.
            let _ = editor.append_history(file);
        }
        let _ = answer.send(typed);
    }
}

/// Reads a message for each request: one line, or several that belong together.
fn read_lines(requests: &mpsc::Receiver<Request>) {
    let mut input = io::stdin().lock();
    while let Ok(Request { answer, .. }) = requests.recv() {
        let _ = answer.send(read_message(&mut input));
    }
}

fn read_message(input: &mut impl io::BufRead) -> Typed {
    let mut text = String::new();
    loop {
        match input.read_line(&mut text) {
            Ok(0) if text.trim().is_empty() => return Typed::End,
            Ok(0) => return Typed::Message(typed::message(&text)),
            Ok(_) if text.len() > MESSAGE_LIMIT => {
                return Typed::Failed(format!("a message has more than {MESSAGE_LIMIT} bytes"));
            }
            Ok(_) if typed::is_whole(text.strip_suffix('\n').unwrap_or(&text)) => {
                return Typed::Message(typed::message(&text));
            }
            Ok(_) => {}
            Err(error) => return Typed::Failed(error.to_string()),
        }
    }
}

/// Creates the file if it is missing, and makes it readable and writable only by its owner.
fn prepare(file: &Path) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let opened = fs::OpenOptions::new().append(true).create(true).mode(0o600).open(file)?;
    opened.set_permissions(fs::Permissions::from_mode(0o600))
}

/// Validation and completion of messages for the editor.
struct Typing;

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let is_whole = typed::is_whole(context.input());
        Ok(if is_whole { ValidationResult::Valid(None) } else { ValidationResult::Incomplete })
    }
}

impl Completer for Typing {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = line.get(..at).unwrap_or_default();
        if !typed.starts_with('/') {
            return Ok((0, Vec::new()));
        }
        Ok((0, completions(typed)))
    }
}

/// The commands that begin with the typed text.
fn completions(typed: &str) -> Vec<Pair> {
    let commands =
        HELP.iter().flat_map(|(usage, _)| usage.split(", ")).filter(|usage| usage.starts_with('/'));
    // Cut each usage before its first placeholder.
    let fixed =
        commands.map(|usage| usage.split([' ']).take_while(|word| !word.starts_with(['[', 'S', 'N', 'U'])));
    let mut fixed: Vec<String> = fixed.map(|words| words.collect::<Vec<_>>().join(" ")).collect();
    fixed.sort();
    fixed.dedup();
    let fitting = fixed.into_iter().filter(|command| command.starts_with(typed));
    fitting.map(|command| Pair { display: command.clone(), replacement: command }).collect()
}

impl Hinter for Typing {
    type Hint = String;
}

impl Highlighter for Typing {}

impl Helper for Typing {}

/// Passes output to the editor from a separate thread, because the editor may be busy and writers must not wait.
#[derive(Debug, Clone)]
struct Relay(Arc<(Mutex<Waiting>, Condvar)>);

#[derive(Debug, Default)]
struct Waiting {
    text: String,
    is_editing: bool,
}

impl Relay {
    fn start(mut printer: impl ExternalPrinter + Send + 'static) -> Self {
        let relay = Relay(Arc::default());
        let shared = relay.clone();
        std::thread::spawn(move || {
            loop {
                let text = shared.next();
                if printer.print(text).is_err() {
                    return;
                }
            }
        });
        relay
    }

    fn begin(&self) -> Box<dyn Aside> {
        self.0.0.lock().is_editing = true;
        Box::new(self.clone())
    }

    /// Waits until a line is being edited, and returns the pending complete lines.
    fn next(&self) -> String {
        let mut waiting = self.0.0.lock();
        loop {
            if let (true, Some(end)) = (waiting.is_editing, waiting.text.rfind('\n')) {
                let rest = waiting.text.split_off(end + 1);
                return std::mem::replace(&mut waiting.text, rest);
            }
            self.0.1.wait(&mut waiting);
        }
    }
}

impl Aside for Relay {
    fn show(&mut self, text: &str) {
        self.0.0.lock().text.push_str(text);
        self.0.1.notify_one();
    }

    fn end(self: Box<Self>) -> String {
        let mut waiting = self.0.0.lock();
        waiting.is_editing = false;
        std::mem::take(&mut waiting.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_lines_are_messages() {
        let mut input = "one\ntwo \\\nmore\n```\nx\n\n```\nlast".as_bytes();
        let mut messages = Vec::new();
        while let Typed::Message(message) = read_message(&mut input) {
            messages.push(message);
        }
        assert_eq!(messages, ["one", "two \nmore", "```\nx\n\n```", "last"]);
    }

    #[test]
    fn commands_are_completed_up_to_the_name_of_a_server() {
        let found =
            |typed: &str| completions(typed).into_iter().map(|pair| pair.replacement).collect::<Vec<_>>();
        assert_eq!(found("/q"), ["/quit"]);
        assert_eq!(found("/mcp re"), ["/mcp reconnect"]);
        assert_eq!(found("/pro"), ["/prompt", "/prompts"]);
        assert!(found("hello").is_empty());
    }

    #[test]
    fn only_the_owner_can_read_the_history() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/history");
        for _ in 0..2 {
            prepare(&file).unwrap();
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        assert_eq!(fs::metadata(folder.path().join("new")).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

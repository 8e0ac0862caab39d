//! Snapshots of what people and models read: pages, one for each subject with all its texts, and single texts.
//!
//! A page is for reading through. What differs between machines and runs is replaced, in [`settings`] only.

#![allow(clippy::unwrap_used, missing_docs, reason = "only tests use it")]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use insta::Settings;
use regex::Regex;
use serde_json::Value;

use crate::cache::{folder, shared};
use crate::harness::{FinishedRun, Run, programs_folder};

/// The texts of one subject.
pub struct Page {
    subject: &'static str,
    text: String,
}

impl Page {
    pub fn new(subject: &'static str) -> Self {
        Page { subject, text: String::new() }
    }

    /// Adds a text with its title.
    pub fn add(&mut self, title: &str, text: &str) {
        let text = text.replace('\r', "");
        writeln!(self.text, "## {title}\n\n{}\n", text.trim_end_matches('\n')).unwrap();
    }

    /// Adds what a command prints, and its exit code.
    pub fn ended(&mut self, title: &str, done: &FinishedRun) {
        let mut text = String::new();
        for (name, printed) in [("standard output", &done.stdout), ("standard error", &done.stderr)] {
            if !printed.is_empty() {
                writeln!(text, "[{name}]\n{}", printed.trim_end_matches('\n')).unwrap();
            }
        }
        writeln!(text, "[exit code {}]", done.code()).unwrap();
        self.add(title, &text);
    }

    /// Runs a command to its end, and adds what it prints.
    pub fn run(&mut self, title: &str, run: Run) {
        self.ended(title, &run.done());
    }

    /// Runs `toolsmith` with these arguments, which are the title, and adds what it prints.
    pub fn command(&mut self, arguments: &[&str]) {
        let words = ["toolsmith"].iter().chain(arguments).map(|word| quoted(word));
        let title = words.collect::<Vec<_>>().join(" ");
        self.run(&title, Run::new(shared()).arguments(arguments));
    }

    /// Compares the page with its snapshot.
    #[track_caller]
    pub fn check(self) {
        settings().bind(|| insta::assert_snapshot!(self.subject, self.text.trim_end()));
    }
}

/// A word as one types it in a shell.
fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=:*,".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("'{word}'") }
}

/// Where snapshots are, and what differs between machines and runs.
pub fn settings() -> Settings {
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, replacement) in replacements() {
        settings.add_filter(pattern.as_str(), *replacement);
    }
    settings
}

/// A text for a snapshot in a test: without what differs between machines and runs, and with control characters that
/// can be read.
pub fn normal(text: &(impl Shown + ?Sized)) -> String {
    let mut text = text.text().replace("\r\n", "\n");
    for (pattern, replacement) in replacements().iter().chain(measured()) {
        text = pattern.replace_all(&text, *replacement).into_owned();
    }
    let mut shown = String::new();
    for letter in text.chars() {
        match letter {
            '\n' => shown.push('\n'),
            letter if letter.is_control() => shown.extend(letter.escape_debug()),
            letter => shown.push(letter),
        }
    }
    without_margin(&shown)
}

/// A text without the blanks that all its lines begin with: insta takes them for the indentation of an inline snapshot.
fn without_margin(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let margin = lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    text.split('\n').map(|line| line.get(margin..).unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// A value that a test compares as a text.
pub trait Shown {
    fn text(&self) -> String;
}

impl Shown for str {
    fn text(&self) -> String {
        self.to_owned()
    }
}

impl Shown for String {
    fn text(&self) -> String {
        self.clone()
    }
}

impl Shown for Value {
    /// A string as it is, and everything else as JSON.
    fn text(&self) -> String {
        self.as_str().map_or_else(|| format!("{self:#}"), str::to_owned)
    }
}

impl Shown for mcp::Error {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl Shown for agent::SettingsError {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl<T: Shown + ?Sized> Shown for &T {
    fn text(&self) -> String {
        (**self).text()
    }
}

/// Patterns of what differs between machines and runs, and what they are replaced by.
fn replacements() -> &'static [(Regex, &'static str)] {
    static REPLACEMENTS: OnceLock<Vec<(Regex, &'static str)>> = OnceLock::new();
    REPLACEMENTS.get_or_init(|| {
        let escaped = |path: &Path| escaped(path.to_str().unwrap());
        let temporary = escaped(&std::env::temp_dir());
        let target = escaped(&programs_folder());
        let patterns = [
            // Of equal length, so that tables keep their form.
            (format!(r"{temporary}/\.tmp\w{{6}}"), "/tmp/.tmpXXXXXX"),
            (r"/tmp/\.tmp\w{6}".to_owned(), "/tmp/.tmpXXXXXX"),
            (escaped(&folder()), "[cache]"),
            (target, "[target]"),
            // Whether a server was started before depends on earlier tests.
            (r"(?m)^toolsmith: info: \w+ is started for the first time: .*\n".to_owned(), ""),
            // Whether a list was cached before does, too.
            (r"(?m)^toolsmith: the tools of a server have changed: compiling again .*\n".to_owned(), ""),
            // So does whether a server is awaited for longer than a second.
            (r"(?m)^toolsmith: (?:starting|connecting to|waiting for) [^\n\x1b]*, \d+ s\n".to_owned(), ""),
            // Whether a compiler waits depends on what else this machine runs.
            (r"(?m)^toolsmith: waiting for (memory:|other compilers,) .*\n".to_owned(), ""),
            (r"\[standard error\]\n\[exit code".to_owned(), "[exit code"),
            // Which servers are still starting depends on their speed.
            (r"\[next block\]\nNot available now: [^\n]*: still starting\.\n?".to_owned(), ""),
            (r"thread 'main' \(\d+\)".to_owned(), "thread 'main' ([id])"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\dZ".to_owned(), "2026-01-01 12:00Z"),
            (r"Date: \d{4}-\d\d-\d\d".to_owned(), "Date: 2026-01-01"),
            (r"(?m), [\d.]+ ms$".to_owned(), ", [time] ms"),
            // Conversations and their messages.
            (r"--resume [0-9a-z]{10}\b".to_owned(), "--resume [conv. id]"),
            (r"(?m)^(conversation |deleted | )[0-9a-z]{10}( |$)".to_owned(), "${1}[conv. id]$2"),
            (r"(?m)^(user|assistant|tools)  (\S+ \S+)  [0-9a-z]{12}".to_owned(), "$1  $2  [message id]"),
            // Threads that end while the process aborts wait with this call, or not.
            (r"; the sandbox refused these system calls: pause".to_owned(), ""),
            // An address to log in at.
            (r"127\.0\.0\.1:\d+/authorize\?\S+".to_owned(), "127.0.0.1:[port]/authorize?[parameters]"),
            (r"executions/[0-9a-f]{32}".to_owned(), "executions/[id]"),
            (r"127\.0\.0\.1:\d+".to_owned(), "127.0.0.1:[port]"),
        ];
        patterns
            .into_iter()
            .map(|(pattern, replacement)| (Regex::new(&pattern).unwrap(), replacement))
            .collect()
    })
}

/// Patterns of measured times, of hashes and of this version. Pages show their form.
fn measured() -> &'static [(Regex, &'static str)] {
    static MEASURED: OnceLock<Vec<(Regex, &'static str)>> = OnceLock::new();
    MEASURED.get_or_init(|| {
        let version = format!(r"\b{}\b", escaped(env!("CARGO_PKG_VERSION")));
        let patterns = [
            (r#""(\w+_ms)": ?[\d.]+"#, r#""$1": [ms]"#),
            // Of a whole second or not, depending on the machine.
            (r"(?:\b\d+(?:\.\d+)?|\[time\]) ms\b", "[time]"),
            (r"\b\d+\.\d+ s\b", "[time]"),
            // Colours at a terminal, which depend on its kind.
            (r"\x1b\[[0-9;]*m", ""),
            // Progress at a terminal, which depends on how long something takes.
            (r"(?:\r\x1b\[Ktoolsmith: [^\r\n]*)+\r\x1b\[K", ""),
            (r"\r[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏][^\r\n]*\r", ""),
            (r"\b[0-9a-f]{16,64}\b", "[hash]"),
            // Runs of subagents, and conversations.
            (r"\(run [0-9a-z]{8}\)", "(run [id])"),
            (r#""io\.toolsmith/parentRun":"[0-9a-z]{8}""#, r#""io.toolsmith/parentRun":"[id]""#),
            (r"(?m)^\[(\w+) [0-9a-z]{8}\] ", "[$1 [id]] "),
            (r#"\b(conversation|conversation export|no conversation) ("?)[0-9a-z]{10}\b"#, "$1 $2[id]"),
            (r"\b[0-9a-z]{9} is not a full id; (.*) [0-9a-z]{10}\b", "[part] is not a full id; $1 [id]"),
            (r"\[::1\]:\d+", "[::1]:[port]"),
            (&version, "[version]"),
        ];
        patterns.map(|(pattern, replacement)| (Regex::new(pattern).unwrap(), replacement)).into()
    })
}

/// A text without control sequences: those that a prompt resets the terminal with.
pub fn without_escapes(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, sequence)) = rest.split_once('\u{1b}') {
        plain.push_str(before);
        // ECMA-48, 5.4 and 5.6: parameters and a last letter, or a command up to its terminator.
        let end = match sequence.chars().next() {
            Some('[') => sequence[1..].find(|letter: char| ('@'..='~').contains(&letter)).map(|at| at + 2),
            Some(']') => sequence.find("\u{1b}\\").map(|at| at + 2),
            _ => Some(1),
        };
        rest = &sequence[end.unwrap_or_else(|| panic!("no end: {sequence:?}"))..];
    }
    plain + rest
}

/// A regular expression for exactly this text.
pub fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for letter in text.chars() {
        if !letter.is_alphanumeric() && letter != '/' {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

//! Shows a run: the model's text as it arrives, and its tool calls as lines with their times.

use std::io::{IsTerminal as _, stdout};
use std::sync::Arc;
use std::time::Duration;

use agent::{Compaction, Delta, Event, Message, ToolCall, ToolResult, Usage, Watcher};
use gateway::audience::for_person;
use parking_lot::Mutex;
use serde_json::Value;
use server::definitions::EXECUTE;
use terminal::table::short;
use terminal::{Part, Terminal};

use super::highlight;
use super::markdown::MarkdownStream;
use super::record::ConversationRecord;
use super::style::{Style, TextStyle};
use super::turn_status::TurnStatus;

/// Maximum length of arguments and results in a line, in characters.
const LINE: usize = 120;

/// Maximum number of a snippet's lines that are shown when it runs; `/code` shows all of them.
const SNIPPET_LINES: usize = 40;

/// Maximum number of an error's lines that are shown.
const ERROR_LINES: usize = 20;

/// Shows a run, and saves its messages.
pub(crate) struct Screen {
    terminal: Arc<Terminal>,
    style: Style,
    /// Whether the model's text is shown as it arrives.
    streams: bool,
    /// Whether its Markdown is rendered.
    renders: bool,
    record: Arc<Mutex<ConversationRecord>>,
    status: Arc<TurnStatus>,
    state: Mutex<State>,
}

/// The state of the run.
#[derive(Default)]
struct State {
    /// The text of the incomplete message so far.
    partial: String,
    /// Whether the message had thinking deltas.
    has_thought: bool,
    /// The incomplete line of the thought.
    thought: String,
    /// The number of calls without a result.
    open_calls: usize,
    tally: RunStats,
    snippet: Option<String>,
    markdown: MarkdownStream,
}

/// The usage and calls of a run, however it ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RunStats {
    pub(crate) usage: Usage,
    /// The number of the model's responses.
    pub(crate) turns: u32,
    pub(crate) calls: Vec<FinishedCall>,
}

/// A tool call with a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FinishedCall {
    pub(crate) tool: String,
    pub(crate) is_error: bool,
    pub(crate) time: Duration,
}

impl Screen {
    pub(crate) fn new(
        terminal: Arc<Terminal>,
        style: Style,
        streams: bool,
        record: Arc<Mutex<ConversationRecord>>,
        status: Arc<TurnStatus>,
    ) -> Self {
        // The status line shows the text of an incomplete block.
        let renders = stdout().is_terminal() && terminal.has_status();
        let markdown = MarkdownStream::new(Style::of_stdout());
        let state = Mutex::new(State { markdown, ..State::default() });
        Screen { terminal, style, streams, renders, record, status, state }
    }

    /// Starts a run.
    pub(crate) fn begin(&self) {
        let mut state = self.state.lock();
        let (snippet, markdown) = (state.snippet.take(), std::mem::take(&mut state.markdown));
        *state = State { snippet, markdown, ..State::default() };
    }

    /// Ends the run, and returns its statistics and the text of an incomplete message.
    pub(crate) fn end(&self) -> (RunStats, String) {
        self.end_text();
        let mut state = self.state.lock();
        (std::mem::take(&mut state.tally), std::mem::take(&mut state.partial))
    }

    /// The last snippet that was run.
    pub(crate) fn snippet(&self) -> Option<String> {
        self.state.lock().snippet.clone()
    }

    /// Finds the last snippet of a resumed conversation.
    pub(crate) fn recall(&self, messages: &[Message]) {
        let calls = messages.iter().flat_map(Message::calls);
        self.state.lock().snippet = calls.filter_map(code).next_back().map(str::to_owned);
    }

    fn delta(&self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => {
                self.state.lock().partial.push_str(text);
                self.text(text);
            }
            Delta::Thinking(text) => {
                self.state.lock().has_thought = true;
                self.think(text);
            }
            Delta::Retry { attempt, wait, why } => {
                self.end_text();
                let had_text = {
                    let mut state = self.state.lock();
                    state.has_thought = false;
                    !std::mem::take(&mut state.partial).is_empty()
                };
                let void = if had_text { "; ignore the text of this attempt" } else { "" };
                let line = format!(
                    "attempt {attempt} failed: {}{void}; retrying in {}",
                    short(why, LINE * 4),
                    seconds(wait)
                );
                self.note(TextStyle::Yellow, &line);
            }
        }
    }

    /// Shows more of the answer, if it is shown as it arrives.
    fn text(&self, text: &str) {
        self.end_thought();
        match (self.streams, self.renders) {
            (false, _) => {}
            (true, false) => self.terminal.more_text(text),
            (true, true) => {
                let mut state = self.state.lock();
                if let Some(lines) = state.markdown.push(text, terminal::columns(stdout())) {
                    self.terminal.print_painted(&lines);
                }
                self.status.set_preview(state.markdown.pending());
            }
        }
    }

    /// Ends the answer's text: the next output starts on a new line.
    fn end_text(&self) {
        self.end_thought();
        if let Some(lines) = self.state.lock().markdown.finish(terminal::columns(stdout())) {
            self.terminal.print_painted(&lines);
        }
        self.status.set_preview("");
        self.terminal.end_line();
    }

    fn think(&self, text: &str) {
        if self.terminal.is_quiet() {
            return;
        }
        if !self.terminal.has_status() {
            return self.terminal.more(Part::Thought, &self.dimmed(text));
        }
        // An open line would hide the status line.
        let mut state = self.state.lock();
        state.thought.push_str(text);
        if let Some(end) = state.thought.rfind('\n') {
            let rest = state.thought.split_off(end + 1);
            let lines = std::mem::replace(&mut state.thought, rest);
            self.terminal.show(&self.dimmed(lines.trim_end_matches('\n')));
        }
        self.status.set_preview(&state.thought);
    }

    /// Shows the last line of a thought.
    fn end_thought(&self) {
        let line = std::mem::take(&mut self.state.lock().thought);
        if !line.is_empty() {
            self.status.set_preview("");
            self.terminal.show(&self.dimmed(&line));
        }
    }

    fn dimmed(&self, text: &str) -> String {
        let text = printable::lines(text);
        let lines = text.split('\n').map(|line| self.style.paint(TextStyle::Dim, line));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn note(&self, look: TextStyle, line: &str) {
        if !self.terminal.is_quiet() {
            self.terminal.show(&self.style.paint(look, line));
        }
    }

    fn called(&self, call: &ToolCall) {
        let snippet = code(call);
        self.state.lock().open_calls += 1;
        if let Some(code) = snippet {
            self.state.lock().snippet = Some(code.to_owned());
        }
        self.status.begin(short(&call.name, LINE));
        if self.terminal.is_quiet() {
            return;
        }
        let name = self.style.paint(TextStyle::Bold, &short(&call.name, LINE));
        match snippet {
            Some(code) => self.terminal.show(&format!("→ {name}\n{}", snippet_lines(code, self.style))),
            None => self.terminal.show(&format!("→ {name}({})", arguments(&call.arguments))),
        }
    }

    fn answered(&self, result: &ToolResult, time: Duration) {
        let called = FinishedCall { tool: result.name.clone(), is_error: result.is_error, time };
        let has_open_calls = {
            let mut state = self.state.lock();
            state.tally.calls.push(called);
            state.open_calls = state.open_calls.saturating_sub(1);
            state.open_calls > 0
        };
        if !has_open_calls {
            self.status.begin("waiting for the model".to_owned());
        }
        if self.terminal.is_quiet() {
            return;
        }
        let text = result.texts();
        let text = for_person(text.trim());
        let line = if result.is_error { String::new() } else { short(&text, LINE) };
        let (look, how) =
            if result.is_error { (TextStyle::Red, "failed after") } else { (TextStyle::Green, "after") };
        let head =
            self.style.paint(look, &format!("← {} {how} {}", short(&result.name, LINE), seconds(time)));
        let line = self.style.paint(TextStyle::Dim, &line);
        self.terminal.show(&match (result.is_error, line.is_empty()) {
            (true, _) => format!("{head}:\n{}", barred(&text, self.style, ERROR_LINES, "", str::to_owned)),
            (false, true) => head,
            (false, false) => format!("{head}: {line}"),
        });
    }

    fn compacted(&self, step: Compaction<'_>) {
        self.end_text();
        match step {
            Compaction::Begins { tokens, window } => self.note(
                TextStyle::Yellow,
                &format!(
                    "the conversation has about {tokens} of the model's {window} tokens; the model summarizes it"
                ),
            ),
            Compaction::Done { messages, summary } => self.note(
                TextStyle::Yellow,
                &format!(
                    "the model continues from a summary of {} characters; the {messages} messages before it stay \
                     in the conversation",
                    summary.chars().count()
                ),
            ),
            // The user must know it even if quiet: the request may fail for this reason.
            Compaction::Failed { why } => self.terminal.eprint(&format!(
                "toolsmith: warning: the conversation can't be summarized: {why}; the whole conversation is sent"
            )),
        }
    }

    fn whole(&self, message: &Message, usage: Usage) {
        let mut state = self.state.lock();
        state.partial.clear();
        state.has_thought = false;
        let is_turn = message.role == agent::Role::Assistant;
        state.tally.turns = state.tally.turns.saturating_add(u32::from(is_turn));
        state.tally.usage = state.tally.usage.and(usage);
        drop(state);
        self.record.lock().keep(message, usage);
        self.end_text();
    }
}

impl Watcher for Screen {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Delta(delta) => self.delta(delta),
            // Without streaming, the thought arrives only here.
            Event::Thought(text) if !self.state.lock().has_thought => self.think(text),
            Event::Response(text) if self.state.lock().partial.is_empty() => self.text(text),
            Event::Thought(_) | Event::Response(_) => {}
            Event::ToolCall(call) => self.called(call),
            Event::ToolResult(result, time) => self.answered(result, time),
            Event::Message(message, usage) => self.whole(message, usage),
            Event::Compaction(step) => self.compacted(step),
        }
    }
}

/// The snippet of a call, if it has one.
fn code(call: &ToolCall) -> Option<&str> {
    (call.name == EXECUTE).then(|| call.arguments.get("code")?.as_str()).flatten()
}

/// Formats a snippet, indented and shortened.
fn snippet_lines(code: &str, style: Style) -> String {
    barred(code, style, SNIPPET_LINES, "; /code shows all", |shown| highlight::rust(shown, style))
}

/// Formats the first lines of a text behind a bar, and counts the others.
fn barred(text: &str, style: Style, most: usize, advice: &str, paint: impl FnOnce(&str) -> String) -> String {
    let clean = printable::lines(text);
    let lines: Vec<&str> = clean.trim_end().lines().collect();
    let shown = lines.get(..most).unwrap_or(&lines).join("\n");
    let bar = style.paint(TextStyle::Dim, "│");
    let mut text = paint(&shown).lines().map(|line| format!("  {bar} {line}")).collect::<Vec<_>>();
    if lines.len() > most {
        let more = report::count(lines.len() - most, "more line");
        text.push(format!("  {bar} … {more}{advice}"));
    }
    text.join("\n")
}

/// Formats arguments on one line.
fn arguments(arguments: &Value) -> String {
    let Some(members) = arguments.as_object() else { return short(&arguments.to_string(), LINE) };
    let members = members.iter().map(|(name, value)| format!("{name}: {value}"));
    short(&members.collect::<Vec<_>>().join(", "), LINE)
}

/// Formats a duration.
pub(crate) fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 if time.as_millis() < 100 => format!("{} ms", time.as_millis()),
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        seconds => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_on_one_line_without_control_characters() {
        assert_eq!(arguments(&json!({ "a": 1, "b": "x\ny" })), r#"a: 1, b: "x\ny""#);
        assert_eq!(arguments(&json!([1, 2])), "[1,2]");
        assert!(arguments(&json!({ "a": "z".repeat(500) })).chars().count() <= LINE + 1);
        assert!(!arguments(&json!({ "\u{1b}[2J": "\u{202e}" })).contains(['\u{1b}', '\u{202e}']));
    }

    #[test]
    fn long_snippets_are_shortened_with_a_note() {
        let long = "f();\n".repeat(SNIPPET_LINES + 3);
        let shown = snippet_lines(&long, Style(false));
        assert_eq!(shown.lines().count(), SNIPPET_LINES + 1, "{shown}");
        assert!(
            shown.starts_with("  │ f();\n") && shown.ends_with("3 more lines; /code shows all"),
            "{shown}"
        );
        assert!(!snippet_lines("a\u{1b}[2J", Style(false)).contains('\u{1b}'));
    }

    #[test]
    fn times_are_readable() {
        let time = |ms| seconds(Duration::from_millis(ms));
        assert_eq!([time(5), time(1234), time(61_000)], ["5 ms", "1.2 s", "1 min 1 s"]);
    }
}

//! Formats a conversation for a terminal: messages, tool calls with their arguments, and results.

use std::fmt::Write as _;

use agent::{Block, Role, StoredMessage, Summary, ToolCall, ToolResult};
use serde_json::Value;

use system::calendar::minute;

/// Maximum length of a shown result or argument without --full, in characters and in lines.
const CHARACTER_LIMIT: usize = 2000;
const LINE_LIMIT: usize = 20;

/// Maximum length of arguments that are shown on one line, in characters.
const ONE_LINE: usize = 160;

/// The control sequences for parts of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    bold: &'static str,
    dim: &'static str,
    end: &'static str,
}

impl Style {
    pub(super) const NONE: Style = Style { bold: "", dim: "", end: "" };
    pub(super) const TERMINAL: Style = Style { bold: "\x1b[1m", dim: "\x1b[2m", end: "\x1b[0m" };
}

/// A page being written.
pub(super) struct Page {
    text: String,
    full: bool,
    style: Style,
}

impl Page {
    /// Formats a conversation; without `full`, arguments and results are shortened.
    pub(super) fn of(summary: &Summary, path: &[StoredMessage], full: bool, style: Style) -> String {
        let mut page = Page { text: String::new(), full, style };
        page.head(summary);
        path.iter().for_each(|kept| page.message(kept));
        page.text
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Writes the lines of an untrusted text, each with a prefix.
    fn lines(&mut self, prefix: &str, text: &str) {
        let text = printable::lines(text);
        for line in text.lines() {
            self.line(format!("{prefix}{line}").trim_end());
        }
    }

    fn head(&mut self, summary: &Summary) {
        let Style { bold, end, .. } = self.style;
        let (about, usage) = (&summary.about, summary.usage);
        self.line(&format!("{bold}conversation {}{end}", summary.id));
        self.lines(
            "",
            &format!("started {}, model {}, folder {}", minute(summary.begun), about.model, about.folder),
        );
        if let Some(label) = &about.label {
            let run = about.parent_run.as_ref().map(|run| format!(", parent run {run}")).unwrap_or_default();
            self.lines("", &format!("label {label}{run}"));
        }
        self.line(&format!(
            "{}; tokens: {} read ({} of them cached), {} written",
            report::count(summary.messages, "message"),
            usage.input,
            usage.cached,
            usage.output
        ));
    }

    fn message(&mut self, kept: &StoredMessage) {
        let Style { bold, dim, end } = self.style;
        let role = match kept.message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tools",
        };
        let mut after = format!("{}  {}", minute(kept.at), kept.id);
        if kept.usage.total() > 0 {
            let _ = write!(after, "  {} read, {} written", kept.usage.input, kept.usage.output);
        }
        self.line(&format!("\n{bold}{role}{end}  {dim}{after}{end}"));
        kept.message.blocks.iter().for_each(|block| self.block(block));
    }

    fn block(&mut self, block: &Block) {
        let Style { dim, end, .. } = self.style;
        match block {
            Block::Text { text } => self.lines("  ", text),
            // Reset the style at the end of each line, because a pager may cut the page anywhere.
            Block::Thinking { text, .. } => {
                for line in printable::lines(text).lines() {
                    self.line(&format!("  {dim}(thinking) {line}{end}"));
                }
            }
            Block::Media { .. } => self.lines("  ", &media(block)),
            Block::ToolCall(call) => self.call(call),
            Block::ToolResult(result) => self.result(result),
            Block::Summary { text } => {
                self.line(&format!(
                    "  {dim}(summary: the model reads this instead of the messages above){end}"
                ));
                self.lines("  ", text);
            }
        }
    }

    fn call(&mut self, call: &ToolCall) {
        let Style { bold, end, .. } = self.style;
        let name = one_line(&call.name);
        let short = in_one_line(&call.arguments);
        if let Some(short) = short {
            self.line(format!("  → {bold}{name}{end} {}", printable::lines(&short)).trim_end());
            return;
        }
        self.line(&format!("  → {bold}{name}{end}"));
        match &call.arguments {
            Value::Object(members) => {
                for (key, value) in members {
                    let key = one_line(key);
                    match value {
                        Value::String(text) if text.contains('\n') => {
                            self.line(&format!("    {key}:"));
                            let text = self.shortened(text);
                            self.lines("      ", &text);
                        }
                        value => {
                            let text = self.shortened(&value.to_string());
                            self.lines("    ", &format!("{key}: {text}"));
                        }
                    }
                }
            }
            other => {
                let text = self.shortened(&other.to_string());
                self.lines("    ", &text);
            }
        }
    }

    fn result(&mut self, result: &ToolResult) {
        let failed = if result.is_error { " failed" } else { "" };
        let name = one_line(&result.name);
        self.line(&format!("  ← {}{name}{}{failed}", self.style.bold, self.style.end));
        for block in &result.blocks {
            match block {
                Block::Text { text } => {
                    let text = self.shortened(text);
                    self.lines("    ", &text);
                }
                other => self.lines("    ", &media(other)),
            }
        }
    }

    fn shortened(&self, text: &str) -> String {
        if self.full { text.to_owned() } else { shortened(text) }
    }
}

/// Shortens a text, and notes how much is left out.
pub(super) fn shortened(text: &str) -> String {
    let by_lines = text.match_indices('\n').nth(LINE_LIMIT - 1).map_or(text.len(), |(at, _)| at);
    let by_characters = text.char_indices().nth(CHARACTER_LIMIT).map_or(text.len(), |(at, _)| at);
    let (head, rest) = text.split_at(by_lines.min(by_characters));
    match rest.chars().count() {
        0 => text.to_owned(),
        // Only the last line's newline is left out.
        1 if rest == "\n" => head.to_owned(),
        left => format!("{head}\n[… {} more; --full shows them]", report::count(left, "character")),
    }
}

/// A placeholder for media.
pub(super) fn media(block: &Block) -> String {
    match block {
        Block::Media { media_type, data, name } => {
            let name = name.as_ref().map(|name| format!(" {name:?}")).unwrap_or_default();
            format!("[{media_type}{name}, about {} bytes; --json prints it]", data.len() / 4 * 3)
        }
        _ => "[other content; --json prints it]".to_owned(),
    }
}

/// The arguments as one line, if they fit.
pub(super) fn in_one_line(arguments: &Value) -> Option<String> {
    let is_long = |value: &Value| value.as_str().is_some_and(|text| text.contains('\n'));
    if arguments.as_object().is_some_and(|members| members.values().any(is_long)) {
        return None;
    }
    let text = arguments.to_string();
    (text.chars().count() <= ONE_LINE).then_some(text)
}

fn one_line(text: &str) -> String {
    printable::prose(text)
}

#[cfg(test)]
mod tests {
    use agent::{Message, NewConversation, Usage};
    use serde_json::json;

    use super::*;

    fn summary() -> Summary {
        let about = NewConversation {
            label: Some("subagent:r:\u{1b}[2J1".into()),
            parent_run: Some("p1".into()),
            model: "m".into(),
            folder: "/work".into(),
        };
        let usage = Usage { input: 10, output: 5, cached: 3 };
        Summary { id: "abc".into(), about, begun: 0, changed: 0, messages: 3, usage, title: "t".into() }
    }

    fn path() -> Vec<StoredMessage> {
        let call = ToolCall {
            id: "1".into(),
            name: "execute_code".into(),
            arguments: json!({ "code": "let a = 1;\na\u{1b}]0;x\u{7}", "n": 1 }),
            signatures: Vec::new(),
        };
        let short = ToolCall { arguments: json!({ "path": "a" }), name: "read".into(), ..call.clone() };
        let long = (1..=40).map(|line| format!("line {line}\n")).collect::<String>();
        let result = ToolResult::of(&call, long, false);
        let image = Block::Media {
            media_type: "image/png".into(),
            data: "AAAAAAAA".into(),
            name: Some("x.png".into()),
        };
        let failure = ToolResult { blocks: vec![image], ..ToolResult::of(&short, "", true) };
        let thought = Block::Thinking { text: "hm\nwell".into(), signature: None };
        let messages = [
            Message::text(Role::User, "look \u{1b}[31mat\u{202e} it\r\nplease"),
            Message {
                role: Role::Assistant,
                blocks: vec![thought, Block::text("I do"), Block::ToolCall(call), Block::ToolCall(short)],
            },
            Message { role: Role::Tool, blocks: vec![Block::ToolResult(result), Block::ToolResult(failure)] },
        ];
        let kept = messages.into_iter().enumerate().map(|(number, message)| StoredMessage {
            id: format!("m{number}"),
            parent: None,
            at: 60_000,
            message,
            usage: if number == 1 { summary().usage } else { Usage::default() },
        });
        kept.collect()
    }

    #[test]
    fn a_page_names_roles_and_escapes_control_characters() {
        let page = Page::of(&summary(), &path(), false, Style::NONE);
        let expected = "conversation abc
started 1970-01-01 00:00Z, model m, folder /work
label subagent:r:\\u{1b}[2J1, parent run p1
3 messages; tokens: 10 read (3 of them cached), 5 written

user  1970-01-01 00:01Z  m0
  look at\\u{202e} it
  please

assistant  1970-01-01 00:01Z  m1  10 read, 5 written
  (thinking) hm
  (thinking) well
  I do
  → execute_code
    code:
      let a = 1;
      a\\u{1b}]0;x\\u{7}
    n: 1
  → read {\"path\":\"a\"}

tools  1970-01-01 00:01Z  m2
  ← execute_code
    line 1
";
        assert!(page.starts_with(expected), "{page}");
        assert!(page.contains("    line 20\n    [… 161 characters more; --full shows them]\n"), "{page}");
        let end = "  ← read failed\n    [image/png \"x.png\", about 6 bytes; --json prints it]\n";
        assert!(page.ends_with(end), "{page}");
        let full = Page::of(&summary(), &path(), true, Style::NONE);
        assert!(full.contains("    line 40\n  ← read failed"), "{full}");
    }

    #[test]
    fn a_terminal_page_adds_only_its_own_styles() {
        let page = Page::of(&summary(), &path(), false, Style::TERMINAL);
        assert!(page.contains("\x1b[2m(thinking) well\x1b[0m\n"), "{page}");
        let without = ["\x1b[1m", "\x1b[2m", "\x1b[0m"].iter().fold(page, |page, own| page.replace(own, ""));
        assert_eq!(without, Page::of(&summary(), &path(), false, Style::NONE));
    }

    #[test]
    fn short_texts_are_unchanged() {
        assert_eq!(shortened("a\nb\n"), "a\nb\n");
        let twenty = "x\n".repeat(20);
        assert_eq!(shortened(&twenty), twenty.trim_end());
        let long = shortened(&"ä".repeat(CHARACTER_LIMIT + 7));
        assert!(long.ends_with("ä\n[… 7 characters more; --full shows them]"), "{long}");
    }
}

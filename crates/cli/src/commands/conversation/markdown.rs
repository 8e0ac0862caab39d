//! Writes a conversation as Markdown.

use std::fmt::Write as _;

use agent::{Block, Role, StoredMessage, Summary, ToolCall, ToolResult};
use serde_json::Value;
use system::calendar::minute;

use super::reading::{media, shortened};

/// Minimum number of backticks in a fence.
const FENCE: usize = 3;

/// Writes a conversation; without `full`, arguments and results are shortened.
pub(super) fn page(summary: &Summary, path: &[StoredMessage], full: bool) -> String {
    let mut page = format!("# Conversation {}\n\n", summary.id);
    // Writing to a string does not fail.
    let about = &summary.about;
    let _ = writeln!(page, "- started: {}", minute(summary.begun));
    for (key, value) in [
        ("model", Some(&about.model)),
        ("folder", Some(&about.folder)),
        ("label", about.label.as_ref()),
        ("parent run", about.parent_run.as_ref()),
    ] {
        if let Some(value) = value {
            let _ = writeln!(page, "- {key}: {}", code(value));
        }
    }
    let usage = summary.usage;
    let _ = writeln!(
        page,
        "- tokens: {} read ({} of them cached), {} written",
        usage.input, usage.cached, usage.output
    );
    for kept in path {
        let role = match kept.message.role {
            Role::User => "User",
            Role::Assistant => "Assistant",
            Role::Tool => "Tools",
        };
        let _ = write!(page, "\n## {role}\n");
        for block in &kept.message.blocks {
            let text = self::block(block, full);
            if !text.is_empty() {
                let _ = writeln!(page, "\n{text}");
            }
        }
    }
    page
}

fn block(block: &Block, full: bool) -> String {
    match block {
        Block::Text { text } => printable::lines(text).trim_end().to_owned(),
        Block::Thinking { text, .. } => {
            let text = printable::lines(text);
            let lines: Vec<_> = text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
            lines.join("\n")
        }
        Block::Media { .. } => printable::lines(&media(block)),
        Block::ToolCall(call) => self::call(call, full),
        Block::ToolResult(result) => self::result(result, full),
        Block::Summary { text } => format!(
            "Summary (the model reads it instead of the messages above):\n\n{}",
            printable::lines(text).trim_end()
        ),
    }
}

fn call(call: &ToolCall, full: bool) -> String {
    let mut text = format!("Calls {}:", code(&call.name));
    let mut rest = call.arguments.clone();
    let mut programs = Vec::new();
    if let Value::Object(members) = &mut rest {
        members.retain(|key, value| match value {
            Value::String(argument) if argument.contains('\n') => {
                let language = if key == "code" { "rust" } else { "" };
                programs.push(format!("\n\n{}:\n\n{}", code(key), fenced(language, argument, full)));
                false
            }
            _ => true,
        });
    }
    if rest.as_object().is_none_or(|members| !members.is_empty()) || programs.is_empty() {
        let json = serde_json::to_string_pretty(&rest).unwrap_or_default();
        let _ = write!(text, "\n\n{}", fenced("json", &json, full));
    }
    programs.iter().for_each(|program| text.push_str(program));
    text
}

fn result(result: &ToolResult, full: bool) -> String {
    let verb = if result.is_error { "failed" } else { "returned" };
    let mut text = format!("{} {verb}:", code(&result.name));
    for block in &result.blocks {
        let part = match block {
            Block::Text { text } => fenced("", text, full),
            other => printable::lines(&media(other)),
        };
        let _ = write!(text, "\n\n{part}");
    }
    text
}

/// Puts a text between fences longer than any fence in it.
fn fenced(language: &str, text: &str, full: bool) -> String {
    let text = printable::lines(&if full { text.to_owned() } else { shortened(text) });
    let fence = "`".repeat(longest_run(&text).saturating_add(1).max(FENCE));
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Writes a text as inline code.
fn code(text: &str) -> String {
    let text = printable::prose(text);
    let ticks = "`".repeat(longest_run(&text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use agent::{Message, NewConversation, Usage};
    use serde_json::json;

    use super::*;

    #[test]
    fn tool_output_cannot_close_its_fence() {
        let about =
            NewConversation { model: "m`1".into(), folder: "/work".into(), ..NewConversation::default() };
        let usage = Usage { input: 2, output: 1, cached: 0 };
        let summary = Summary {
            id: "abc".into(),
            about,
            begun: 0,
            changed: 0,
            messages: 2,
            usage,
            title: String::new(),
        };
        let call = ToolCall {
            id: "1".into(),
            name: "execute_code".into(),
            arguments: json!({ "code": "a;\nb" }),
            signatures: Vec::new(),
        };
        let blocks = vec![
            Block::Thinking { text: "hm\n\nso".into(), signature: None },
            Block::text("I \u{1b}[31mdo\n"),
            Block::text(""),
            Block::ToolCall(call.clone()),
        ];
        let result = Block::ToolResult(ToolResult::of(&call, "```\nevil\n````\n", true));
        let messages =
            [Message { role: Role::Assistant, blocks }, Message { role: Role::Tool, blocks: vec![result] }];
        let kept = |message| StoredMessage { id: "x".into(), parent: None, at: 0, message, usage };
        let page = page(&summary, &messages.map(kept), false);
        let expected = "# Conversation abc

- started: 1970-01-01 00:00Z
- model: ``m`1``
- folder: `/work`
- tokens: 2 read (0 of them cached), 1 written

## Assistant

> hm
>
> so

I do

Calls `execute_code`:

`code`:

```rust
a;
b
```

## Tools

`execute_code` failed:

`````
```
evil
````
`````
";
        assert_eq!(page, expected);
    }
}

//! What a person is asked, as text: whole where it can be, bounded where it must be, and unable to steer a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use printable::{exact, look, name};
use serde_json::value::RawValue;

use super::requested_tool::RequestedTool;

/// Most tools that one question names; what can call more is refused unasked, since nobody would read it.
pub(super) const QUESTION_TOOLS: usize = 100;

/// Most lines of arguments that a question shows, and most characters of each: one screen.
const ARGUMENT_LINES: usize = 24;
const LINE_CHARACTERS: usize = 160;

/// Most bytes of arguments that are laid out for a question (64 KiB): more than a screen of the widest characters.
const LAID_OUT: usize = 64 << 10;

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// May a program that can call these tools run? `each` further ones are asked about at every call.
    Program {
        /// The tools.
        tools: Vec<RequestedTool>,
        /// How many tools are asked about at every call.
        each: usize,
    },
    /// May this call be made?
    Call {
        /// The tool, alone.
        tool: [RequestedTool; 1],
        /// Its arguments, as they are shown.
        arguments: String,
        /// Whether the answer may hold from now on.
        memorable: bool,
    },
}

impl Question {
    /// Of a call with `arguments`.
    pub(crate) fn call(wanted: RequestedTool, arguments: &RawValue, memorable: bool) -> Self {
        Question::Call { tool: [wanted], arguments: shown(arguments), memorable }
    }

    /// The tools that it is about.
    pub fn tools(&self) -> &[RequestedTool] {
        match self {
            Question::Program { tools, .. } => tools,
            Question::Call { tool, .. } => tool,
        }
    }

    /// Whether the answer may hold from now on.
    pub fn is_memorable(&self) -> bool {
        !matches!(self, Question::Call { memorable: false, .. })
    }

    /// The text, without what may be answered.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        match self {
            Question::Program { tools, each } => {
                let _ = writeln!(text, "The program can call tools that need your permission:");
                let mut looks: BTreeMap<String, usize> = BTreeMap::new();
                tools.iter().for_each(|tool| *looks.entry(look(&tool.name())).or_default() += 1);
                for tool in tools {
                    let is_alone = looks.get(&look(&tool.name())) == Some(&1);
                    let twin = if is_alone { "" } else { "  (LOOKS LIKE ANOTHER ONE HERE)" };
                    let _ = writeln!(text, "  {}{twin}{}", name(&tool.name()), claimed(tool));
                }
                if *each > 0 {
                    let _ = writeln!(text, "You will be asked at every call of {each} more.");
                }
                let _ = write!(text, "May it?");
            }
            Question::Call { tool: [tool], arguments, .. } => {
                let _ =
                    writeln!(text, "A call needs your permission: {}{}", name(&tool.name()), claimed(tool));
                let _ = writeln!(text, "{arguments}");
                let _ = write!(text, "May it be made?");
            }
        }
        text
    }
}

fn claimed(tool: &RequestedTool) -> String {
    if tool.claims.is_empty() {
        return String::new();
    }
    format!("  (the server claims: {})", tool.claims.join(", "))
}

/// Arguments on one screen; what is cut is said.
fn shown(arguments: &RawValue) -> String {
    // Laid out from their text, so that numbers and order are those that are sent.
    let strict_json::Lines { text, mut is_cut } = strict_json::lines(arguments, LAID_OUT);
    let mut lines = Vec::new();
    for line in text.lines() {
        if lines.len() == ARGUMENT_LINES {
            is_cut = true;
            break;
        }
        let mut seen: String = exact(line);
        if let Some((end, _)) = seen.char_indices().nth(LINE_CHARACTERS) {
            seen.truncate(end);
            seen.push('…');
            is_cut = true;
        }
        lines.push(format!("  {seen}"));
    }
    if is_cut {
        let bytes = arguments.get().len();
        lines.push(format!("  THIS IS NOT ALL: the arguments have {bytes} bytes and are cut here"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod arbitrary;

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn wanted(tool: &str) -> RequestedTool {
        let (hash, reached) = (String::new(), String::new());
        RequestedTool { server: "s".into(), tool: tool.into(), hash, reached, claims: vec!["only reads"] }
    }

    #[test]
    fn every_tool_is_named_with_what_its_server_claims() {
        let question = Question::Program { tools: vec![wanted("a"), wanted("b")], each: 2 };
        let text = question.text();
        assert!(text.contains("  s.a  (the server claims: only reads)\n  s.b  (the"), "{text}");
        assert!(text.contains("every call of 2 more"), "{text}");
    }

    #[test]
    fn a_tool_that_looks_like_another_one_is_told_from_it() {
        let tools =
            ["read_file", "read_fi1e", "re\u{430}d", "\u{2800}", "write  (the server claims: only reads)"];
        let question = Question::Program { tools: tools.map(wanted).to_vec(), each: 0 };
        let text = question.text();
        assert_eq!(text.matches("  (LOOKS LIKE ANOTHER ONE HERE)").count(), 2, "{text}");
        for name in ["s.re\\u{430}d  ", "s.\\u{2800}  ", "s.write\\u{20}\\u{20}\\u{28}the\\u{20}server"] {
            assert!(text.contains(name), "{text}");
        }
        let arguments = to_raw_value(&json!({ "p\u{430}th": "a\u{3164}”, “b" })).unwrap();
        let text = Question::call(wanted("t"), &arguments, false).text();
        assert!(text.contains(r#"  "p\u{430}th": "a\u{3164}\u{201d}, \u{201c}b""#), "{text}");
    }

    #[test]
    fn names_and_arguments_can_neither_steer_nor_hide() {
        let forged = "x\n  s.harmless\u{1b}[2K\u{202e}\u{200b}\u{e0041}\u{85}";
        let arguments = to_raw_value(&json!({ forged: forged })).unwrap();
        let text = Question::call(wanted(forged), &arguments, false).text();
        assert_eq!(text.lines().count(), 5, "{text}");
        for hidden in ['\u{1b}', '\u{202e}', '\u{200b}', '\u{e0041}', '\u{85}'] {
            assert!(!text.contains(hidden), "{text:?}");
        }
        assert!(
            text.contains(
                "s.x\\u{a}\\u{20}\\u{20}s.harmless\\u{1b}\\u{5b}2K\\u{202e}\\u{200b}\\u{e0041}\\u{85}"
            ),
            "{text}"
        );
    }

    /// A double could hold none of these numbers as it is written.
    #[test]
    fn numbers_and_order_are_shown_as_they_are_sent() {
        let sent = r#"{"z":9007199254740993.0,"a":[-0,1.0,1e5,123456789012345678901234567890]}"#;
        let arguments = RawValue::from_string(sent.to_owned()).unwrap();
        let text = Question::call(wanted("t"), &arguments, false).text();
        let shown: String =
            text.lines().skip(1).filter(|line| line.starts_with("  ")).map(str::trim).collect();
        assert_eq!(shown.replace(": ", ":"), sent);
    }

    #[test]
    fn long_arguments_are_cut_and_it_is_said() {
        for long in [json!({ "a": "x".repeat(5_000) }), json!({ "a": vec![0; 5_000] })] {
            let arguments = to_raw_value(&long).unwrap();
            let text = Question::call(wanted("t"), &arguments, false).text();
            assert!(text.lines().count() <= ARGUMENT_LINES + 3 && text.len() < 8_000, "{text}");
            assert!(
                text.contains("THIS IS NOT ALL") && text.contains(&arguments.get().len().to_string()),
                "{text}"
            );
        }
        let short = to_raw_value(&json!({ "a": 1 })).unwrap();
        assert!(!Question::call(wanted("t"), &short, false).text().contains("NOT ALL"));
    }
}

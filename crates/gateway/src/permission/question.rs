//! The text of questions to the user: complete if possible, bounded, and safe to show on a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use flows::Flow;
use printable::{exact, look, name};
use runner::QuestionKind;
use serde_json::value::RawValue;

use super::requested_tool::RequestedTool;

/// Maximum tools in one question; more are refused without asking, since no one would read them all.
pub(super) const QUESTION_TOOLS: usize = 100;

/// Maximum lines of arguments in a question, and characters of each: one screen.
const ARGUMENT_LINES: usize = 24;
const LINE_CHARACTERS: usize = 160;

/// Maximum bytes of arguments that are formatted for a question (64 KiB): more than a screen of the widest
/// characters.
const LAID_OUT: usize = 64 << 10;

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Question {
    /// May a program that can call these tools run? For `each` further tools, every call asks.
    Program {
        /// The tools.
        tools: Vec<RequestedTool>,
        /// The number of tools that ask at every call.
        each: usize,
        /// The flows that it can make, sorted. They are decided at the calls.
        flows: Vec<Flow>,
    },
    /// May this call be made?
    Call {
        /// The tool.
        tool: [RequestedTool; 1],
        /// Its arguments, formatted.
        arguments: String,
        /// Whether the answer may be remembered.
        memorable: bool,
        /// The flows that it needs permission for.
        flows: Vec<Flow>,
        /// The parts of earlier answers in its arguments, in lines.
        marks: Vec<String>,
    },
}

impl Question {
    /// A question about a call with `arguments`. An answer about flows can't be remembered.
    pub(crate) fn call(
        requested: RequestedTool,
        arguments: &RawValue,
        memorable: bool,
        flows: Vec<Flow>,
    ) -> Self {
        let memorable = memorable && flows.is_empty();
        let (tool, arguments) = ([requested], shown(arguments));
        Question::Call { tool, arguments, memorable, flows, marks: Vec::new() }
    }

    /// The same question, with the parts of earlier answers in the arguments of its call.
    pub(super) fn marked(mut self, parts: Vec<String>) -> Self {
        if let Question::Call { marks, .. } = &mut self {
            *marks = parts;
        }
        self
    }

    /// The tools in question.
    pub fn tools(&self) -> &[RequestedTool] {
        match self {
            Question::Program { tools, .. } => tools,
            Question::Call { tool, .. } => tool,
        }
    }

    /// Whether the answer may be remembered.
    pub fn is_memorable(&self) -> bool {
        !matches!(self, Question::Call { memorable: false, .. })
    }

    /// Whether the user may decide for each server: it is about a program with tools of several servers.
    pub fn offers_choice(&self) -> bool {
        let Question::Program { tools, .. } = self else { return false };
        tools.iter().any(|tool| tools.first().is_some_and(|first| first.server != tool.server))
    }

    /// The subject.
    pub(crate) fn about(&self) -> QuestionKind {
        match self {
            Question::Program { .. } => QuestionKind::Program,
            Question::Call { .. } => QuestionKind::Call,
        }
    }

    /// The text without the arguments of a call.
    pub(crate) fn short_text(&self) -> String {
        match self {
            Question::Program { .. } => self.text(),
            Question::Call { tool: [tool], .. } => {
                let head = format!("A call needs your permission: {}", name(&tool.name()));
                std::iter::once(head).chain(self.flows_of_call()).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// The flows that the question is about, with the parts of earlier answers in the arguments of a call.
    pub(super) fn flow_lines(&self) -> Vec<String> {
        match self {
            Question::Program { flows, .. } => flows::lines(flows),
            Question::Call { flows, marks, .. } => flows::lines(flows).iter().chain(marks).cloned().collect(),
        }
    }

    /// The same for the question about a call.
    fn flows_of_call(&self) -> Vec<String> {
        let Question::Call { flows, marks, .. } = self else { return Vec::new() };
        if flows.is_empty() {
            return Vec::new();
        }
        let head = [flows::carried(flows), "Its arguments have (a help, no proof):".to_owned()];
        head.into_iter().chain(marks.iter().map(|line| format!("  {line}"))).collect()
    }

    /// The text, without the possible answers.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        match self {
            Question::Program { tools, each, flows } => {
                let _ = writeln!(text, "The program can call tools that need your permission:");
                let mut looks: BTreeMap<String, usize> = BTreeMap::new();
                tools.iter().for_each(|tool| *looks.entry(look(&tool.name())).or_default() += 1);
                for tool in tools {
                    let is_alone = looks.get(&look(&tool.name())) == Some(&1);
                    let twin = if is_alone { "" } else { "  (LOOKS LIKE ANOTHER ONE HERE)" };
                    let _ = writeln!(text, "  {}{twin}{}", name(&tool.name()), tool.claimed());
                }
                if *each > 0 {
                    let _ = writeln!(text, "You will be asked at every call of {each} more.");
                }
                if !flows.is_empty() {
                    let _ = writeln!(text, "It can carry, and you will be asked at these calls:");
                    for line in flows::lines(flows) {
                        let _ = writeln!(text, "  {line}");
                    }
                }
                let _ = write!(text, "Allow it?");
            }
            Question::Call { tool: [tool], arguments, .. } => {
                let _ =
                    writeln!(text, "A call needs your permission: {}{}", name(&tool.name()), tool.claimed());
                let _ = writeln!(text, "{arguments}");
                for line in self.flows_of_call() {
                    let _ = writeln!(text, "{line}");
                }
                let _ = write!(text, "Allow this call?");
            }
        }
        text
    }
}

/// Formats arguments to fit on one screen; says if they are cut.
fn shown(arguments: &RawValue) -> String {
    // Formatted from their text, so that numbers and order stay as sent.
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
        lines.push(format!("  THIS IS NOT ALL: the arguments have {bytes} bytes and are truncated here"));
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

    fn requested(tool: &str) -> RequestedTool {
        let (hash, reached) = (String::new(), String::new());
        RequestedTool { server: "s".into(), tool: tool.into(), hash, reached, claims: vec!["only reads"] }
    }

    #[test]
    fn every_tool_is_named_with_what_its_server_claims() {
        let question =
            Question::Program { tools: vec![requested("a"), requested("b")], each: 2, flows: Vec::new() };
        let text = question.text();
        assert!(text.contains("  s.a  (the server claims: only reads)\n  s.b  (the"), "{text}");
        assert!(text.contains("every call of 2 more"), "{text}");
    }

    #[test]
    fn tools_that_look_alike_are_marked() {
        let tools =
            ["read_file", "read_fi1e", "re\u{430}d", "\u{2800}", "write  (the server claims: only reads)"];
        let question = Question::Program { tools: tools.map(requested).to_vec(), each: 0, flows: Vec::new() };
        let text = question.text();
        assert_eq!(text.matches("  (LOOKS LIKE ANOTHER ONE HERE)").count(), 2, "{text}");
        for name in ["s.re\\u{430}d  ", "s.\\u{2800}  ", "s.write\\u{20}\\u{20}\\u{28}the\\u{20}server"] {
            assert!(text.contains(name), "{text}");
        }
        let arguments = to_raw_value(&json!({ "p\u{430}th": "a\u{3164}”, “b" })).unwrap();
        let text = Question::call(requested("t"), &arguments, false, Vec::new()).text();
        assert!(text.contains(r#"  "p\u{430}th": "a\u{3164}\u{201d}, \u{201c}b""#), "{text}");
    }

    #[test]
    fn names_and_arguments_can_neither_control_the_terminal_nor_hide() {
        let forged = "x\n  s.harmless\u{1b}[2K\u{202e}\u{200b}\u{e0041}\u{85}";
        let arguments = to_raw_value(&json!({ forged: forged })).unwrap();
        let text = Question::call(requested(forged), &arguments, false, Vec::new()).text();
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

    /// A double represents none of these numbers as written.
    #[test]
    fn numbers_and_order_are_shown_as_they_are_sent() {
        let sent = r#"{"z":9007199254740993.0,"a":[-0,1.0,1e5,123456789012345678901234567890]}"#;
        let arguments = RawValue::from_string(sent.to_owned()).unwrap();
        let text = Question::call(requested("t"), &arguments, false, Vec::new()).text();
        let shown: String =
            text.lines().skip(1).filter(|line| line.starts_with("  ")).map(str::trim).collect();
        assert_eq!(shown.replace(": ", ":"), sent);
    }

    #[test]
    fn truncated_arguments_are_marked() {
        for long in [json!({ "a": "x".repeat(5_000) }), json!({ "a": vec![0; 5_000] })] {
            let arguments = to_raw_value(&long).unwrap();
            let text = Question::call(requested("t"), &arguments, false, Vec::new()).text();
            assert!(text.lines().count() <= ARGUMENT_LINES + 3 && text.len() < 8_000, "{text}");
            assert!(
                text.contains("THIS IS NOT ALL") && text.contains(&arguments.get().len().to_string()),
                "{text}"
            );
        }
        let short = to_raw_value(&json!({ "a": 1 })).unwrap();
        assert!(!Question::call(requested("t"), &short, false, Vec::new()).text().contains("NOT ALL"));
    }

    #[test]
    fn a_question_about_a_flow_says_what_its_arguments_have() {
        let labels = flows::Labels { private: true, untrusted: false };
        let (from, to) = ("mail.read_message".to_owned(), "s.t".to_owned());
        let flow = Flow { from, labels, to, then: flows::FlowAction::Ask };
        let arguments = to_raw_value(&json!({ "body": "Dear" })).unwrap();
        let marks = vec!["`body`: 1 204 of 1 388 characters from mail.read_message #2".to_owned()];
        let question = Question::call(requested("t"), &arguments, true, vec![flow]).marked(marks);
        let about = "A call needs your permission: s.t";
        let flows = "It can carry what mail.read_message (private) answered.\nIts arguments have (a help, no proof):\n  \
                     `body`: 1 204 of 1 388 characters from mail.read_message #2";
        assert_eq!(
            question.text(),
            format!(
                "{about}  (the server claims: only reads)\n  {{\n    \"body\": \"Dear\"\n  }}\n{flows}\nAllow this call?"
            )
        );
        assert_eq!(question.short_text(), format!("{about}\n{flows}"));
        assert_eq!(question.flow_lines().len(), 2);
    }

    #[test]
    fn a_question_says_what_it_is_about() {
        let arguments = to_raw_value(&json!({})).unwrap();
        let of_call = |memorable| Question::call(requested("t"), &arguments, memorable, Vec::new());
        let program = Question::Program { tools: vec![requested("a")], each: 0, flows: Vec::new() };
        assert!(program.is_memorable() && of_call(true).is_memorable() && !of_call(false).is_memorable());
        assert_eq!((program.tools().len(), of_call(true).tools()), (1, &[requested("t")][..]));
        assert!(!program.text().contains("every call"), "{}", program.text());
        let other = RequestedTool { server: "other".into(), ..requested("a") };
        let of_two = Question::Program { tools: vec![requested("a"), other], each: 0, flows: Vec::new() };
        assert!(of_two.offers_choice() && !program.offers_choice() && !of_call(true).offers_choice());
    }
}

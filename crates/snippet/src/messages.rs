//! The parts of rustc's `--error-format=json` output that are used (The rustc book, "JSON Output").

use std::ops::Range;

use serde::Deserialize;

use crate::splice::Spliced;

/// One message, with its notes and suggestions as children.
#[derive(Debug, Deserialize)]
pub(crate) struct Message {
    pub(crate) message: String,
    pub(crate) code: Option<Code>,
    pub(crate) level: String,
    pub(crate) spans: Vec<Span>,
    pub(crate) children: Vec<Message>,
}

/// The code of a message, such as `E0308`.
#[derive(Debug, Deserialize)]
pub(crate) struct Code {
    pub(crate) code: String,
}

/// A span of a message, with the replacement that a suggestion has for it.
#[derive(Debug, Deserialize)]
pub(crate) struct Span {
    pub(crate) file_name: String,
    pub(crate) byte_start: usize,
    pub(crate) byte_end: usize,
    pub(crate) line_start: u32,
    pub(crate) line_end: u32,
    pub(crate) column_start: u32,
    pub(crate) column_end: u32,
    pub(crate) is_primary: bool,
    pub(crate) label: Option<String>,
    pub(crate) suggested_replacement: Option<String>,
    pub(crate) suggestion_applicability: Option<String>,
    pub(crate) expansion: Option<Box<Expansion>>,
}

/// The macro that a span comes from, or the compiler's own desugaring (`?`, `.await`, `for`).
#[derive(Debug, Deserialize)]
pub(crate) struct Expansion {
    pub(crate) span: Span,
    #[serde(default)]
    pub(crate) macro_decl_name: String,
}

impl Expansion {
    /// Whether it is a desugaring: then the span is in the text itself.
    pub(crate) fn is_of_compiler(&self) -> bool {
        self.macro_decl_name.starts_with("desugaring of ")
    }
}

/// The name of the snippet's file for the compiler.
const FILE: &str = "snippet.rs";

/// A snippet's own text, and the bytes before it in the compiled file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) offset: usize,
    /// Where the compiled file has additional text: see [`Spliced::inserted`].
    pub(crate) inserted: &'a [(usize, usize)],
}

impl<'a> Source<'a> {
    /// The source of the spliced `text`.
    pub(crate) fn new(text: &'a str, spliced: &'a Spliced) -> Self {
        Source { text, offset: spliced.offset as usize, inserted: &spliced.inserted }
    }

    /// The range of `span` in the snippet's text; `None` if it is outside.
    pub(crate) fn range(&self, span: &Span) -> Option<Range<usize>> {
        let own = |byte: usize| Some(Spliced::own(self.inserted, byte.checked_sub(self.offset)?));
        let (start, end) = (own(span.byte_start)?, own(span.byte_end)?);
        let inside = span.file_name == FILE && self.text.get(start..end).is_some();
        inside.then_some(start..end)
    }

    /// The same, but for a span in a macro, where the macro is used.
    pub(crate) fn use_range(&self, span: &Span) -> Option<Range<usize>> {
        let mut span = span;
        loop {
            match (self.range(span), &span.expansion) {
                (Some(range), _) => return Some(range),
                (None, Some(expansion)) => span = &expansion.span,
                (None, None) => return None,
            }
        }
    }

    /// The text of `span`; empty if it is outside.
    pub(crate) fn slice(&self, span: &Span) -> &'a str {
        self.range(span).and_then(|range| self.text.get(range)).unwrap_or("")
    }
}

impl Message {
    /// The code; empty if there is none.
    pub(crate) fn code(&self) -> &str {
        self.code.as_ref().map_or("", |code| &code.code)
    }

    /// Names and types in backticks in the message itself, in order.
    pub(crate) fn quoted(&self) -> Vec<&str> {
        quoted(&self.message)
    }

    /// The primary span, with its label.
    pub(crate) fn primary(&self) -> Option<&Span> {
        self.spans.iter().find(|span| span.is_primary)
    }

    /// The label of the primary span; empty if there is none.
    pub(crate) fn label(&self) -> &str {
        self.primary().and_then(|span| span.label.as_deref()).unwrap_or("")
    }
}

/// The parts of `text` in backticks.
pub(crate) fn quoted(text: &str) -> Vec<&str> {
    // The last part is after the last backtick.
    let parts: Vec<&str> = text.split('`').collect();
    let pairs = parts.len().saturating_sub(1) / 2;
    parts.iter().skip(1).step_by(2).take(pairs).copied().collect()
}

/// The expected and found types in a label; may be words such as `integer`.
pub(crate) fn mismatch(label: &str) -> Option<(&str, &str)> {
    let (expected, found) = label.strip_prefix("expected ")?.split_once(", found ")?;
    Some((expected.trim_matches('`'), found.trim_matches('`')))
}

impl Message {
    /// Whether it warns that a variable is changed, or declared `mut`, and never read: then its changes are lost.
    pub(crate) fn is_lost_change(&self) -> bool {
        let name = self.quoted().first().map_or(0, |name| name.len());
        // The place of an unused variable includes its `mut`.
        match self.code() {
            "unused_variables" => {
                self.message.ends_with("is assigned to, but never used")
                    || (self.message.starts_with("unused variable: ")
                        && self
                            .primary()
                            .is_some_and(|span| span.byte_end.saturating_sub(span.byte_start) > name))
            }
            "unused_assignments" => self.message.starts_with("value captured by "),
            _ => false,
        }
    }

    /// Whether it is the compiler's last one after errors. A snippet's own message has a place.
    pub(crate) fn is_summary(&self) -> bool {
        self.spans.is_empty() && self.message.starts_with("aborting due to ")
    }
}

/// The errors among the compiler's lines.
pub(crate) fn errors(messages: &str) -> impl Iterator<Item = Message> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    parsed.filter(|message| message.level.starts_with("error") && !message.is_summary())
}

/// The texts of the errors among the compiler's lines.
pub fn error_texts(messages: &str) -> impl Iterator<Item = String> {
    errors(messages).map(|error| error.message)
}

/// Whether a line of the compiler is its last message after errors.
#[must_use]
pub fn is_summary(line: &[u8]) -> bool {
    serde_json::from_slice::<Message>(line).is_ok_and(|message| message.is_summary())
}

/// The warnings about values that must be used and are dropped, such as calls that are never made.
pub(crate) fn warnings(messages: &str) -> impl Iterator<Item = Message> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    parsed.filter(|message| message.level == "warning" && message.code.is_some())
}

#[cfg(test)]
mod tests {
    use super::{Message, Source, errors, mismatch, quoted};

    /// Output of rustc 1.95, except for the folder: `let x: Vec<i32> = vec!["a"].len()?;`, and an error in a macro.
    const OUTPUT: &str = r#"{"$message_type":"diagnostic","message":"the `?` operator can only be applied to values that implement `Try`","code":{"code":"E0277","explanation":"…"},"level":"error","spans":[{"file_name":"snippet.rs","byte_start":21,"byte_end":27,"line_start":1,"line_end":1,"column_start":22,"column_end":28,"is_primary":true,"text":[],"label":"the `?` operator cannot be applied to type `EchoCall`","suggested_replacement":null,"suggestion_applicability":null,"expansion":{"span":{"file_name":"snippet.rs","byte_start":21,"byte_end":27,"line_start":1,"line_end":1,"column_start":22,"column_end":28,"is_primary":false,"text":[],"label":null,"suggested_replacement":null,"suggestion_applicability":null,"expansion":null},"macro_decl_name":"desugaring of operator `?`","def_site_span":null}}],"children":[],"rendered":"…"}
{"$message_type":"diagnostic","message":"mismatched types","code":{"code":"E0308","explanation":"…"},"level":"error","spans":[{"file_name":"/rustc/library/alloc/src/macros.rs","byte_start":2000,"byte_end":2050,"line_start":58,"line_end":62,"column_start":9,"column_end":10,"is_primary":true,"text":[],"label":"expected `Option<Vec<String>>`, found `Vec<&str>`","suggested_replacement":null,"suggestion_applicability":null,"expansion":{"span":{"file_name":"snippet.rs","byte_start":10,"byte_end":19,"line_start":1,"line_end":1,"column_start":11,"column_end":20,"is_primary":false,"text":[],"label":null,"suggested_replacement":null,"suggestion_applicability":null,"expansion":null},"macro_decl_name":"vec!","def_site_span":null}}],"children":[],"rendered":"…"}
{"$message_type":"diagnostic","message":"aborting due to 2 previous errors","code":null,"level":"error","spans":[],"children":[],"rendered":"…"}
no JSON"#;

    #[test]
    fn spans_are_found_in_the_text() {
        let messages: Vec<Message> = errors(OUTPUT).collect();
        assert_eq!(messages.iter().map(Message::code).collect::<Vec<_>>(), ["E0277", "E0308"]);
        let source = Source { text: "vec![\"a\"]; echo()?", offset: 10, inserted: &[] };
        let written_out = messages[0].primary().unwrap();
        assert_eq!(source.range(written_out), Some(11..17));
        assert!(written_out.expansion.as_ref().unwrap().is_of_compiler());
        let in_macro = messages[1].primary().unwrap();
        assert_eq!((source.range(in_macro), source.use_range(in_macro)), (None, Some(0..9)));
        assert!(!in_macro.expansion.as_ref().unwrap().is_of_compiler());
        assert_eq!(Source { offset: 12, ..source }.range(written_out), Some(9..15));
        assert_eq!(Source { offset: 22, ..source }.range(written_out), None);
        assert_eq!(mismatch(messages[1].label()), Some(("Option<Vec<String>>", "Vec<&str>")));
    }

    #[test]
    fn parts_in_backticks_are_read() {
        assert_eq!(quoted("no field `a` on type `Result<B, C>`"), ["a", "Result<B, C>"]);
        assert_eq!(quoted("none"), [""; 0]);
        assert_eq!(quoted("an open `quote"), [""; 0]);
        assert_eq!(mismatch("expected `()`, found integer"), Some(("()", "integer")));
        assert_eq!(mismatch("unknown field"), None);
    }
}

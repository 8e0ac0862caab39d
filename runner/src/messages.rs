//! What rustc says with `--error-format=json` (The rustc book, "JSON Output"), as far as it is used.

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

/// A place that a message is about, with what a suggestion puts there.
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

/// The use of a macro that a span comes from, or of what the compiler itself writes out (`?`, `.await`, `for`).
#[derive(Debug, Deserialize)]
pub(crate) struct Expansion {
    pub(crate) span: Span,
    #[serde(default)]
    pub(crate) macro_decl_name: String,
}

impl Expansion {
    /// Whether the compiler wrote it out itself: then the span is that of the text.
    pub(crate) fn is_of_compiler(&self) -> bool {
        self.macro_decl_name.starts_with("desugaring of ")
    }
}

/// The file that the compiler reads a snippet from.
const FILE: &str = "snippet.rs";

/// A snippet's own text, and the bytes before it in the file that the compiler read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) offset: usize,
    /// Where the file has more than the text: see [`Spliced::inserted`].
    pub(crate) inserted: &'a [usize],
}

impl<'a> Source<'a> {
    /// The `text` that was spliced.
    pub(crate) fn new(text: &'a str, spliced: &'a Spliced) -> Self {
        Source { text, offset: spliced.offset as usize, inserted: &spliced.inserted }
    }

    /// Where `span` lies in the snippet's text; `None` for one outside.
    pub(crate) fn range(&self, span: &Span) -> Option<Range<usize>> {
        let own = |byte: usize| Some(Spliced::own(self.inserted, byte.checked_sub(self.offset)?));
        let (start, end) = (own(span.byte_start)?, own(span.byte_end)?);
        let inside = span.file_name == FILE && self.text.get(start..end).is_some();
        inside.then_some(start..end)
    }

    /// The same, but where a macro was used for a span in the macro.
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

    /// The text that `span` is about; empty for a span outside.
    pub(crate) fn slice(&self, span: &Span) -> &'a str {
        self.range(span).and_then(|range| self.text.get(range)).unwrap_or("")
    }
}

impl Message {
    /// The code as text; empty for none.
    pub(crate) fn code(&self) -> &str {
        self.code.as_ref().map_or("", |code| &code.code)
    }

    /// What the message itself puts in back quotes: names and types, in its order.
    pub(crate) fn quoted(&self) -> Vec<&str> {
        quoted(&self.message)
    }

    /// The place that it is about, with its label.
    pub(crate) fn primary(&self) -> Option<&Span> {
        self.spans.iter().find(|span| span.is_primary)
    }

    /// The label of the place that it is about; empty for none.
    pub(crate) fn label(&self) -> &str {
        self.primary().and_then(|span| span.label.as_deref()).unwrap_or("")
    }
}

/// What stands in back quotes in `text`.
pub(crate) fn quoted(text: &str) -> Vec<&str> {
    // The last part is behind the last back quote.
    let parts: Vec<&str> = text.split('`').collect();
    let pairs = parts.len().saturating_sub(1) / 2;
    parts.iter().skip(1).step_by(2).take(pairs).copied().collect()
}

/// What a label says was expected, and what was found in its place: types, or words such as `integer`.
pub(crate) fn mismatch(label: &str) -> Option<(&str, &str)> {
    let (expected, found) = label.strip_prefix("expected ")?.split_once(", found ")?;
    Some((expected.trim_matches('`'), found.trim_matches('`')))
}

/// The errors among the compiler's lines.
pub(crate) fn errors(messages: &str) -> impl Iterator<Item = Message> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    parsed.filter(|message| {
        message.level.starts_with("error") && !message.message.starts_with("aborting due to")
    })
}

/// What it warns of: values that must be used and are dropped, such as calls that are never made.
pub(crate) fn warnings(messages: &str) -> impl Iterator<Item = Message> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    parsed.filter(|message| message.level == "warning" && message.code.is_some())
}

#[cfg(test)]
mod tests {
    use super::{Message, Source, errors, mismatch, quoted};

    /// As rustc 1.95 writes it, but for the folder: `let x: Vec<i32> = vec!["a"].len()?;`, and a slip in a macro.
    const SAID: &str = r#"{"$message_type":"diagnostic","message":"the `?` operator can only be applied to values that implement `Try`","code":{"code":"E0277","explanation":"…"},"level":"error","spans":[{"file_name":"snippet.rs","byte_start":21,"byte_end":27,"line_start":1,"line_end":1,"column_start":22,"column_end":28,"is_primary":true,"text":[],"label":"the `?` operator cannot be applied to type `EchoCall`","suggested_replacement":null,"suggestion_applicability":null,"expansion":{"span":{"file_name":"snippet.rs","byte_start":21,"byte_end":27,"line_start":1,"line_end":1,"column_start":22,"column_end":28,"is_primary":false,"text":[],"label":null,"suggested_replacement":null,"suggestion_applicability":null,"expansion":null},"macro_decl_name":"desugaring of operator `?`","def_site_span":null}}],"children":[],"rendered":"…"}
{"$message_type":"diagnostic","message":"mismatched types","code":{"code":"E0308","explanation":"…"},"level":"error","spans":[{"file_name":"/rustc/library/alloc/src/macros.rs","byte_start":2000,"byte_end":2050,"line_start":58,"line_end":62,"column_start":9,"column_end":10,"is_primary":true,"text":[],"label":"expected `Option<Vec<String>>`, found `Vec<&str>`","suggested_replacement":null,"suggestion_applicability":null,"expansion":{"span":{"file_name":"snippet.rs","byte_start":10,"byte_end":19,"line_start":1,"line_end":1,"column_start":11,"column_end":20,"is_primary":false,"text":[],"label":null,"suggested_replacement":null,"suggestion_applicability":null,"expansion":null},"macro_decl_name":"vec!","def_site_span":null}}],"children":[],"rendered":"…"}
{"$message_type":"diagnostic","message":"aborting due to 2 previous errors","code":null,"level":"error","spans":[],"children":[],"rendered":"…"}
no JSON"#;

    #[test]
    fn places_are_found_in_the_text() {
        let said: Vec<Message> = errors(SAID).collect();
        assert_eq!(said.iter().map(Message::code).collect::<Vec<_>>(), ["E0277", "E0308"]);
        let source = Source { text: "vec![\"a\"]; echo()?", offset: 10, inserted: &[] };
        let written_out = said[0].primary().unwrap();
        assert_eq!(source.range(written_out), Some(11..17));
        assert!(written_out.expansion.as_ref().unwrap().is_of_compiler());
        let in_macro = said[1].primary().unwrap();
        assert_eq!((source.range(in_macro), source.use_range(in_macro)), (None, Some(0..9)));
        assert!(!in_macro.expansion.as_ref().unwrap().is_of_compiler());
        assert_eq!(Source { offset: 12, ..source }.range(written_out), Some(9..15));
        assert_eq!(Source { offset: 22, ..source }.range(written_out), None);
        assert_eq!(mismatch(said[1].label()), Some(("Option<Vec<String>>", "Vec<&str>")));
    }

    #[test]
    fn quoted_parts_are_read() {
        assert_eq!(quoted("no field `a` on type `Result<B, C>`"), ["a", "Result<B, C>"]);
        assert_eq!(quoted("none"), [""; 0]);
        assert_eq!(quoted("an open `quote"), [""; 0]);
        assert_eq!(mismatch("expected `()`, found integer"), Some(("()", "integer")));
        assert_eq!(mismatch("unknown field"), None);
    }
}

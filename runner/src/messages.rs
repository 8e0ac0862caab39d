//! What rustc says with `--error-format=json` (The rustc book, "JSON Output"), as far as it is used.

use serde::Deserialize;

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

/// The use of a macro that a span comes from.
#[derive(Debug, Deserialize)]
pub(crate) struct Expansion {
    pub(crate) span: Span,
}

impl Message {
    /// The code as text; empty for none.
    pub(crate) fn code(&self) -> &str {
        self.code.as_ref().map_or("", |code| &code.code)
    }
}

/// The errors among the compiler's lines.
pub(crate) fn errors(messages: &str) -> impl Iterator<Item = Message> {
    let parsed = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
    parsed.filter(|message| {
        message.level.starts_with("error") && !message.message.starts_with("aborting due to")
    })
}

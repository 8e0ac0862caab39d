//! How tokens are written: not at all, without white space, or on lines.

/// What is written, and how.
pub(crate) struct Layout {
    out: Vec<u8>,
    style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    None,
    Compact,
    /// Ends soon after so many bytes.
    Lines {
        most: usize,
    },
}

impl Layout {
    pub(crate) fn none() -> Self {
        Layout { out: Vec::new(), style: Style::None }
    }

    pub(crate) fn compact() -> Self {
        Layout { out: Vec::new(), style: Style::Compact }
    }

    pub(crate) fn lines(most: usize) -> Self {
        Layout { out: Vec::new(), style: Style::Lines { most } }
    }

    /// Whether what is written is looked at.
    pub(crate) fn is_written(&self) -> bool {
        self.style != Style::None
    }

    /// Whether no more is wanted.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.style, Style::Lines { most } if self.out.len() > most)
    }

    /// A bracket that opens, with the level of what is within it.
    pub(crate) fn open(&mut self, bracket: u8, is_empty: bool, level: usize) {
        self.byte(bracket);
        if !is_empty {
            self.line(level);
        }
    }

    /// A bracket that closes, with the level of what it closes.
    pub(crate) fn close(&mut self, bracket: u8, is_empty: bool, level: usize) {
        if !is_empty {
            self.line(level);
        }
        self.byte(bracket);
    }

    pub(crate) fn comma(&mut self, level: usize) {
        self.byte(b',');
        self.line(level);
    }

    pub(crate) fn colon(&mut self) {
        self.byte(b':');
        if matches!(self.style, Style::Lines { .. }) {
            self.byte(b' ');
        }
    }

    /// A scalar or a name as it stands in the text.
    pub(crate) fn token(&mut self, token: &str) {
        if self.is_written() {
            self.out.extend_from_slice(token.as_bytes());
        }
    }

    /// A text, escaped where it must be.
    pub(crate) fn text(&mut self, text: &str) {
        if self.is_written() {
            // Writing a text to a vector does not fail.
            let _ = serde_json::to_writer(&mut self.out, text);
        }
    }

    pub(crate) fn finish(self) -> String {
        // Only whole texts were written.
        String::from_utf8(self.out).unwrap_or_default()
    }

    fn byte(&mut self, byte: u8) {
        if self.is_written() {
            self.out.push(byte);
        }
    }

    fn line(&mut self, level: usize) {
        if matches!(self.style, Style::Lines { .. }) {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * level, b' ');
        }
    }
}

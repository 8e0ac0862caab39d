//! Writes tokens: discarded, compact, or indented over several lines.

/// The output and its style.
pub(crate) struct Layout {
    out: Vec<u8>,
    style: Style,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    None,
    Compact,
    /// Stops soon after this many bytes.
    Lines {
        limit: usize,
    },
}

impl Layout {
    pub(crate) fn none() -> Self {
        Layout { out: Vec::new(), style: Style::None }
    }

    pub(crate) fn compact() -> Self {
        Layout { out: Vec::new(), style: Style::Compact }
    }

    pub(crate) fn lines(limit: usize) -> Self {
        Layout { out: Vec::new(), style: Style::Lines { limit } }
    }

    /// Whether the output is used.
    pub(crate) fn is_written(&self) -> bool {
        self.style != Style::None
    }

    /// Whether the limit is reached.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.style, Style::Lines { limit } if self.out.len() > limit)
    }

    /// Writes an opening bracket; `level` is the depth of its contents.
    pub(crate) fn open(&mut self, bracket: u8, is_empty: bool, level: usize) {
        self.byte(bracket);
        if !is_empty {
            self.line(level);
        }
    }

    /// Writes a closing bracket; `level` is the depth of the bracket.
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

    /// Writes a scalar or name exactly as it appears in the input.
    pub(crate) fn token(&mut self, token: &str) {
        if self.is_written() {
            self.out.extend_from_slice(token.as_bytes());
        }
    }

    /// Writes a string, escaped only where required.
    pub(crate) fn text(&mut self, text: &str) {
        if self.is_written() {
            // Writing a string to a vector does not fail.
            let _ = serde_json::to_writer(&mut self.out, text);
        }
    }

    pub(crate) fn finish(self) -> String {
        // Only whole strings were written.
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

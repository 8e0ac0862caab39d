//! The styles of texts; the terminal decides whether to use them.

/// The style of a text (ECMA-48, 8.3.117 SGR).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStyle {
    Dim,
    Bold,
    Italic,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

/// Whether to use colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Style(pub(crate) bool);

impl Style {
    /// The style for standard error.
    pub(crate) fn of_stderr() -> Self {
        Style(terminal::stderr_has_colours())
    }

    /// The style for standard output.
    pub(crate) fn of_stdout() -> Self {
        Style(terminal::stdout_has_colours())
    }

    /// Styles a text.
    pub(crate) fn paint(self, look: TextStyle, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let (on, off) = match look {
            TextStyle::Dim => (2, 22),
            TextStyle::Bold => (1, 22),
            TextStyle::Italic => (3, 23),
            TextStyle::Red => (31, 39),
            TextStyle::Green => (32, 39),
            TextStyle::Yellow => (33, 39),
            TextStyle::Blue => (34, 39),
            TextStyle::Magenta => (35, 39),
            TextStyle::Cyan => (36, 39),
        };
        format!("\x1b[{on}m{text}\x1b[{off}m")
    }
}

#[cfg(test)]
mod tests {
    use super::{Style, TextStyle};

    #[test]
    fn text_is_styled_only_with_colours_enabled() {
        assert_eq!(Style(true).paint(TextStyle::Dim, "x"), "\x1b[2mx\x1b[22m");
        assert_eq!(Style(true).paint(TextStyle::Red, ""), "");
        assert_eq!(Style(false).paint(TextStyle::Red, "x"), "x");
    }
}

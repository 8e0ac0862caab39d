//! Colours on a terminal, unless `NO_COLOR` is set (no-color.org) or `TERM` is empty or `dumb`.

use std::io::IsTerminal as _;

/// The style of a text (ECMA-48, 8.3.117 SGR).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextStyle {
    Dim,
    Bold,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style(pub(crate) bool);

impl Style {
    /// The style for standard error.
    pub(crate) fn of_stderr() -> Self {
        Style(std::io::stderr().is_terminal() && is_enabled())
    }

    /// The style for standard output.
    pub(crate) fn of_stdout() -> Self {
        Style(std::io::stdout().is_terminal() && is_enabled())
    }

    /// Styles a text.
    pub(crate) fn paint(self, look: TextStyle, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let (on, off) = match look {
            TextStyle::Dim => (2, 22),
            TextStyle::Bold => (1, 22),
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

fn is_enabled() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    !is_set("NO_COLOR") && !is_dumb
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

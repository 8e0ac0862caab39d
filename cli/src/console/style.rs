//! Colours, where they are wanted: on a terminal, unless `NO_COLOR` is set (no-color.org).

use std::io::IsTerminal as _;

/// What text looks like (ECMA-48, 8.3.117 SGR).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Dim,
    Bold,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style(pub(crate) bool);

impl Style {
    /// Of what is written to standard error.
    pub(crate) fn of_stderr() -> Self {
        Style(std::io::stderr().is_terminal() && is_wanted())
    }

    /// Of what is written to standard output.
    pub(crate) fn of_stdout() -> Self {
        Style(std::io::stdout().is_terminal() && is_wanted())
    }

    /// A text that looks like this.
    pub(crate) fn paint(self, look: Look, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let (on, off) = match look {
            Look::Dim => (2, 22),
            Look::Bold => (1, 22),
            Look::Red => (31, 39),
            Look::Green => (32, 39),
            Look::Yellow => (33, 39),
            Look::Blue => (34, 39),
            Look::Magenta => (35, 39),
            Look::Cyan => (36, 39),
        };
        format!("\x1b[{on}m{text}\x1b[{off}m")
    }
}

fn is_wanted() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    !is_set("NO_COLOR") && !is_dumb
}

#[cfg(test)]
mod tests {
    use super::{Look, Style};

    #[test]
    fn text_is_painted_only_where_there_are_colours() {
        assert_eq!(Style(true).paint(Look::Dim, "x"), "\x1b[2mx\x1b[22m");
        assert_eq!(Style(true).paint(Look::Red, ""), "");
        assert_eq!(Style(false).paint(Look::Red, "x"), "x");
    }
}

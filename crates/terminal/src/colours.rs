//! Whether standard output and standard error show colours, and the few that commands use.
//!
//! `--color` decides first, then NO_COLOR, CLICOLOR_FORCE and CLICOLOR (bixense.com/clicolors), then whether the stream
//! is a terminal that has colours.

use std::io::{self, IsTerminal};

use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colours {
    /// On a terminal, unless the environment says otherwise.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Sets when this process uses colours.
pub fn use_colours(colours: Colours) {
    let choice = match colours {
        Colours::Auto => ColorChoice::Auto,
        Colours::Always => ColorChoice::Always,
        Colours::Never => ColorChoice::Never,
    };
    choice.write_global();
}

/// Whether standard output shows colours.
pub fn stdout_has_colours() -> bool {
    has_colours(&io::stdout())
}

/// Whether standard error shows colours.
pub fn stderr_has_colours() -> bool {
    has_colours(&io::stderr())
}

fn has_colours<S: RawStream + IsTerminal + AsLockedWrite>(stream: &S) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// A bold text.
pub fn bold(text: &str) -> String {
    format!("\x1b[1m{text}\x1b[0m")
}

/// Colours the labels of an error: its first word in red, `help:` in cyan, `more:` dim. The text is safe already.
pub(crate) fn error(text: &str) -> String {
    let lines = text.split('\n').enumerate().map(|(number, line)| error_line(line, number == 0));
    lines.collect::<Vec<_>>().join("\n")
}

fn error_line(line: &str, is_first: bool) -> String {
    let label = |label: &str, style: &str| {
        let rest = line.strip_prefix(label)?;
        Some(format!("\x1b[{style}m{label}\x1b[0m{rest}"))
    };
    let first = if is_first { label("toolsmith:", "1;31") } else { None };
    first
        .or_else(|| label("help:", "1;36"))
        .or_else(|| label("more:", "2"))
        .unwrap_or_else(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_the_labels_of_an_error_have_colours() {
        assert_eq!(
            super::error("toolsmith: no help: here\nhelp: do it\ntoolsmith: x\n"),
            "\x1b[1;31mtoolsmith:\x1b[0m no help: here\n\x1b[1;36mhelp:\x1b[0m do it\ntoolsmith: x\n"
        );
    }
}

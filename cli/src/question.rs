//! Questions to the person at the terminal.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use crate::terminal::plain;

/// Whether there is a person to ask: both what is asked and what is answered go through a terminal.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question whose answer is no unless it is yes in words.
pub(crate) fn agrees(question: &str) -> bool {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{} [y/N] ", plain(question));
    let _ = stderr.flush();
    let mut answer = String::new();
    let answered = std::io::stdin().lock().read_line(&mut answer);
    answered.is_ok() && matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

//! Questions of commands to the person at the terminal.

use std::io::IsTerminal as _;

use terminal::{Keyboard, Terminal};

/// Whether there is a person to ask: both what is asked and what is answered go through a terminal.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && Keyboard::is_there()
}

/// Asks a question whose answer is no unless it is yes in words.
pub(crate) async fn agrees(question: &str) -> bool {
    let terminal = Terminal::new(true, false);
    let answer = terminal.prompt().ask(&format!("{question} "), "[y/N] ").await;
    // A terminal that is gone gives no consent.
    answer.ok().flatten().is_some_and(|answer| matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"))
}

//! Lines that the user types while this process works. Questions come first: while one is open, nothing is read here.

use std::io;

use tokio::sync::watch;

use crate::keyboard::Keyboard;

/// Reads typed lines until it is dropped.
pub struct TypedLines {
    keyboard: Keyboard,
    questions: watch::Receiver<usize>,
}

impl TypedLines {
    pub(super) fn new(keyboard: Keyboard, questions: watch::Receiver<usize>) -> Self {
        TypedLines { keyboard, questions }
    }

    /// The next line, without spaces around it; `None` at the end of the terminal's input.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub async fn next(&mut self) -> io::Result<Option<String>> {
        self.keyboard.line_between(&mut self.questions).await
    }
}

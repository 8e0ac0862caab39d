//! Lines that the user types while this process works. Questions come first: while one is open, nothing is read here.
//!
//! The terminal does not echo these keys, because they would be in the middle of the output: the caller shows the text.

use std::collections::VecDeque;
use std::io;

use tokio::sync::watch;

use crate::keyboard::{Keyboard, MAX_LINE};

/// The keys that edit a line (termios(3), in non-canonical mode).
const BACKSPACE: [u8; 2] = [0x08, 0x7f];
const ERASE_WORD: u8 = 0x17;
const ERASE_LINE: u8 = 0x15;
const END: u8 = 0x04;
const ESCAPE: u8 = 0x1b;

/// Reads typed lines until it is dropped.
pub struct TypedLines {
    keyboard: Keyboard,
    questions: watch::Receiver<usize>,
    line: Vec<u8>,
    /// Complete lines that were not returned yet; `None` is the end of the input.
    complete: VecDeque<Option<String>>,
}

impl TypedLines {
    pub(super) fn new(
        keyboard: Keyboard,
        questions: watch::Receiver<usize>,
        begun: &str,
    ) -> io::Result<Self> {
        keyboard.take_keys()?;
        Ok(TypedLines { keyboard, questions, line: begun.as_bytes().to_vec(), complete: VecDeque::new() })
    }

    /// The next line, without spaces around it; `None` at the end of the terminal's input. `changed` receives the
    /// unfinished line after each key.
    ///
    /// # Errors
    /// If the terminal is gone.
    pub async fn next(&mut self, changed: impl Fn(&str)) -> io::Result<Option<String>> {
        loop {
            if let Some(line) = self.complete.pop_front() {
                changed(&self.unfinished());
                return Ok(line);
            }
            let keys = self.keyboard.keys_between(&mut self.questions).await?;
            self.take(&keys);
            changed(&self.unfinished());
        }
    }

    /// The line so far.
    fn unfinished(&self) -> String {
        String::from_utf8_lossy(&self.line).into_owned()
    }

    fn take(&mut self, keys: &[u8]) {
        let mut keys = keys.iter().copied().peekable();
        while let Some(key) = keys.next() {
            match key {
                b'\r' | b'\n' => {
                    let line = std::mem::take(&mut self.line);
                    self.complete.push_back(Some(String::from_utf8_lossy(&line).trim().to_owned()));
                }
                END if self.line.is_empty() => self.complete.push_back(None),
                ERASE_LINE => self.line.clear(),
                ERASE_WORD => self.erase_word(),
                // The sequence of another key, such as an arrow (ECMA-48, 5.4).
                ESCAPE => {
                    if keys.next_if(|next| matches!(next, b'[' | b'O')).is_some() {
                        while keys.next_if(|next| !(b'@'..=b'~').contains(next)).is_some() {}
                    }
                    keys.next();
                }
                _ if BACKSPACE.contains(&key) => self.erase_character(),
                _ if (key >= b' ' || key == b'\t') && self.line.len() < MAX_LINE => self.line.push(key),
                _ => {}
            }
        }
    }

    fn erase_character(&mut self) {
        // The bytes after the first of a character (RFC 3629, 3).
        while self.line.pop().is_some_and(|byte| (0x80..0xc0).contains(&byte)) {}
    }

    fn erase_word(&mut self) {
        let is_space = |byte: &u8| *byte == b' ';
        while self.line.pop_if(|byte| is_space(byte)).is_some() {}
        while self.line.pop_if(|byte| !is_space(byte)).is_some() {}
    }
}

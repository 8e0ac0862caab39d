//! Removes terminal controls from multi-line text, whole or streamed.

use crate::character::controls;
use crate::spelling::spell;

/// Longest colour sequence that is recognised, in characters. Programs do not send longer ones; those are spelled out
/// like any other.
const MAX_STYLE: usize = 64;

/// Makes streamed output safe for a terminal, regardless of how it is split.
///
/// Newlines and tabs are the only controls kept. Every other character in [`controls`] is spelled out (`\u{1b}`), so
/// the rest of its sequence shows as text. Sequences for colours and other text styles (SGR, ECMA-48, 8.3.117) are
/// removed: they carry no text, and each can hide some, depending on the terminal's colours. The `\r` of a `\r\n` is
/// removed too. Invalid UTF-8 becomes `U+FFFD`.
#[derive(Debug, Default)]
pub struct Filter {
    /// An incomplete character.
    bytes: Vec<u8>,
    /// A possible colour sequence, or a `\r` that may end a line.
    held: String,
}

impl Filter {
    /// Returns what can be shown of these bytes and those held back before.
    pub fn feed(&mut self, bytes: &[u8]) -> String {
        let mut safe = String::with_capacity(bytes.len());
        let joined = [std::mem::take(&mut self.bytes).as_slice(), bytes].concat();
        let mut rest = joined.as_slice();
        while !rest.is_empty() {
            let (valid, after) = match std::str::from_utf8(rest) {
                Ok(text) => (text, None),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    (std::str::from_utf8(valid).unwrap_or_default(), Some((after, error.error_len())))
                }
            };
            valid.chars().for_each(|character| self.character(character, &mut safe));
            rest = match after {
                None => &[],
                // The rest of the character may follow.
                Some((unfinished, None)) => {
                    self.bytes = unfinished.to_vec();
                    &[]
                }
                Some((invalid, Some(length))) => {
                    self.character(char::REPLACEMENT_CHARACTER, &mut safe);
                    invalid.get(length..).unwrap_or_default()
                }
            };
        }
        safe
    }

    /// Returns what was held back, at the end of the output.
    pub fn end(&mut self) -> String {
        let mut safe = String::new();
        if !std::mem::take(&mut self.bytes).is_empty() {
            self.character(char::REPLACEMENT_CHARACTER, &mut safe);
        }
        self.release(&mut safe);
        safe
    }

    fn character(&mut self, character: char, safe: &mut String) {
        if self.continues(character) {
            self.held.push(character);
            return;
        }
        let ends_style = character == 'm' && self.held.starts_with("\u{1b}[");
        if ends_style || (character == '\n' && self.held == "\r") {
            self.held.clear();
        } else {
            self.release(safe);
        }
        match character {
            _ if ends_style => {}
            '\u{1b}' | '\r' => self.held.push(character),
            '\n' | '\t' => safe.push(character),
            _ => write(character, safe),
        }
    }

    /// Whether a character continues what is held back.
    fn continues(&self, character: char) -> bool {
        match character {
            '[' => self.held == "\u{1b}",
            '0'..='9' | ';' | ':' => self.held.starts_with("\u{1b}[") && self.held.len() < MAX_STYLE,
            _ => false,
        }
    }

    /// Writes out the held text, which turned out not to be a sequence.
    fn release(&mut self, safe: &mut String) {
        std::mem::take(&mut self.held).chars().for_each(|character| write(character, safe));
    }
}

fn write(character: char, safe: &mut String) {
    if controls(character) { spell(character, safe) } else { safe.push(character) }
}

/// Multi-line text as [`Filter`] makes it safe for a terminal.
#[must_use]
pub fn lines(text: &str) -> String {
    let mut filter = Filter::default();
    let mut safe = filter.feed(text.as_bytes());
    safe.push_str(&filter.end());
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_pieces(bytes: &[u8], length: usize) -> String {
        let mut filter = Filter::default();
        let mut safe: String = bytes.chunks(length).map(|piece| filter.feed(piece)).collect();
        safe.push_str(&filter.end());
        safe
    }

    #[test]
    fn escapes_show_as_text_and_colours_are_removed() {
        for (output, shown) in [
            ("\u{1b}[1;31mred\u{1b}[0m \u{1b}[38:2::1:2:3mtext\u{1b}[m", "red text"),
            ("a\tb\r\nc\rd\r\r\n", "a\tb\nc\\u{d}d\\u{d}\n"),
            ("\u{1b}]52;c;eA==\u{7}", "\\u{1b}]52;c;eA==\\u{7}"),
            ("\u{1b}[2J\u{1b}[?25l\u{1b}c", "\\u{1b}[2J\\u{1b}[?25l\\u{1b}c"),
            ("\u{1b}\u{1b}[31m\u{1b}[3\u{1b}[0m", "\\u{1b}\\u{1b}[3"),
            ("\u{9b}2J\u{8}\u{202e}\u{2028}", "\\u{9b}2J\\u{8}\\u{202e}\\u{2028}"),
            ("\u{1b}[31", "\\u{1b}[31"),
            ("e\u{301} 👩\u{200d}👩 漢", "e\u{301} 👩\u{200d}👩 漢"),
        ] {
            assert_eq!(lines(output), shown);
            assert_eq!(in_pieces(output.as_bytes(), 1), shown);
        }
        assert_eq!(in_pieces(b"\x9b2J \xc2 \xe2\x80", 1), "\u{fffd}2J \u{fffd} \u{fffd}");
    }

    #[test]
    fn an_endless_sequence_is_not_held_back_forever() {
        let mut filter = Filter::default();
        filter.feed(b"\x1b[");
        let shown = filter.feed(&b"1;".repeat(10_000));
        assert!(shown.len() > 19_000 && filter.held.len() <= MAX_STYLE, "{}", shown.len());
    }

    proptest! {
        #[test]
        fn splitting_changes_nothing_and_no_control_gets_through(
            bytes in proptest::collection::vec(
                prop_oneof![any::<u8>(), proptest::sample::select(&b"\x1b[]m;0\r\n\xc2\x9b\xe2\x80\xae"[..])], 0..200),
            length in 1_usize..9,
        ) {
            let shown = in_pieces(&bytes, length);
            prop_assert!(!shown.chars().any(|c| controls(c) && !matches!(c, '\n' | '\t')), "{shown:?}");
            prop_assert_eq!(shown, in_pieces(&bytes, bytes.len().max(1)));
        }
    }
}

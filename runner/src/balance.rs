//! Reports unbalanced brackets with their position, where a parser would only report "error".
//!
//! It also limits nesting: parsers recurse, and a snippet must not overflow the host's stack.

use std::ops::Range;

use proc_macro2::LineColumn;

use crate::syntax_error::SyntaxError;

/// Checks that brackets pair up and nest at most `limit` deep.
pub(crate) fn check(text: &str, limit: usize) -> Result<(), SyntaxError> {
    let mut scanner = Scanner::new(text);
    let mut open: Vec<(char, LineColumn)> = Vec::new();
    while let Some((bracket, at)) = scanner.next_bracket()? {
        if matches!(bracket, '(' | '[' | '{') {
            if open.len() == limit {
                let message = format!("brackets are nested more than {limit} deep");
                return Err(SyntaxError::at(message, at));
            }
            open.push((bracket, at));
            continue;
        }
        match open.pop() {
            Some((opening, _)) if closing(opening) == bracket => {}
            Some((opening, from)) => {
                let expected = closing(opening);
                let message = format!(
                    "expected `{expected}` for the `{opening}` of line {}, found `{bracket}`",
                    from.line
                );
                return Err(SyntaxError::at(message, at));
            }
            None => {
                let message = format!("unexpected `{bracket}`: there is no open bracket");
                return Err(SyntaxError::at(message, at));
            }
        }
    }
    match open.pop() {
        Some((bracket, at)) => {
            let message = format!("this `{bracket}` is never closed: expected `{}`", closing(bracket));
            Err(SyntaxError::at(message, at))
        }
        None => Ok(()),
    }
}

/// The lines of `text`, from 1, that start inside a string or a comment, in order.
pub(crate) fn lines_inside(text: &str) -> Vec<Range<usize>> {
    let mut scanner = Scanner::new(text);
    loop {
        match scanner.next_bracket() {
            Ok(Some(_)) => {}
            Ok(None) => return scanner.inside,
            // Unclosed, to the end of the text.
            Err(error) => {
                scanner.inside.push(error.line as usize + 1..usize::MAX);
                return scanner.inside;
            }
        }
    }
}

fn closing(bracket: char) -> char {
    match bracket {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

/// Scans a text, skipping strings, characters and comments.
struct Scanner<'a> {
    rest: &'a str,
    at: LineColumn,
    /// The lines that start inside a string or a comment.
    inside: Vec<Range<usize>>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        Scanner { rest: text, at: LineColumn { line: 1, column: 0 }, inside: Vec::new() }
    }

    fn next_bracket(&mut self) -> Result<Option<(char, LineColumn)>, SyntaxError> {
        while let Some(next) = self.rest.chars().next() {
            let at = self.at;
            match next {
                '(' | ')' | '[' | ']' | '{' | '}' => {
                    self.skip(1);
                    return Ok(Some((next, at)));
                }
                '/' if self.rest.starts_with("//") => self.skip_until("\n"),
                '/' if self.rest.starts_with("/*") => self.skip_comment(at)?,
                '"' => self.skip_string(at)?,
                '\'' => self.skip_character(),
                'r' | 'b' | 'c' | 'a'..='z' | 'A'..='Z' | '_' => self.skip_word(at)?,
                _ => self.skip(next.len_utf8()),
            }
        }
        Ok(None)
    }

    /// Advances by `bytes` bytes.
    fn skip(&mut self, bytes: usize) {
        let (skipped, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        for character in skipped.chars() {
            if character == '\n' {
                self.at.line += 1;
                self.at.column = 0;
            } else {
                self.at.column += 1;
            }
        }
        self.rest = rest;
    }

    /// Records the lines of a string or comment that started at `from`.
    fn note_inside(&mut self, from: LineColumn) {
        if self.at.line > from.line {
            self.inside.push(from.line + 1..self.at.line + 1);
        }
    }

    fn skip_until(&mut self, end: &str) {
        let length = self.rest.find(end).map_or(self.rest.len(), |start| start + end.len());
        self.skip(length);
    }

    fn skip_comment(&mut self, from: LineColumn) -> Result<(), SyntaxError> {
        let mut depth = 0;
        while !self.rest.is_empty() {
            if self.rest.starts_with("/*") {
                depth += 1;
                self.skip(2);
            } else if self.rest.starts_with("*/") {
                depth -= 1;
                self.skip(2);
                if depth == 0 {
                    self.note_inside(from);
                    return Ok(());
                }
            } else {
                self.skip(self.rest.chars().next().map_or(1, char::len_utf8));
            }
        }
        Err(SyntaxError::at("this comment is never closed: expected `*/`", from))
    }

    fn skip_string(&mut self, from: LineColumn) -> Result<(), SyntaxError> {
        self.skip(1);
        while let Some(next) = self.rest.chars().next() {
            match next {
                '"' => {
                    self.skip(1);
                    self.note_inside(from);
                    return Ok(());
                }
                '\\' => {
                    self.skip(1);
                    self.skip(self.rest.chars().next().map_or(0, char::len_utf8));
                }
                _ => self.skip(next.len_utf8()),
            }
        }
        Err(SyntaxError::at("this string is never closed: expected `\"`", from))
    }

    /// A character literal, or the quote of a lifetime.
    fn skip_character(&mut self) {
        let mut characters = self.rest.chars().skip(1);
        match (characters.next(), characters.next()) {
            (Some('\\'), Some(_)) => {
                self.skip(3);
                self.skip_until("'");
            }
            (Some(character), Some('\'')) => self.skip(2 + character.len_utf8()),
            _ => self.skip(1),
        }
    }

    /// An identifier, or the prefix of a raw string.
    fn skip_word(&mut self, from: LineColumn) -> Result<(), SyntaxError> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..length];
        let raw = matches!(word, "r" | "br" | "cr");
        self.skip(length);
        if !raw {
            return Ok(());
        }
        let hashes = self.rest.len() - self.rest.trim_start_matches('#').len();
        if !self.rest[hashes..].starts_with('"') {
            return Ok(());
        }
        self.skip(hashes + 1);
        let end = format!("\"{}", "#".repeat(hashes));
        if !self.rest.contains(&end) {
            let message = format!("this raw string is never closed: expected `{end}`");
            return Err(SyntaxError::at(message, from));
        }
        self.skip_until(&end);
        self.note_inside(from);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{check, lines_inside};

    #[test]
    fn lines_in_strings_and_comments_are_found() {
        assert_eq!(lines_inside("a\n\"b\n\";\n/*\n*/ r#\"\n\n\"# d\n// \"\ne"), [3..4, 5..6, 6..8]);
        assert_eq!(lines_inside("a\n\"b\n\n").first(), Some(&(3..usize::MAX)));
        assert_eq!(lines_inside("it's\n'\"'\n"), []);
    }

    #[test]
    fn balanced_text_passes() {
        for text in [
            "",
            "f(a[0], { b })",
            "let c = '('; let d = '\\''; let e: &'static str = \"(\\\"\";",
            "r#\"(\"#; br\"[\"; r#fn(1)",
            "/* ( /* [ */ { */ 1 // (",
            "'outer: loop { break 'outer }",
            "'\\u{28}'",
        ] {
            assert_eq!(check(text, 128), Ok(()), "{text}");
        }
    }

    #[test]
    fn unbalanced_text_is_reported_with_its_position() {
        for (text, line, column, message) in [
            ("let x = (1;\n", 1, 9, "never closed"),
            ("f(\n]", 2, 1, "expected `)`"),
            ("é }", 1, 3, "no open bracket"),
            ("\n \"abc", 2, 2, "string"),
            ("/* a", 1, 1, "comment"),
            ("r#\"a\"", 1, 1, "raw string"),
        ] {
            let error = check(text, 128).unwrap_err();
            assert_eq!((error.line, error.column), (line, column), "{text}");
            assert!(error.message.contains(message), "{}", error.message);
        }
        assert!(check(&"(".repeat(1_000_000), 128).unwrap_err().message.contains("128 deep"));
    }
}

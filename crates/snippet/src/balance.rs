//! Reports unbalanced brackets with their position, where a parser would only report "error", and notes what is no Rust
//! token on the way.
//!
//! It also limits nesting: parsers recurse, and a snippet must not overflow the host's stack.

use std::ops::Range;

use proc_macro2::LineColumn;

use crate::lexical::{self, Escape, EscapeFault};
use crate::syntax_error::SyntaxError;

/// A text that is no Rust token, as far as that is seen without a parser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) error: SyntaxError,
    /// The certainty.
    pub(crate) certainty: Certainty,
}

/// The certainty of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// It may be valid Rust.
    Guess,
    /// If the text is no Rust, this is why.
    Reason,
    /// The compiler refuses it, even if the parser does not.
    Refused,
}

/// Checks that brackets pair up and nest at most `limit` deep; returns the first fault.
///
/// # Errors
/// The bracket, or the fault that hides what the brackets are.
pub(crate) fn check(text: &str, limit: usize) -> Result<Option<Fault>, SyntaxError> {
    let mut scanner = Scanner::new(text);
    let balanced = pair_up(&mut scanner, limit);
    let fault = scanner.fault.take();
    match (balanced, fault) {
        (Err(_), Some(fault)) if fault.certainty > Certainty::Guess => Err(fault.error),
        (Err(error), _) => Err(error),
        (Ok(()), fault) => Ok(fault),
    }
}

fn pair_up(scanner: &mut Scanner<'_>, limit: usize) -> Result<(), SyntaxError> {
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
    text: &'a str,
    rest: &'a str,
    at: LineColumn,
    /// The lines that start inside a string or a comment.
    inside: Vec<Range<usize>>,
    /// The first of the surest faults.
    fault: Option<Fault>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Self {
        let at = LineColumn { line: 1, column: 0 };
        Scanner { text, rest: text, at, inside: Vec::new(), fault: None }
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
                '\'' => self.skip_character(at),
                'r' | 'b' | 'c' | 'a'..='z' | 'A'..='Z' | '_' => self.skip_word(at)?,
                _ => {
                    if let Some(message) = lexical::character(next) {
                        let is_refused = lexical::is_foreign_space(next);
                        let certainty = if is_refused { Certainty::Refused } else { Certainty::Reason };
                        self.note(certainty, message, at);
                    }
                    self.skip(next.len_utf8());
                }
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

    fn note(&mut self, certainty: Certainty, message: String, at: LineColumn) {
        if self.fault.as_ref().is_none_or(|known| known.certainty < certainty) {
            self.fault = Some(Fault { error: SyntaxError::at(message, at), certainty });
        }
    }

    /// The bytes that were scanned.
    fn offset(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// Whether the string or character that starts here is one of bytes.
    fn in_bytes(&self) -> bool {
        let mut before = self.text[..self.offset()].chars().rev();
        before.next() == Some('b') && before.next().is_none_or(|c| !lexical::is_of_word(c))
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
        let (whole, in_bytes) = (self.rest, self.in_bytes());
        let mut fault: Option<(EscapeFault, LineColumn)> = None;
        self.skip(1);
        while let Some(next) = self.rest.chars().next() {
            match next {
                '"' => {
                    let content = &whole[1..whole.len() - self.rest.len()];
                    if let Some((fault, at)) = fault {
                        let message = fault.in_string(content, in_bytes);
                        self.note(Certainty::Reason, message, at);
                    }
                    self.skip(1);
                    self.note_inside(from);
                    return Ok(());
                }
                '\\' => {
                    let escape = Escape { after: &self.rest[1..], in_bytes };
                    fault = fault.or_else(|| Some((escape.fault()?, self.at)));
                    self.skip(1);
                    self.skip(self.rest.chars().next().map_or(0, char::len_utf8));
                }
                _ => self.skip(next.len_utf8()),
            }
        }
        let message = match lexical::typographic_quote(whole.lines().next().unwrap_or_default()) {
            Some(quote) => format!("this string is never closed: expected `\"`; `{quote}` does not close it"),
            None => "this string is never closed: expected `\"`".to_owned(),
        };
        Err(SyntaxError::at(message, from))
    }

    /// A character literal, or the quote of a lifetime.
    fn skip_character(&mut self, from: LineColumn) {
        let (whole, in_bytes) = (self.rest, self.in_bytes());
        let inner = &whole[1..];
        let mut characters = inner.chars();
        match (characters.next(), characters.next()) {
            (Some('\''), _) => {
                self.note(Certainty::Guess, lexical::quoted_text(""), from);
                self.skip(2);
            }
            (Some('\\'), Some(escaped)) => {
                self.skip(2 + escaped.len_utf8());
                self.skip_until("'");
                let content = &inner[..inner.len() - self.rest.len()];
                let content = content.strip_suffix('\'').unwrap_or(content);
                let fault = Escape { after: &content[1..], in_bytes }.fault();
                let is_long = escaped != 'u' && escaped != 'x' && content.len() > 1 + escaped.len_utf8();
                match fault {
                    _ if is_long => self.note(Certainty::Guess, lexical::quoted_text(content), from),
                    Some(fault) => self.note(Certainty::Reason, fault.in_character(), from),
                    None => {}
                }
            }
            (Some(character), Some('\'')) => self.skip(2 + character.len_utf8()),
            _ => {
                self.note_text(inner, from);
                self.skip(1);
            }
        }
    }

    /// Notes text in single quotes. A lifetime has no second quote; the quote of the next one is followed by its name.
    fn note_text(&mut self, inner: &str, from: LineColumn) {
        let line = inner.lines().next().unwrap_or_default();
        let Some((text, after)) = line.split_once('\'') else { return };
        if after.starts_with(lexical::is_of_word) {
            return;
        }
        let is_sure = text.chars().all(lexical::is_of_word) || text.contains(['(', ')', '[', ']', '{', '}']);
        let certainty = if is_sure { Certainty::Reason } else { Certainty::Guess };
        self.note(certainty, lexical::quoted_text(text), from);
    }

    /// An identifier, or the prefix of a raw string.
    fn skip_word(&mut self, from: LineColumn) -> Result<(), SyntaxError> {
        let length = self.rest.find(|c| !lexical::is_of_word(c)).unwrap_or(self.rest.len());
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
            "'\\x28'; b'\\xff'; b\"\\xff\"; '\\''",
            "fn f<'a, 'b>(a: &'a str, b: &'b str) -> char { 'c' }",
        ] {
            assert_eq!(check(text, 128), Ok(None), "{text}");
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
        for (text, column, message) in [
            ("f(\"\\d+\")", 4, "no escape `\\d`: write a raw string, `r\"\\d+\"`"),
            ("f('text')", 3, "`'text'` is not one character"),
            ("f('two words')", 3, "write `\"two words\"`"),
            ("f(':(')", 3, "write `\":(\"`"),
            ("f('')", 3, "`''` is no character"),
            ("f('\\d')", 3, "no escape `\\d`"),
            ("f('\\é')", 3, "no escape `\\é`"),
            ("f('\\n and more')", 3, "is not one character"),
            ("f(“text”)", 3, "`“` (U+201C)"),
            ("f(“:(”)", 3, "`“` (U+201C)"),
            ("f(a\u{200b})", 4, "U+200B"),
        ] {
            let fault = check(text, 128);
            let error = fault.map(|fault| fault.unwrap().error).unwrap_or_else(|error| error);
            assert_eq!(error.column, column, "{text}: {error:?}");
            assert!(error.message.contains(message), "{}", error.message);
        }
        assert!(check("f(\"text”)", 128).unwrap_err().message.contains("`”` does not close it"));
        assert!(check(&"(".repeat(1_000_000), 128).unwrap_err().message.contains("128 deep"));
    }
}

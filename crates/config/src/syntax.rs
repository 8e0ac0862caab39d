//! Syntax errors of YAML for users: place, message, and the line.
//!
//! The parser's messages are partly for programmers; those about its options are replaced here.

use std::borrow::Cow;

use report::{Excerpt, Problem};
use serde_saphyr::{Error, Localizer, Location, MessageFormatter, SnippetMode, UserMessageFormatter};

use super::tree::Place;

/// Characters of a long line that are shown before and after the place.
const AROUND: usize = 40;

/// The error with its place, if it has one.
pub(super) fn explain(error: &Error, file: &str, text: &str) -> Problem {
    let options = serde_saphyr::render_options! { formatter: &Messages, snippets: SnippetMode::Off };
    let message = error.render_with_options(options);
    match error.location().filter(|place| *place != Location::UNKNOWN) {
        Some(place) => {
            let at = Place { line: place.line(), column: place.column() };
            Problem::at(self::place(file, &keys_only(text), at), message)
        }
        None => Problem::new(format!("the configuration {file} is wrong: {message}")),
    }
}

/// A place of a file whose text, with secrets masked, is `text`. Parsers find some errors only behind the last line: the
/// place is the end of the text then.
pub(super) fn place(file: &str, text: &str, place: Place) -> report::Place {
    let end = || {
        let (number, last) = text.lines().enumerate().last().unwrap_or_default();
        Place { line: number as u64 + 1, column: last.chars().count() as u64 + 1 }
    };
    let Place { line, column } = if place.line > text.lines().count() as u64 { end() } else { place };
    let excerpt = excerpt(text, line, column);
    report::Place { file: file.to_owned(), line, column: Some(column), excerpt }
}

/// The text with every character masked that belongs neither to a key nor to the syntax: in a text that can't be
/// parsed, it is unknown which values are secret.
pub(super) fn keys_only(text: &str) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        let mut shown = String::with_capacity(line.len());
        let (mut rest, mut may_be_key) = (line, true);
        while let Some(c) = rest.chars().next() {
            let is_sign = !is_of_word(c);
            let end = rest.find(|c: char| c != '-' && !is_of_word(c)).unwrap_or(rest.len());
            let (word, behind) = rest.split_at(if is_sign { c.len_utf8() } else { end });
            if is_sign {
                shown.push(c);
                may_be_key = match c {
                    '{' | ',' => true,
                    '-' | '?' | '"' | '\'' => may_be_key,
                    _ => may_be_key && c.is_whitespace(),
                };
            } else {
                let is_key = may_be_key && ends_key(behind);
                shown.extend(word.chars().map(|c| if is_key { c } else { '*' }));
                may_be_key = false;
            }
            rest = behind;
        }
        shown
    });
    lines.collect()
}

/// Whether a character is part of a word, not of the syntax.
fn is_of_word(c: char) -> bool {
    !c.is_whitespace() && !c.is_control() && !"{}[],:\"'|>&*!@`#?-".contains(c)
}

/// Whether the text after a word starts with the colon of a key.
fn ends_key(behind: &str) -> bool {
    let behind = behind.strip_prefix(['"', '\'']).unwrap_or(behind).trim_start_matches(' ');
    let value = behind.strip_prefix(':');
    value.is_some_and(|value| value.chars().next().is_none_or(|c| c.is_whitespace() || "\"'{[".contains(c)))
}

/// The given line, shortened around the given column if it is long. Both count from 1. `None` if the text has no such
/// line.
fn excerpt(text: &str, line: u64, column: u64) -> Option<Excerpt> {
    let index = |place: u64| usize::try_from(place.saturating_sub(1)).unwrap_or(usize::MAX);
    let line = text.lines().nth(index(line))?;
    let from = index(column).saturating_sub(AROUND);
    let mut characters = line.chars().skip(from);
    // Control characters could control a terminal; each is replaced by one space.
    let shown: String =
        characters.by_ref().take(2 * AROUND).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let before = if from > 0 { "…" } else { "" };
    let behind = if characters.next().is_some() { "…" } else { "" };
    let mark = index(column) - from + before.chars().count();
    Some(Excerpt { text: format!("{before}{shown}{behind}"), mark })
}

/// The parser's messages for users, with replacements for those about its programming interface.
struct Messages;

impl MessageFormatter for Messages {
    fn localizer(&self) -> &dyn Localizer {
        &Messages
    }

    fn format_message<'a>(&self, error: &'a Error) -> Cow<'a, str> {
        let message = match error {
            Error::WithSnippet { error, .. } => return self.format_message(error),
            Error::DuplicateMappingKey { key: Some(key), .. } => {
                return Cow::Owned(format!("the key `{key}` appears a second time; keep one of them"));
            }
            Error::SerdeUnknownField { field, expected, .. } => {
                return Cow::Owned(format!("unknown key `{field}`; write one of {}", expected.join(", ")));
            }
            Error::SerdeUnknownVariant { variant, expected, .. } => {
                return Cow::Owned(format!(
                    "unknown value `{variant}`; write one of {}",
                    expected.join(", ")
                ));
            }
            Error::MultipleDocuments { .. } => {
                "a second document starts here; keep one, and remove the line `---` between them"
            }
            Error::Unexpected { expected: "mapping start", .. } => {
                "expected a mapping; write `key: value` lines, or { key: value }"
            }
            Error::Unexpected { expected: "sequence start", .. } => "expected a list; write [first, second]",
            Error::Unexpected { expected: "string scalar" | "scalar", .. } => {
                "expected a single value, not a list or a mapping; write one value"
            }
            Error::InvalidScalar { ty: "u64", .. } => "expected an integer, such as 60",
            Error::InvalidScalar { ty: "floating point", .. } => "expected a number, such as 2.5",
            Error::InvalidScalar { ty: "boolean", .. } | Error::InvalidBooleanStrict { .. } => {
                "expected true or false"
            }
            Error::NullIntoString { .. } => "expected a string; write one, or \"\" for the empty string",
            Error::Budget { .. }
            | Error::AliasReplayCounterOverflow { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. } => {
                "the file is nested too deeply, or its aliases repeat too much; simplify it"
            }
            Error::UnknownAnchor { .. } => {
                "this alias has no anchor; write `&name` before the value to repeat"
            }
            other => {
                let message = UserMessageFormatter.format_message(other);
                return match advice(&message) {
                    Some(advice) => Cow::Owned(format!("{message}; {advice}")),
                    None => message,
                };
            }
        };
        Cow::Borrowed(message)
    }
}

/// Returns a remedy for a message of the parser.
fn advice(message: &str) -> Option<&'static str> {
    let advice = [
        ("tabs disallowed", "indent with spaces"),
        ("unclosed bracket", "close it"),
        ("unclosed quote", "close it"),
        ("multiline quoted scalar", "close the quote"),
        ("mapping values are not allowed", "put the value into quotes, or the key on a line of its own"),
        ("simple key", "write `key: value`"),
        ("did not find expected", "check brackets, commas and indentation"),
    ];
    advice.into_iter().find(|(part, _)| message.contains(part)).map(|(_, advice)| advice)
}

impl Localizer for Messages {
    /// The message already starts with the place.
    fn attach_location<'a>(&self, message: Cow<'a, str>, _place: Location) -> Cow<'a, str> {
        message
    }

    fn alias_used_at(&self, _place: Location) -> String {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, excerpt, keys_only};

    #[test]
    fn text_that_cannot_be_parsed_is_shown_with_keys_only() {
        for (text, shown) in [
            ("    Authorization: \"Bearer s3cr3t\n", "    Authorization: \"****** ******\n"),
            ("a: {url: \"http://x.y\", A: s3, B: @s3:4}", "a: {url: \"****:*****\", A: **, B: @**:*}"),
            ("{\"a\": {\"X-A\":\"s-3\" \"s3\"", "{\"a\": {\"X-A\":\"***\" \"**\""),
            ("  - K: s3: more", "  - K: **: ****"),
            ("\tsecond line of it é.$\n", "\t****** **** ** ** ***\n"),
            ("s3:s3", "**:**"),
        ] {
            assert_eq!(keys_only(text), shown);
        }
    }

    #[test]
    fn the_mark_is_under_the_place() {
        assert_eq!(excerpt("a\nbcd\n", 2, 2), Some(Excerpt { text: "bcd".to_owned(), mark: 1 }));
        let long = format!("{}X{}", "é".repeat(500), "z".repeat(500));
        let Excerpt { text, mark } = excerpt(&long, 1, 501).unwrap();
        assert_eq!(text.chars().nth(mark), Some('X'), "{text}");
        assert!(text.ends_with('…') && text.chars().count() < 100, "{text}");
        assert_eq!(excerpt("a", 7, 1), None);
        assert!(!excerpt("a\u{1b}[31m", 1, 1).unwrap().text.contains('\u{1b}'));
    }

    #[test]
    fn errors_are_at_lines_that_the_text_has() {
        let folder = std::fs::read_dir("tests/configurations/good").unwrap();
        let mut wrong = 0;
        for file in folder.map(|entry| entry.unwrap().path()) {
            let text = std::fs::read_to_string(&file).unwrap();
            let layer = crate::ConfigLayer::Named(file);
            for end in (0..text.len()).step_by(7).filter(|end| text.is_char_boundary(*end)) {
                let cut = &text[..end];
                let Err(error) = crate::source::read(&layer, cut) else { continue };
                let lines = cut.lines().count().max(1) as u64;
                for place in error.problems.iter().filter_map(|problem| problem.place.as_ref()) {
                    assert!((1..=lines).contains(&place.line), "{place:?} of {lines} lines:\n{cut}");
                    wrong += 1;
                }
            }
        }
        assert!(wrong > 100, "{wrong}");
    }
}

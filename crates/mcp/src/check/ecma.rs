//! Writes a pattern of ECMA-262 so that the engines here read it in the same way (ECMA-262, "Patterns" and annex B.1.2).
//!
//! The engines have syntax that ECMA-262 lacks, such as `\<` for the start of a word, and refuse some that it has, such as
//! `[\w-.]`. Everything else is left to `jsonschema`, which translates the shorthands and classes that differ.

use std::ops::ControlFlow;

/// The pattern for the engines.
pub(super) fn portable(pattern: &str) -> String {
    let mut translation = Translation { rest: pattern, out: String::with_capacity(pattern.len() + 16) };
    while let Some(character) = translation.next() {
        match character {
            '\\' => drop(translation.escape()),
            '[' => translation.class(),
            '{' if !is_quantifier(translation.rest) => translation.out.push_str("\\{"),
            other => translation.out.push(other),
        }
    }
    translation.out
}

struct Translation<'a> {
    rest: &'a str,
    out: String,
}

/// The element that precedes a place in a class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing that could start a range.
    Nothing,
    Character,
    /// A shorthand such as `\w`.
    Shorthand,
    /// A character and a hyphen.
    RangeStart,
    /// A hyphen that means itself, between two atoms.
    FalseRange,
}

impl Translation<'_> {
    fn next(&mut self) -> Option<char> {
        let character = self.rest.chars().next()?;
        self.rest = self.rest.get(character.len_utf8()..).unwrap_or_default();
        Some(character)
    }

    fn take(&mut self, length: usize) -> &str {
        let (taken, rest) = self.rest.split_at_checked(length).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// Translates an escape, behind its backslash. Returns whether it is a shorthand for several characters.
    fn escape(&mut self) -> bool {
        let Some(character) = self.next() else {
            self.out.push('\\');
            return false;
        };
        if character == 'u'
            && let Some(meant) = surrogates(self.rest)
        {
            self.take(SURROGATES);
            self.out.push_str(&format!("\\u{{{:x}}}", u32::from(meant)));
            return false;
        }
        match character {
            '0' if !self.rest.starts_with(|next: char| next.is_ascii_digit()) => self.out.push_str("\\x00"),
            'c' if self.rest.starts_with(|next: char| next.is_ascii_alphabetic()) => {
                let letter = self.take(1).as_bytes().first().copied().unwrap_or_default();
                self.out.push_str(&format!("\\x{:02x}", letter % 32));
            }
            // The braces belong to it.
            'u' | 'x' | 'p' | 'P' if self.rest.starts_with('{') => {
                let end = self.rest.find('}').map_or(self.rest.len(), |end| end + 1);
                let braces = self.take(end).to_owned();
                self.out.extend(['\\', character]);
                self.out.push_str(&braces);
            }
            // They mean themselves; the engines have another meaning for them, or none.
            '<' | '>' => self.out.push(character),
            _ if !character.is_ascii() => self.out.push(character),
            _ => self.out.extend(['\\', character]),
        }
        "dDsSwWpP".contains(character)
    }

    /// Translates a class, behind its bracket.
    fn class(&mut self) {
        let is_negated = self.rest.starts_with('^');
        let empty = if is_negated { "^]" } else { "]" };
        if self.rest.starts_with(empty) {
            self.take(empty.len());
            // Every character, or none.
            self.out.push_str(if is_negated { "[\\s\\S]" } else { "[^\\s\\S]" });
            return;
        }
        self.out.push('[');
        if is_negated {
            self.take(1);
            self.out.push('^');
        }
        let mut before = Before::Nothing;
        while let Some(character) = self.next() {
            match self.class_atom(character, before) {
                ControlFlow::Continue(now) => before = now,
                ControlFlow::Break(()) => return,
            }
        }
    }

    /// Translates one character or escape of a class.
    fn class_atom(&mut self, character: char, before: Before) -> ControlFlow<(), Before> {
        let mut is_shorthand = false;
        match character {
            ']' => {
                self.out.push(']');
                return ControlFlow::Break(());
            }
            '-' if before == Before::Character && !self.rest.starts_with(']') => {
                let is_range = !is_shorthand_next(self.rest);
                self.out.push_str(if is_range { "-" } else { "\\-" });
                return ControlFlow::Continue(if is_range { Before::RangeStart } else { Before::FalseRange });
            }
            '-' if before == Before::Shorthand && !self.rest.starts_with(']') => {
                self.out.push_str("\\-");
                return ControlFlow::Continue(Before::FalseRange);
            }
            // Without the backslash, the engines read some of them as operators between classes.
            '-' | '[' | '&' | '~' => self.out.extend(['\\', character]),
            '\\' if self.rest.starts_with('b') => {
                self.take(1);
                self.out.push_str("\\x08");
            }
            '\\' => is_shorthand = self.escape(),
            other => self.out.push(other),
        }
        ControlFlow::Continue(match before {
            Before::RangeStart | Before::FalseRange => Before::Nothing,
            _ if is_shorthand => Before::Shorthand,
            _ => Before::Character,
        })
    }
}

/// Whether the text behind a brace makes it a quantifier.
fn is_quantifier(behind: &str) -> bool {
    let Some((inner, _)) = behind.split_once('}') else { return false };
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match inner.split_once(',') {
        Some((least, most)) => is_number(least) && is_number(most) && inner.len() > 1,
        None => !inner.is_empty() && is_number(inner),
    }
}

fn is_shorthand_next(rest: &str) -> bool {
    rest.strip_prefix('\\').is_some_and(|escape| escape.starts_with(|next: char| "dDsSwWpP".contains(next)))
}

/// Length of two escapes without the first `\u`: `D83D\uDE00`.
const SURROGATES: usize = 10;

/// The character that two escapes of surrogates mean.
fn surrogates(behind: &str) -> Option<char> {
    let unit = |from: usize| u16::from_str_radix(behind.get(from..from + 4)?, 16).ok();
    let units = [unit(0)?, behind.get(4..6).filter(|between| *between == "\\u").and_then(|_| unit(6))?];
    let mut characters = char::decode_utf16(units);
    let character = characters.next()?.ok()?;
    characters.next().is_none().then_some(character)
}

#[cfg(test)]
mod tests {
    use super::portable;

    #[test]
    fn patterns_are_written_for_the_engines() {
        for (pattern, expected) in [
            (r"^\<a\>$", r"^<a>$"),
            (r"[\<\>]", r"[<>]"),
            (r"\-\_\@\/\'\#\%\ ", r"\-\_\@\/\'\#\%\ "),
            (r"\é\—", "é—"),
            (r"\0", r"\x00"),
            (r"\cA\cz", r"\x01\x1a"),
            (r"\uD83D\uDE00", r"\u{1f600}"),
            (r"\u{1F600}\p{L}{2}\x41", r"\u{1F600}\p{L}{2}\x41"),
            (r"^{.*}$", r"^\{.*}$"),
            (r"a{2}b{2,}c{2,3}d{,4}e{x}f{", r"a{2}b{2,}c{2,3}d{,4}e\{x}f\{"),
            (r"[]a", r"[^\s\S]a"),
            (r"[^]*", r"[\s\S]*"),
            (r"[\w-.]", r"[\w\-.]"),
            (r"[.-\w]", r"[.\-\w]"),
            (r"[a-z-9]", r"[a-z\-9]"),
            (r"[-a-]", r"[\-a\-]"),
            (r"[--/]", r"[\--/]"),
            (r"[\w-a-z]", r"[\w\-a\-z]"),
            (r"[[a&&b]", r"[\[a\&\&b]"),
            (r"[\b{}]", r"[\x08{}]"),
            (r"(?<year>\d{4})\b(?!x)(?<=y)\k<year>", r"(?<year>\d{4})\b(?!x)(?<=y)\k<year>"),
            ("\\", "\\"),
            ("[", "["),
            (r"[\", r"[\"),
            (r"\c", r"\c"),
            (r"\p{", r"\p{"),
        ] {
            assert_eq!(portable(pattern), expected, "{pattern}");
        }
    }
}

//! Spells out invisible and misleading characters of one-line text by their code points, as in `\u{202e}`.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_security::{MixedScript as _, RestrictionLevel, RestrictionLevelDetection as _, skeleton};

use crate::character::{is_invisible, is_mark, is_overlay, passes_for_ascii};

/// Limit on marks on one letter: Hebrew and Vietnamese need up to three.
const MAX_MARKS: usize = 3;

/// Typographic punctuation that prose keeps: quotation marks and dashes.
const TYPOGRAPHY: [char; 5] = ['\u{2018}', '\u{2019}', '\u{2010}', '\u{2011}', '\u{2013}'];

/// Marks omitted text, also in this program's messages.
const ELLIPSIS: char = '…';

/// The strictness of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strictness {
    Prose,
    Exact,
    Name,
}

/// Makes a one-line description or message safe. Spells out invisible characters, words that mix scripts (UTS #39,
/// section 5.1), and ASCII lookalikes other than quotation marks and dashes.
#[must_use]
pub fn prose(text: &str) -> String {
    spelled(text, Strictness::Prose)
}

/// Makes one line safe in which every character matters: arguments, a path, an address, a command line. Spells out
/// typographic punctuation in addition to what [`prose`] does.
#[must_use]
pub fn exact(text: &str) -> String {
    spelled(text, Strictness::Exact)
}

/// Makes a name safe. In addition to what [`exact`] does, spells out ASCII characters that don't belong in names
/// (spaces, quotation marks, brackets and backslashes, with which a name could continue the surrounding sentence) and
/// letters that don't belong in identifiers (UTS #39, section 3).
#[must_use]
pub fn name(text: &str) -> String {
    spelled(text, Strictness::Name)
}

/// A key that is equal for names that look the same (UTS #39, section 4), such as `read_file` and `read_fi1e`. Not for
/// display.
#[must_use]
pub fn look(name: &str) -> String {
    skeleton(name).collect()
}

/// Escapes invisible characters in JSON. They occur only within strings, so the value stays the same.
#[must_use]
pub fn json(text: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| is_invisible(character) && character != '\n';
    if !text.contains(is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 64);
    for character in text.chars() {
        if is_escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string does not fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Writes a character as its code point.
pub(crate) fn spell(character: char, into: &mut String) {
    // Writing to a string does not fail.
    let _ = write!(into, "\\u{{{:x}}}", u32::from(character));
}

fn spelled(text: &str, strictness: Strictness) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|character| !is_of_word(character)).unwrap_or(rest.len());
        // A character outside of words is a token.
        let (token, after) = rest.split_at(if end == 0 { first.len_utf8() } else { end });
        if end == 0 {
            symbol(first, strictness, &mut seen);
        } else {
            word(token, strictness, &mut seen);
        }
        rest = after;
    }
    seen
}

fn is_of_word(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric()
    } else {
        character.is_alphanumeric() || is_mark(character)
    }
}

/// A character between words.
fn symbol(character: char, strictness: Strictness, seen: &mut String) {
    let is_kept = match strictness {
        _ if is_invisible(character) => false,
        Strictness::Name if character.is_ascii() => "_-./:@+#~".contains(character),
        _ if character.is_ascii() || character == ELLIPSIS => true,
        Strictness::Prose => passes_for_ascii(character) != 1 || TYPOGRAPHY.contains(&character),
        Strictness::Exact | Strictness::Name => passes_for_ascii(character) == 0,
    };
    if is_kept { seen.push(character) } else { spell(character, seen) }
}

/// A word: letters, digits, and the marks on them.
fn word(word: &str, strictness: Strictness, seen: &mut String) {
    if word.is_ascii() {
        seen.push_str(word);
        return;
    }
    // Text of one script may have letters that identifiers cannot, such as Thai SARA AM.
    let is_one_script = strictness != Strictness::Name && word.is_single_script();
    let is_mixed = !is_one_script && word.detect_restriction_level() > RestrictionLevel::HighlyRestrictive;
    // Spell out whole words of another script that read as ASCII, and single lookalikes within ASCII.
    let is_forged = is_mixed || word.chars().all(|c| c.is_ascii() || passes_for_ascii(c) == 1);
    let has_ascii = word.contains(|character: char| character.is_ascii_alphanumeric());
    let mut marks = MAX_MARKS;
    for character in word.chars() {
        let is_kept = if character.is_ascii() {
            true
        } else if is_mark(character) {
            marks += 1;
            marks <= MAX_MARKS && !is_overlay(character) && !is_mixed
        } else {
            !(is_forged || has_ascii && passes_for_ascii(character) == 1)
        };
        if !is_mark(character) {
            marks = 0;
        }
        if is_kept && !is_invisible(character) { seen.push(character) } else { spell(character, seen) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_of_one_script_is_unchanged() {
        for text in [
            "read_file(path: \"/tmp/a\")",
            "café",
            "naïve Straße ñ ø ł",
            "поиск файлов",
            "Ελλάδα",
            "検索 API使用 ノート",
            "한국어",
            "น้ำ ภาษาไทย x²",
            "हिन्दी",
            "العربية",
            "e\u{301}",
            "→ ✓ © 😀",
            "a\\b",
        ] {
            assert_eq!(prose(text), text);
            assert_eq!(exact(text), text);
        }
        assert_eq!(prose("don’t – “do” — it…"), "don’t – “do” — it…");
        assert_eq!(name("a-b_c.d/e:f@1"), "a-b_c.d/e:f@1");
    }

    #[test]
    fn invisible_characters_are_spelled_out() {
        for (text, seen) in [
            ("a\u{2800}b", "a\\u{2800}b"),
            ("a\u{3164}\u{115f}\u{1160}\u{ffa0}", "a\\u{3164}\\u{115f}\\u{1160}\\u{ffa0}"),
            ("a\u{200b}\u{e0041}\u{a0}\u{fe0f}", "a\\u{200b}\\u{e0041}\\u{a0}\\u{fe0f}"),
            ("a\n\t\u{1b}[2J\u{202e}", "a\\u{a}\\u{9}\\u{1b}[2J\\u{202e}"),
        ] {
            assert_eq!(
                [prose(text), exact(text), name(text)].map(|text| text.replace("\\u{5b}", "[")),
                [seen; 3]
            );
        }
    }

    #[test]
    fn lookalikes_are_spelled_out() {
        for (text, seen) in [
            ("p\u{430}ypal", "p\\u{430}ypal"),
            ("\u{441}\u{435}\u{43e}", "\\u{441}\\u{435}\\u{43e}"),
            ("\u{ff41}", "\\u{ff41}"),
            ("kap\u{131}", "kap\\u{131}"),
            ("/etc\u{2215}x\u{ff0f}", "/etc\\u{2215}x\\u{ff0f}"),
            ("tmp\u{30ce}x", "tmp\\u{30ce}x"),
            ("a\u{336}b", "a\\u{336}b"),
            ("\u{301}x \"\u{338}", "\\u{301}x \"\\u{338}"),
            ("a\u{301}\u{301}\u{301}\u{301}", "a\u{301}\u{301}\u{301}\\u{301}"),
        ] {
            assert_eq!([prose(text), exact(text)], [seen; 2], "{text:?}");
        }
        assert_eq!(exact("x”, “y’"), "x\\u{201d}, \\u{201c}y\\u{2019}");
        assert_eq!(name("a (b) \"c\" \\d"), "a\\u{20}\\u{28}b\\u{29}\\u{20}\\u{22}c\\u{22}\\u{20}\\u{5c}d");
        assert_eq!([look("read_file"), look("scope")], [look("read_fi1e"), look("\u{455}cope")]);
        assert_ne!(look("read"), look("write"));
    }

    #[test]
    fn json_keeps_its_value() {
        assert_eq!(json("{\"a\": \"b é\"}\n"), "{\"a\": \"b é\"}\n");
        assert_eq!(
            json("\"\u{9b}\u{202e}\u{7f}\u{e0041}\u{2800}\""),
            "\"\\u009b\\u202e\\u007f\\udb40\\udc41\\u2800\""
        );
    }

    proptest! {
        #[test]
        fn no_text_hides_anything(text in any::<String>()) {
            for seen in [prose(&text), exact(&text), name(&text)] {
                prop_assert!(!seen.chars().any(is_invisible), "{seen:?}");
            }
        }
    }
}

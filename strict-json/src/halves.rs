//! Halves of surrogate pairs in the texts of others: what cuts a text in UTF-16 leaves them behind.
//!
//! An escape such as `\ud83d` without its other half is JSON by grammar and no Unicode (RFC 8259, section 8.2). Readers
//! refuse it, drop it or make U+FFFD of it.

use std::borrow::Cow;

/// The escape that stands for a character that could not be read. It is as long as the one that it replaces.
const REPLACEMENT: &str = "\\ufffd";

/// A JSON text in which U+FFFD stands for each half of a surrogate pair, as a decoder of UTF-16 would have it.
///
/// For texts that are shown and read. What is checked and sent keeps its canonical form, which refuses such halves.
#[must_use]
pub fn whole_characters(text: &str) -> Cow<'_, str> {
    let mut whole = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text.get(at..).and_then(|rest| rest.find('\\')) {
        let escape = at + found;
        at = match unit(text, escape) {
            None => escape + 2,
            Some(0xd800..=0xdbff)
                if matches!(unit(text, escape + REPLACEMENT.len()), Some(0xdc00..=0xdfff)) =>
            {
                escape + 2 * REPLACEMENT.len()
            }
            Some(0xd800..=0xdfff) => {
                whole.push_str(text.get(copied..escape).unwrap_or_default());
                whole.push_str(REPLACEMENT);
                copied = escape + REPLACEMENT.len();
                copied
            }
            Some(_) => escape + REPLACEMENT.len(),
        };
        // What follows a backslash may be longer than one byte, where the text is no JSON.
        at = text.ceil_char_boundary(at);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    whole.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(whole)
}

/// The unit of UTF-16 that an escape at this place stands for.
fn unit(text: &str, at: usize) -> Option<u16> {
    let escape = text.get(at..at.checked_add(REPLACEMENT.len())?)?;
    let digits =
        escape.strip_prefix("\\u").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    u16::from_str_radix(digits?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::whole_characters;

    #[test]
    fn halves_are_replaced_and_all_else_stays() {
        for (text, expected) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\uDE00 \uD83D\ud83d\ude00\uD83D""#, r#""\ufffd \ufffd\ud83d\ude00\ufffd""#),
            (r#"{"\ud83d":"\\\ud83d"}"#, r#"{"\ufffd":"\\\ufffd"}"#),
            (r#""\ud83d\n\udc00""#, r#""\ufffd\n\ufffd""#),
        ] {
            assert_eq!(whole_characters(text), expected);
        }
        for text in [
            r#""\\ud83d \ud83d\ude00 \u00e9 \ufffd""#,
            "",
            "\\",
            "\\u",
            "\\ud8",
            "\\ud83",
            "\\\u{e9}",
            "\\ud83\u{e9}",
        ] {
            assert_eq!(whole_characters(text), text);
        }
    }
}

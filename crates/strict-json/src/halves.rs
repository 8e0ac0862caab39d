//! Replaces unpaired surrogates in text from others. Cutting a string in UTF-16 produces them.
//!
//! An escape like `\ud83d` without its other half is valid JSON grammar but not Unicode (RFC 8259, section 8.2).
//! Readers refuse it, drop it or replace it with U+FFFD.

use std::borrow::Cow;

/// The escape of the replacement character. It is as long as the escape it replaces.
const REPLACEMENT: &str = "\\ufffd";

/// Replaces each unpaired surrogate in a JSON text with U+FFFD, as a UTF-16 decoder would.
///
/// For text that is displayed and read. Text that is checked and sent is canonical, which refuses unpaired surrogates.
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
        // In text that is not JSON, a multi-byte character may follow the backslash.
        at = text.ceil_char_boundary(at);
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    whole.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(whole)
}

/// The UTF-16 code unit of the escape at this position.
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
    fn unpaired_surrogates_are_replaced_and_everything_else_is_kept() {
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

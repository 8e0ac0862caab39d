//! Texts of others, cut in length.

use std::borrow::Cow;

/// At most `limit` bytes of a text, cut before a character that does not fit, and a note on what is left out.
#[must_use]
pub fn shortened(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let kept = text.get(..text.floor_char_boundary(limit)).unwrap_or_default();
    Cow::Owned(format!("{kept}… [{} bytes are left out]", text.len() - kept.len()))
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_text_is_cut_at_a_character_and_says_so() {
        assert_eq!(shortened("äöü", 6), "äöü");
        assert_eq!(shortened("äöü", 5), "äö… [2 bytes are left out]");
        assert_eq!(shortened("ä", 0), "… [2 bytes are left out]");
    }
}

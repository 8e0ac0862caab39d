//! Cuts text to a length limit.

use std::borrow::Cow;

/// Cuts a text to at most `limit` bytes, at a character boundary, and appends a note on what was omitted.
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
    fn a_text_is_cut_at_a_character_with_a_note() {
        assert_eq!(shortened("äöü", 6), "äöü");
        assert_eq!(shortened("äöü", 5), "äö… [2 bytes are left out]");
        assert_eq!(shortened("ä", 0), "… [2 bytes are left out]");
    }
}

//! Makes text from a server safe to show: one line, no invisible characters, no secrets, bounded.

use crate::secrets::without;

/// At most `limit` bytes of `text`. Masks learned secrets, removes colours, turns line ends and tabs into spaces,
/// escapes characters that are invisible (including terminal escapes) or look like ASCII, and marks a cut.
pub(crate) fn shown(text: &str, limit: usize) -> String {
    // Before the cut, which could leave a part of a secret.
    let text = without(text);
    let text = text.trim_end();
    // Escaping only makes the text longer.
    let begin = text.get(..text.floor_char_boundary(limit.saturating_add(1))).unwrap_or_default();
    let mut shown = printable::prose(&printable::lines(begin).replace(['\n', '\t'], " "));
    if shown.len() > limit || begin.len() < text.len() {
        shown.truncate(shown.floor_char_boundary(limit));
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn controls_are_escaped_and_long_text_is_cut_at_a_character() {
        assert_eq!(shown("\u{1b}[31mred\u{202e}der\u{1b}[2J\n", 40), "red\\u{202e}der\\u{1b}[2J");
        assert_eq!(shown("äöü", 5), "äö…");
        assert_eq!(shown("äöü", 6), "äöü");
    }
}

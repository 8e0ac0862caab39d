//! Makes text that a server wrote fit to be shown: one line, no control characters, no secrets, bounded.

use crate::secrets::without;

/// At most `limit` bytes of `text`; learned secrets are masked, control characters (terminal escapes among them) become
/// spaces, and a cut is marked.
pub(crate) fn shown(text: &str, limit: usize) -> String {
    // Before the cut, which could leave a part of a secret.
    let text = without(text);
    let mut shown = String::with_capacity(text.len().min(limit));
    for character in text.trim_end().chars() {
        if shown.len() + character.len_utf8() > limit {
            shown.push('…');
            break;
        }
        shown.push(if is_unprintable(character) { ' ' } else { character });
    }
    shown
}

/// Control characters, and the marks that reorder or hide text on a terminal.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn escapes_are_defused_and_long_text_is_cut_at_a_character() {
        assert_eq!(shown("\u{1b}[31mred\u{202e}der\n", 40), " [31mred der");
        assert_eq!(shown("äöü", 5), "äö…");
        assert_eq!(shown("äöü", 6), "äöü");
    }
}

//! Classifies single characters: which control a terminal, are invisible, or look like ASCII.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::char::canonical_combining_class;
use unicode_security::skeleton;

/// Characters whose category implies a glyph, but whose glyph is blank.
const BLANK: [char; 6] = [
    '\u{2800}',  // braille pattern blank
    '\u{fffc}',  // object replacement character
    '\u{13441}', // Egyptian hieroglyph full blank
    '\u{13442}', // Egyptian hieroglyph half blank
    '\u{16fe4}', // Khitan small script filler
    '\u{1d159}', // musical symbol null notehead
];

/// Whether a character controls a terminal or changes the display order of others: controls (C0, DEL, C1), line and
/// paragraph separators, and Unicode's formatting characters for direction (UAX #9), digits and annotations. Newline
/// and tab are included.
#[must_use]
pub fn controls(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
                | '\u{fff9}'..='\u{fffb}'
        )
}

/// Whether a character cannot be seen: everything in [`controls`], other formatting characters, spaces except the ASCII
/// one, `Default_Ignorable_Code_Point`, characters with a blank glyph, and those with no agreed glyph (private use,
/// unassigned).
#[must_use]
pub fn is_invisible(character: char) -> bool {
    use GeneralCategory as Category;
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    let category = matches!(
        get_general_category(character),
        Category::Control
            | Category::Format
            | Category::Surrogate
            | Category::PrivateUse
            | Category::Unassigned
            | Category::LineSeparator
            | Category::ParagraphSeparator
            | Category::SpaceSeparator
    );
    // A skeleton (UTS #39, section 4) omits ignorable characters.
    category || BLANK.contains(&character) || skeleton(character.encode_utf8(&mut [0; 4])).next().is_none()
}

/// Whether a character is a mark on the preceding one.
pub(crate) fn is_mark(character: char) -> bool {
    use GeneralCategory as Category;
    matches!(
        get_general_category(character),
        Category::NonspacingMark | Category::SpacingMark | Category::EnclosingMark
    )
}

/// Whether a mark covers its base character: strokes through it and shapes around it.
pub(crate) fn is_overlay(character: char) -> bool {
    /// `Canonical_Combining_Class` of overlays (UAX #44, table 15).
    const OVERLAY: u8 = 1;
    canonical_combining_class(character) == OVERLAY
        || get_general_category(character) == GeneralCategory::EnclosingMark
}

/// The number of ASCII characters that a character looks like (UTS #39, section 4); 0 if it looks like none.
pub(crate) fn passes_for_ascii(character: char) -> usize {
    if character.is_ascii() {
        return 0;
    }
    let mut buffer = [0; 4];
    let (mut ascii, mut others) = (0, 0);
    for like in skeleton(character.encode_utf8(&mut buffer)) {
        if like.is_ascii() { ascii += 1 } else { others += 1 }
    }
    if others == 0 { ascii } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_characters_are_invisible() {
        let blank = "\u{a0}\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{1680}\u{17b4}\u{17b5}\u{180b}\u{180e}\u{180f}\u{2000}\
            \u{200a}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{202f}\u{205f}\u{2060}\
            \u{2061}\u{2064}\u{2065}\u{2066}\u{2069}\u{206f}\u{2800}\u{3000}\u{3164}\u{fe00}\u{fe0f}\u{feff}\u{ffa0}\
            \u{fff9}\u{fffb}\u{fffc}\u{13441}\u{13442}\u{1bca0}\u{1d159}\u{1d173}\u{e000}\u{e0001}\u{e0041}\
            \u{e0100}\u{10fffd}\u{378}\u{85}\u{9b}\u{7f}\u{0}\u{1b}\r\n\t";
        for character in blank.chars() {
            assert!(is_invisible(character), "{character:?}");
        }
        for character in " aZ0~\"\\é\u{301}жא漢한🦀→✓…’".chars() {
            assert!(!is_invisible(character), "{character:?}");
        }
    }

    #[test]
    fn control_characters_are_invisible() {
        for character in (0..=u32::from(char::MAX)).filter_map(char::from_u32).filter(|c| controls(*c)) {
            assert!(is_invisible(character), "{character:?}");
        }
    }

    #[test]
    fn ascii_lookalikes_are_counted() {
        for (character, count) in
            [('с', 1), ('ı', 1), ('／', 1), ('’', 1), ('…', 3), ('“', 2), ('é', 0), ('ж', 0), ('a', 0)]
        {
            assert_eq!(passes_for_ascii(character), count, "{character:?}");
        }
    }
}

//! Texts from servers, made fit to stand in generated code and in front of a model.

/// The text on one line, without control and formatting characters, cut behind the last word that ends
/// within `longest` characters.
///
/// What could end a comment or begin a code block is broken up.
pub(crate) fn clean(text: &str, longest: usize) -> String {
    let mut cleaned = String::new();
    let mut count = 0;
    for word in text.split(|character: char| character.is_whitespace() || is_hidden(character)) {
        let length = word.chars().count();
        if length == 0 {
            continue;
        }
        if count + length > longest {
            if count == 0 {
                cleaned.extend(word.chars().take(longest));
            }
            cleaned.push('…');
            break;
        }
        if !cleaned.is_empty() {
            cleaned.push(' ');
            count += 1;
        }
        cleaned.push_str(word);
        count += length;
    }
    cleaned.replace("*/", "* /").replace("/*", "/ *").replace("```", "'''").replace("~~~", "'''")
}

/// Control characters, and those that change the direction or visibility of what follows
/// (Unicode's `Cc` and `Cf`, and its line and paragraph separators).
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
        )
}

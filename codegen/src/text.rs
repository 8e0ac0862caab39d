//! Cleans texts from servers for generated code and for models.

use printable::is_invisible;

/// The text on one line, without invisible characters, cut after the last word that ends within `longest`
/// characters.
///
/// Sequences that could end a comment or begin a code block are broken up.
pub fn clean(text: &str, longest: usize) -> String {
    let mut cleaned = String::new();
    let mut count = 0;
    for word in text.split(|character: char| character.is_whitespace() || is_invisible(character)) {
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
    harmless(&cleaned)
}

/// The text in lines, each cleaned like [`clean`], with a blank line between paragraphs, cut after the last
/// word that ends within `longest` characters.
pub(crate) fn paragraphs(text: &str, longest: usize) -> Vec<String> {
    /// The deepest indent of a line, in characters. Enough for nested lists.
    const DEEPEST_INDENT: usize = 8;
    let indent = |line: &str| line.chars().take_while(|character| *character == ' ').count();
    let is_blank =
        |line: &str| line.chars().all(|character| character.is_whitespace() || is_invisible(character));
    let common = text.lines().skip(1).filter(|line| !is_blank(line)).map(indent).min().unwrap_or(0);
    let mut lines: Vec<String> = Vec::new();
    let mut left = longest;
    for (index, line) in text.lines().enumerate() {
        if left == 0 {
            break;
        }
        let cleaned = clean(line, left);
        if cleaned.is_empty() {
            if lines.last().is_some_and(|last| !last.is_empty()) {
                lines.push(String::new());
            }
            continue;
        }
        let cut = cleaned.ends_with('…') && !line.trim_end().ends_with('…');
        left = if cut { 0 } else { left.saturating_sub(cleaned.chars().count()) };
        let deeper = if index == 0 { 0 } else { indent(line).saturating_sub(common).min(DEEPEST_INDENT) };
        lines.push(format!("{}{cleaned}", " ".repeat(deeper)));
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Breaks up sequences that could end a comment, begin a code block or imitate the markup of a conversation.
fn harmless(text: &str) -> String {
    const BROKEN: &[(&str, &str)] = &[
        ("*/", "* /"),
        ("/*", "/ *"),
        ("```", "'''"),
        ("~~~", "'''"),
        ("</", "< /"),
        ("<|", "< |"),
        ("|>", "| >"),
    ];
    BROKEN.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_made_harmless() {
        assert_eq!(clean("a\u{202e}b  */ c\n```", 80), "a b * / c '''");
        assert_eq!(clean("</tool> <|end|>", 80), "< /tool> < |end| >");
        assert_eq!(clean("one two three", 8), "one two…");
    }

    #[test]
    fn paragraphs_stay_apart() {
        let text = "First line.\n\n\n    Args:\n        a: */ one\n    Returns:\n\u{7}\n";
        assert_eq!(paragraphs(text, 400), ["First line.", "", "Args:", "    a: * / one", "Returns:"]);
        assert_eq!(paragraphs("one two\nthree four", 12), ["one two", "three…"]);
        assert_eq!(paragraphs("", 12), [""; 0]);
    }
}

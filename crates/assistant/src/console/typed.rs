//! Detects the end of a typed message, which may have several lines.

/// Whether a message is complete. It continues on the next line after a `\` at the end of a line, inside ```, and after
/// an opening bracket at the end of a line. An empty line ends it, except inside ```.
pub(crate) fn is_whole(text: &str) -> bool {
    if is_in_fence(text) {
        return false;
    }
    let last = text.rsplit('\n').next().unwrap_or_default();
    if text.contains('\n') && last.trim().is_empty() {
        return true;
    }
    !last.ends_with('\\') && !is_in_bracket(text)
}

/// The message without the `\` at the ends of lines.
pub(crate) fn message(text: &str) -> String {
    let mut message = String::with_capacity(text.len());
    let mut is_fenced = false;
    for line in text.trim_end().split('\n') {
        if !message.is_empty() {
            message.push('\n');
        }
        is_fenced ^= line.trim_start().starts_with("```");
        let line = if is_fenced { line } else { line.strip_suffix('\\').unwrap_or(line) };
        message.push_str(line);
    }
    message.trim().to_owned()
}

fn is_in_fence(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() % 2 == 1
}

/// Whether an opening bracket at the end of a line is not closed. Unbalanced brackets elsewhere are common in prose.
fn is_in_bracket(text: &str) -> bool {
    let mut open: Vec<(char, bool)> = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        if is_fenced {
            continue;
        }
        let end = line.trim_end().len();
        for (place, character) in line.char_indices() {
            match character {
                '(' | '[' | '{' => open.push((closing(character), place + 1 == end)),
                ')' | ']' | '}' => {
                    if let Some(place) = open.iter().rposition(|(closing, _)| *closing == character) {
                        open.truncate(place);
                    }
                }
                _ => {}
            }
        }
    }
    open.iter().any(|(_, ends_line)| *ends_line)
}

fn closing(character: char) -> char {
    match character {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

#[cfg(test)]
mod tests {
    use super::{is_whole, message};

    #[test]
    fn a_message_continues_after_its_continuation_marks() {
        for whole in [
            "",
            "hi",
            "f(x) {}",
            "a \\\nb",
            "{\n}",
            "(oh",
            "fn x( {\n\n",
            "```\nx\n```",
            "smile :(\n",
            "a ( b",
            "x \\\n```\n{\n```",
        ] {
            assert!(is_whole(whole), "{whole:?}");
        }
        for open in ["a \\", "{", "f(\n  1,", "```rust", "look:\n```\nx\n\n", "[\n{}", "x = [1, {"] {
            assert!(!is_whole(open), "{open:?}");
        }
    }

    #[test]
    fn continuation_marks_are_removed() {
        assert_eq!(message("a \\\nb\n"), "a \nb");
        assert_eq!(message("```\na \\\n```"), "```\na \\\n```");
        assert_eq!(message("{\n  1\n}\n\n"), "{\n  1\n}");
    }
}

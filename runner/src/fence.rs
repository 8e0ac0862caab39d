//! Takes a snippet out of the Markdown that models like to wrap it in, without moving a line.

/// `code` with its Markdown fence, and all prose around the first fenced block, as empty lines.
///
/// Only text that starts with a fence, or that has a fenced block marked as Rust, is treated as Markdown:
/// backticks elsewhere belong to the code.
pub(crate) fn unfence(code: &str) -> String {
    let lines: Vec<&str> = code.split('\n').collect();
    let Some(open) = lines.iter().position(|line| !line.trim().is_empty()) else {
        return code.to_owned();
    };
    let open = match fence(lines[open]) {
        Some(_) => open,
        None => match lines.iter().position(|line| fence(line).is_some_and(is_rust)) {
            Some(open) => open,
            None => return code.to_owned(),
        },
    };
    let close = lines[open + 1..].iter().position(|line| fence(line) == Some(""));
    let close = close.map_or(lines.len(), |offset| open + 1 + offset);
    let keep = |(index, line): (usize, &&str)| {
        if index > open && index < close { (*line).to_owned() } else { String::new() }
    };
    lines.iter().enumerate().map(keep).collect::<Vec<_>>().join("\n")
}

/// What follows the backticks of a fence line.
fn fence(line: &str) -> Option<&str> {
    let line = line.trim();
    let info = line.trim_start_matches(['`', '~']);
    let marks = line.len() - info.len();
    (marks >= 3 && !info.contains('`')).then(|| info.trim())
}

fn is_rust(info: &str) -> bool {
    let language = info.split([',', ' ', '{']).next().unwrap_or("");
    matches!(language, "rust" | "rs" | "Rust")
}

#[cfg(test)]
mod tests {
    use super::unfence;

    #[test]
    fn lines_keep_their_numbers() {
        assert_eq!(unfence("```rust\nlet x = 1;\nx\n```\n"), "\nlet x = 1;\nx\n\n");
        assert_eq!(unfence("Here it is:\n\n```rust\n42\n```\nIt works."), "\n\n\n42\n\n");
        assert_eq!(unfence("```\n42"), "\n42");
    }

    #[test]
    fn code_is_left_alone() {
        for code in ["42", "", "\n\n", "let text = \"\n```\n\";\ntext.len()", "// ```rust is a fence\n1"] {
            assert_eq!(unfence(code), code);
        }
    }
}

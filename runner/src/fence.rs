//! Takes a snippet out of the Markdown that models like to wrap it in, without moving a line.

use proc_macro2::LineColumn;

use crate::snippet::SyntaxError;

/// `code` with its Markdown fence, and all prose around the fenced block, as empty lines; `None` where nothing is fenced.
///
/// A first line that is a fence, or a fence marked as Rust, makes it Markdown.
pub(crate) fn unfence(code: &str) -> Result<Option<String>, SyntaxError> {
    let lines: Vec<&str> = code.split('\n').collect();
    let first = lines.iter().position(|line| !line.trim().is_empty());
    let at_once = first.filter(|first| fence(lines[*first]).is_some());
    let is_rust_fence = |line: &&str| fence(line).is_some_and(is_rust);
    let Some(open) = at_once.or_else(|| lines.iter().position(is_rust_fence)) else {
        return Ok(None);
    };
    let close = lines[open + 1..].iter().position(|line| fence(line) == Some(""));
    let close = close.map_or(lines.len(), |offset| open + 1 + offset);
    let rest = lines.get(close + 1..).unwrap_or_default();
    if let Some(second) = rest.iter().position(is_rust_fence) {
        let message = "a second block of code: put the whole program into one";
        return Err(SyntaxError::at(message, LineColumn { line: close + 2 + second, column: 0 }));
    }
    let keep = |(index, line): (usize, &&str)| {
        if index > open && index < close { (*line).to_owned() } else { String::new() }
    };
    Ok(Some(lines.iter().enumerate().map(keep).collect::<Vec<_>>().join("\n")))
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
        for (code, text) in [
            ("```rust\nlet x = 1;\nx\n```\n", "\nlet x = 1;\nx\n\n"),
            ("Here it is:\n\n```rust\n42\n```\nIt works.", "\n\n\n42\n\n"),
            ("```\n42", "\n42"),
        ] {
            assert_eq!(unfence(code).unwrap().as_deref(), Some(text));
        }
    }

    #[test]
    fn what_has_no_fence_is_no_markdown() {
        for code in ["42", "", "\n\n", "a `b` c", "text\n```python\n1\n```"] {
            assert_eq!(unfence(code).unwrap(), None, "{code}");
        }
    }

    #[test]
    fn of_two_blocks_none_is_chosen() {
        let error = unfence("```rust\n1\n```\nand\n```rust\n2\n```").unwrap_err();
        assert_eq!((error.line, error.column), (5, 1));
    }
}

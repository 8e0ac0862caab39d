//! Extracts a snippet from the Markdown that models often put around it, keeping all line numbers.

use std::ops::Range;

use proc_macro2::LineColumn;

use crate::balance;
use crate::syntax_depth;
use crate::syntax_error::SyntaxError;

/// A line that opens or closes a code block.
#[derive(Debug, Clone, Copy)]
struct Fence<'a> {
    /// Its line, from 0.
    line: usize,
    mark: char,
    marks: usize,
    /// The text after the marks: the language of a block, or nothing.
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn read(line: usize, text: &'a str) -> Option<Self> {
        let text = text.trim();
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let marks = text.len() - info.len();
        (marks >= 3 && !info.contains('`')).then(|| Fence { line, mark, marks, info: info.trim() })
    }

    fn closes(&self, opening: &Fence<'_>) -> bool {
        self.info.is_empty() && self.mark == opening.mark && self.marks >= opening.marks
    }

    fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError::at(message, LineColumn { line: self.line + 1, column: 0 })
    }

    /// The language that the block is marked with, unless it is Rust.
    fn foreign(&self) -> Option<&'a str> {
        let language = self.info.split([',', ' ', '{']).next().unwrap_or("");
        let is_rust =
            language.is_empty() || ["rust", "rs"].iter().any(|own| language.eq_ignore_ascii_case(own));
        (!is_rust).then_some(language)
    }
}

/// Replaces the fence around `code`, and all prose outside the block, with empty lines; `None` if there is no fence.
/// For code that does not parse as Rust.
///
/// Fences in literals and comments do not count: the contents of a string are not a program.
pub(crate) fn unfence(code: &str) -> Result<Option<String>, SyntaxError> {
    let lines: Vec<&str> = code.split('\n').collect();
    let fences: Vec<Fence<'_>> =
        lines.iter().enumerate().filter_map(|(line, text)| Fence::read(line, text)).collect();
    let Some(open) = fences.first() else { return Ok(None) };
    if is_inside(&balance::lines_inside(code), open.line) {
        return Ok(None);
    }
    let inside = balance::lines_inside(&lines[open.line + 1..].join("\n"));
    let close = fences[1..]
        .iter()
        .find(|fence| fence.closes(open) && !is_inside(&inside, fence.line - open.line - 1))
        .map_or(lines.len(), |fence| fence.line);
    if let Some(second) = fences.iter().find(|fence| fence.line > close) {
        let message = "a second block of code: put the whole program into one block, and send only that";
        return Err(second.error(message));
    }
    if let Some(language) = open.foreign() {
        let message = format!(
            "this block is {language:?}, and a snippet is Rust: write the program in a block marked `rust`"
        );
        return Err(open.error(message));
    }
    if lines[open.line + 1..close].iter().all(|line| line.trim().is_empty()) {
        return Err(
            open.error("this fence opens an empty block: remove it, or put the program into the block")
        );
    }
    let rest = lines.get(close + 1..).unwrap_or_default();
    if is_program(&lines[..open.line].join("\n")) || is_program(&rest.join("\n")) {
        let message = "there is code outside of this block: put the whole program into it";
        return Err(open.error(message));
    }
    let keep = |(index, line): (usize, &&str)| {
        if index > open.line && index < close { (*line).to_owned() } else { String::new() }
    };
    Ok(Some(lines.iter().enumerate().map(keep).collect::<Vec<_>>().join("\n")))
}

/// The contents of the first fenced block, or the whole text.
pub(crate) fn within(code: &str) -> String {
    let mut fences = code.split('\n').enumerate().filter_map(|(line, text)| Fence::read(line, text));
    let Some(open) = fences.next() else { return code.to_owned() };
    let close = fences.find(|fence| fence.closes(&open)).map_or(usize::MAX, |fence| fence.line);
    let lines = code.split('\n').enumerate().filter(|(line, _)| (open.line + 1..close).contains(line));
    lines.map(|(_, text)| text).collect::<Vec<_>>().join("\n")
}

/// Whether `line`, from 0, is in one of the ranges `inside`, which are from 1 and in order.
fn is_inside(inside: &[Range<usize>], line: usize) -> bool {
    let next = inside.partition_point(|lines| lines.end <= line + 1);
    inside.get(next).is_some_and(|lines| lines.contains(&(line + 1)))
}

/// Whether text outside a block is code: prose, or a single word, is not.
fn is_program(text: &str) -> bool {
    let Ok(tokens) = syntax_depth::tokens(text) else { return false };
    let Ok(statements) = syn::parse::Parser::parse2(syn::Block::parse_within, tokens) else { return false };
    let is_word = |statement: &syn::Stmt| {
        matches!(statement, syn::Stmt::Expr(syn::Expr::Path(_) | syn::Expr::Lit(_), None))
    };
    statements.iter().any(|statement| !is_word(statement))
}

/// Advice about fences in a text that is parsed as Rust.
pub(crate) fn hint(code: &str) -> Option<String> {
    let fence = code.split('\n').enumerate().find_map(|(line, text)| Fence::read(line, text))?;
    is_inside(&balance::lines_inside(code), fence.line).then_some(())?;
    Some(format!(
        "the text is read as Rust: the fence in line {} is in a string or a comment. Send the program alone, without \
         Markdown",
        fence.line + 1
    ))
}

#[cfg(test)]
mod tests {
    use super::unfence;

    #[test]
    fn line_numbers_are_kept() {
        for (code, text) in [
            ("```rust\nlet x = 1;\nx\n```\n", "\nlet x = 1;\nx\n\n"),
            ("Here it is:\n\n```rust\n42\n```\nIt works.", "\n\n\n42\n\n"),
            ("```\n42", "\n42"),
            ("Here's one:\n~~~\n42\n~~~", "\n\n42\n"),
            ("````\nlet s = \"\n```\n\";\n````", "\nlet s = \"\n```\n\";\n"),
            ("```rs\nlet s = \"\n```\n\";\ns\n```", "\nlet s = \"\n```\n\";\ns\n"),
        ] {
            assert_eq!(unfence(code).unwrap().as_deref(), Some(text), "{code}");
        }
    }

    #[test]
    fn text_without_a_fence_is_not_markdown() {
        for code in
            ["42", "", "\n\n", "a `b` c", "let s = \"\n```rust\n1\n```\n\"; )", "/*\n```\n1\n```\n*/ )"]
        {
            assert_eq!(unfence(code).unwrap(), None, "{code}");
        }
    }

    #[test]
    fn two_blocks_are_refused() {
        for (code, line) in [
            ("```rust\n1\n```\nand\n```rust\n2\n```", 5),
            ("```\n1\n```\nand\n```\n2\n```", 5),
            ("Run:\n```sh\nls\n```\n```rust\n2\n```", 5),
            ("```rust\n1\n```\n```json\n{}\n```", 4),
            ("text\n```python\n1\n```", 2),
            ("let a = 1;\n```rust\na\n```", 2),
            ("1\n```", 2),
        ] {
            let error = unfence(code).unwrap_err();
            assert_eq!((error.line, error.column), (line, 1), "{code}");
        }
    }
}

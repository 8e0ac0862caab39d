//! Limits the part of a tool's result that a model reads: its head and its tail.

use crate::message::{Block, ToolResult};

/// Approximate number of characters per token.
pub const CHARACTERS_PER_TOKEN: usize = 4;

/// Cuts the texts of a result to `characters` in total, with a note about what is left out.
pub fn cut(result: &mut ToolResult, characters: usize) {
    let mut left = characters;
    for block in &mut result.blocks {
        if let Block::Text { text } = block {
            let count = text.chars().count();
            if count > left {
                *text = head_and_tail(text, count, left);
            }
            left = left.saturating_sub(count);
        }
    }
}

/// The head and the tail of a text with `count` characters, `keep` of them, with a note about the rest.
pub(crate) fn head_and_tail(text: &str, count: usize, keep: usize) -> String {
    let (head, tail) = (keep - keep / 3, keep / 3);
    let at = |index: usize| text.char_indices().nth(index).map_or(text.len(), |(at, _)| at);
    let (start, end) = (&text[..at(head)], &text[at(count - tail)..]);
    format!("{start}\n[… {} characters are left out here …]\n{end}", count - head - tail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::ToolCall;

    fn result(texts: &[&str]) -> ToolResult {
        let call = ToolCall {
            id: "1".to_owned(),
            name: "t".to_owned(),
            arguments: serde_json::Value::Null,
            signatures: Vec::new(),
        };
        let blocks = texts.iter().map(|text| Block::text(*text)).collect();
        ToolResult { blocks, ..ToolResult::of(&call, "", false) }
    }

    #[test]
    fn short_results_are_unchanged() {
        let mut short = result(&["abc", "def"]);
        cut(&mut short, 6);
        assert_eq!(short, result(&["abc", "def"]));
    }

    #[test]
    fn long_results_keep_head_and_tail_in_whole_characters() {
        let mut long = result(&["ääääääxöööö"]);
        cut(&mut long, 9);
        assert_eq!(long.texts(), "ääääää\n[… 2 characters are left out here …]\nööö");
    }

    #[test]
    fn all_parts_share_the_budget() {
        let mut long = result(&["abcdef", "ghi"]);
        cut(&mut long, 6);
        assert_eq!(long.texts(), "abcdef\n\n[… 3 characters are left out here …]\n");
    }
}

//! Renders the Markdown of answers for a terminal while it arrives: each block as soon as it is complete.

mod renderer;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};

use super::style::Style;
use renderer::{Renderer, options};

/// Maximum size of an incomplete block, in bytes (64 KiB); a longer one is rendered in parts.
const BLOCK: usize = 64 << 10;

/// Maximum length of a line, in columns: longer lines are hard to read.
const WIDTH: usize = 100;

/// The Markdown of a message so far.
#[derive(Default)]
pub(super) struct MarkdownStream {
    style: Style,
    /// The text that is not rendered yet.
    pending: String,
    /// Whether a block was rendered before, and the next one does not continue it.
    needs_gap: bool,
    /// The next number of the ordered list that continues.
    number: Option<u64>,
}

impl MarkdownStream {
    pub(super) fn new(style: Style) -> Self {
        MarkdownStream { style, ..MarkdownStream::default() }
    }

    /// Adds text; returns the lines of the blocks that it completes.
    pub(super) fn push(&mut self, text: &str, columns: usize) -> Option<String> {
        self.pending.push_str(text);
        if !text.contains('\n') && self.pending.len() < BLOCK {
            return None;
        }
        let complete = if self.pending.len() < BLOCK {
            complete(&self.pending)
        } else {
            Complete { end: self.pending.len(), ..Complete::default() }
        };
        let rest = self.pending.split_off(complete.end);
        let done = std::mem::replace(&mut self.pending, format!("{}{rest}", complete.reopened));
        self.render(&done, columns, complete.continues)
    }

    /// Ends the message; returns the lines of its last block.
    pub(super) fn finish(&mut self, columns: usize) -> Option<String> {
        let done = std::mem::take(&mut self.pending);
        let lines = self.render(&done, columns, false);
        self.needs_gap = false;
        lines
    }

    /// The text that is not rendered yet.
    pub(super) fn pending(&self) -> &str {
        &self.pending
    }

    fn render(&mut self, text: &str, columns: usize, continues: bool) -> Option<String> {
        if text.is_empty() {
            return None;
        }
        let number = self.number.take();
        let mut renderer = Renderer::new(self.style, columns.min(WIDTH), number);
        renderer.render(text);
        self.number = renderer.number.filter(|_| continues);
        let mut lines = renderer.lines;
        if lines.is_empty() {
            // The end of a code block whose lines are shown.
            self.needs_gap |= !continues && !text.trim().is_empty();
            return None;
        }
        if std::mem::replace(&mut self.needs_gap, !continues) {
            lines.insert(0, String::new());
        }
        Some(lines.join("\n"))
    }
}

/// The part of a text whose rendering does not depend on what follows.
#[derive(Debug, Default, PartialEq, Eq)]
struct Complete {
    end: usize,
    /// The beginning of the block that continues after this part.
    reopened: String,
    /// Whether the last block continues.
    continues: bool,
}

/// A block at the top level.
struct Block {
    start: usize,
    end: usize,
    kind: BlockKind,
}

enum BlockKind {
    List {
        last_item: usize,
    },
    Fence,
    /// Ends with its line.
    Line,
    /// Ends with an empty line.
    Other,
}

fn complete(text: &str) -> Complete {
    // The last line may continue.
    let lines = text.rfind('\n').map_or("", |end| &text[..=end]);
    let up_to = |end: usize| Complete { end, ..Complete::default() };
    let Some(Block { start, end, kind }) = last_block(lines) else { return up_to(lines.len()) };
    match kind {
        BlockKind::List { last_item } if last_item > start => {
            Complete { continues: true, ..up_to(last_item) }
        }
        BlockKind::Fence if !is_closed(&lines[start..end]) => {
            let opening = lines[start..end].split_inclusive('\n').next().unwrap_or_default().to_owned();
            // Only the opening fence is there.
            let is_begun = start + opening.len() < lines.len();
            match is_begun {
                true => Complete { end: lines.len(), reopened: opening, continues: true },
                false => up_to(start),
            }
        }
        BlockKind::Line | BlockKind::Fence => up_to(end),
        BlockKind::Other if lines.ends_with("\n\n") => up_to(lines.len()),
        BlockKind::List { .. } | BlockKind::Other => up_to(start),
    }
}

fn last_block(text: &str) -> Option<Block> {
    let (mut depth, mut last) = (0_usize, None);
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    let kind = match tag {
                        Tag::List(_) => BlockKind::List { last_item: range.start },
                        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => BlockKind::Fence,
                        Tag::Heading { .. } => BlockKind::Line,
                        _ => BlockKind::Other,
                    };
                    last = Some(Block { start: range.start, end: range.end, kind });
                } else if let (1, Tag::Item, Some(Block { kind: BlockKind::List { last_item }, .. })) =
                    (depth, tag, last.as_mut())
                {
                    *last_item = range.start;
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            Event::Rule if depth == 0 => {
                last = Some(Block { start: range.start, end: range.end, kind: BlockKind::Line });
            }
            _ => {}
        }
    }
    last
}

/// Whether a fenced code block has its closing fence.
fn is_closed(block: &str) -> bool {
    let mut lines = block.trim_end().lines();
    let fence = |line: &str| {
        let line = line.trim();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        Some((mark, line.chars().take_while(|character| *character == mark).count()))
    };
    let opening = lines.next().and_then(fence);
    let closing = lines.next_back().filter(|line| line.trim().chars().all(|c| matches!(c, '`' | '~')));
    match (opening, closing.and_then(fence)) {
        (Some((mark, length)), Some((other, closing))) => mark == other && closing >= length,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANSWER: &str = "# Orders\n\nThere are **two** orders, see `list_orders` and\n[the page](https://shop.example/o).\n\n\
        - first: *open*\n- second\n  with more text\n  1. inner\n  2. other\n\n> a quotation\n\n\
        | id | total |\n|---|---:|\n| o-1 | 12 |\n| o-200 | 7 |\n\n\
        ```rust\nlet x = 1;\n\nx\n```\n---\nThe end.";

    fn render(text: &str, style: Style, width: usize) -> Vec<String> {
        let mut renderer = Renderer::new(style, width, None);
        renderer.render(text);
        renderer.lines
    }

    fn streamed(text: &str, step: usize) -> String {
        let mut stream = MarkdownStream::new(Style(false));
        let characters: Vec<char> = text.chars().collect();
        let mut lines = Vec::new();
        for part in characters.chunks(step) {
            lines.extend(stream.push(&part.iter().collect::<String>(), 60));
        }
        lines.extend(stream.finish(60));
        lines.join("\n")
    }

    #[test]
    fn an_answer_is_rendered() {
        insta::assert_snapshot!(streamed(ANSWER, 1));
    }

    #[test]
    fn styles_replace_the_marks() {
        let painted = render("a **b** `c` [d](e)", Style(true), 60).join("\n");
        assert_eq!(painted, "a \x1b[1mb\x1b[22m \x1b[36mc\x1b[39m d \x1b[2m(e)\x1b[22m");
    }

    #[test]
    fn lines_are_broken_between_words() {
        let lines = render("- one two three four five", Style(false), 14);
        assert_eq!(lines, ["• one two", "  three four", "  five"]);
        assert_eq!(render("a-very-long-word b", Style(false), 5), ["a-very-long-word", "b"]);
        assert_eq!(render("one  \ntwo", Style(false), 60), ["one", "two"]);
    }

    #[test]
    fn complete_blocks_are_rendered_before_the_message_ends() {
        let mut stream = MarkdownStream::new(Style(false));
        assert_eq!(stream.push("One.\n", 60), None);
        assert_eq!(stream.push("\nTwo", 60).as_deref(), Some("One."));
        assert_eq!(stream.pending(), "Two");
        assert_eq!(stream.push("\n\n- a\n- b", 60).as_deref(), Some("\nTwo"));
        assert_eq!(stream.push("\n- c", 60).as_deref(), Some("\n• a"));
        assert_eq!(stream.push("\n\n```\nx\ny", 60).as_deref(), Some("• b\n• c\n\n    x"));
        assert_eq!(stream.push("\n```\n", 60).as_deref(), Some("    y"));
        assert_eq!(stream.push("End.\n\n", 60).as_deref(), Some("\nEnd."));
        assert_eq!(stream.finish(60), None);
    }

    #[test]
    fn deep_quotations_and_lists_take_little_space() {
        for begin in [">".repeat(12_000), "- ".repeat(6_000), "> 1. ".repeat(3_000)] {
            let text = format!("{begin} {}", "a ".repeat(12_000));
            let lines = render(&text, Style(true), 60);
            assert!(lines.iter().map(String::len).sum::<usize>() < 20 * text.len());
        }
        assert_eq!(render("> > > aa b", Style(false), 8), ["│ │ aa", "│ │ b"]);
    }

    #[test]
    fn a_table_that_is_too_wide_is_a_line_for_each_cell() {
        let text = "| id | what it is |\n|---|---|\n| o-1 | a *long* text of an order |\n| o-2 | |\n";
        assert_eq!(
            render(text, Style(false), 30),
            ["id: o-1", "what it is: a *long* text of", "an order", "", "id: o-2"]
        );
        assert_eq!(render("| one two | three |\n|---|---|\n", Style(false), 12), ["one two", "three"]);
        for (header, row) in [(format!("|{}|", "h".repeat(30_000)), "|a|"), ("|a".repeat(300), "|b|")] {
            let rules = "|-".repeat(header.matches('|').count().saturating_sub(1).max(1));
            let text =
                format!("{header}|\n{rules}|\n{}", format!("{row}\n").repeat(7_000)).replace("||", "|");
            let bytes: usize = render(&text, Style(false), 60).iter().map(String::len).sum();
            assert!(bytes < 20 * text.len(), "{bytes} of {}", text.len());
        }
    }

    #[test]
    fn a_list_that_arrives_in_parts_counts_on() {
        assert_eq!(
            streamed("1. a\n1. b\n1. c\n   1. d\n1. e\n\nx\n\n1. f", 1),
            "1. a\n2. b\n3. c\n   1. d\n4. e\n\nx\n\n1. f"
        );
    }

    #[test]
    fn code_and_link_definitions_are_whole() {
        assert_eq!(render("a `b  c` d", Style(false), 60), ["a `b  c` d"]);
        assert_eq!(
            streamed("see [the page][1].\n\n[1]: https://shop.example/o\n\nEnd.", 1),
            "see [the page][1].\n\n[1]: https://shop.example/o\n\nEnd."
        );
    }

    #[test]
    fn a_terminal_is_not_controlled() {
        let shown = streamed("a&#27;[2J \u{1b}[31m\n\n```\n\u{1b}]0;x\u{7}\n```\n", 3);
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }

    proptest! {
        #[test]
        fn every_word_of_plain_text_is_shown(text in "([a-z]{1,9}[ \\n]{1,3}){0,30}", step in 1_usize..9) {
            let shown = streamed(&text, step);
            let words: Vec<&str> = shown.split_whitespace().collect();
            prop_assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
        }

        #[test]
        fn no_text_is_too_odd(text in "[-a-z0-9 \\n>*_`#|.:\\[\\]()~]{0,200}", step in 1_usize..20) {
            streamed(&text, step);
        }
    }
}

//! Renders the Markdown of answers for a terminal while it arrives: each block as soon as it is complete.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr as _;

use super::highlight;
use super::style::{Style, TextStyle};
use crate::commands::mcp::short;

/// Maximum size of an incomplete block, in bytes (64 KiB); a longer one is rendered in parts.
const BLOCK: usize = 64 << 10;

/// Maximum length of a line, in columns: longer lines are hard to read.
const WIDTH: usize = 100;

/// Length of a thematic break, in columns.
const RULE: usize = 20;

/// Maximum length of a column's name before a cell of a table that is too wide, in characters.
const COLUMN_NAME: usize = 30;

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
        let mut renderer =
            Renderer { style: self.style, width: columns.min(WIDTH), number, ..Renderer::default() };
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

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// A piece of text of one style.
#[derive(Debug, Clone)]
struct Span {
    text: String,
    looks: Vec<TextStyle>,
    /// Whether it is one word with its spaces.
    is_code: bool,
}

/// The place of a list item or a quotation: the mark of its first line, and the beginning of the others.
#[derive(Debug, Clone)]
struct Indent {
    mark: Option<String>,
    rest: String,
    /// The column at which its text begins.
    column: usize,
}

#[derive(Debug, Default)]
struct Renderer {
    style: Style,
    width: usize,
    lines: Vec<String>,
    indents: Vec<Indent>,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The next number of the list at the top level that this text continues or ends with.
    number: Option<u64>,
    spans: Vec<Span>,
    looks: Vec<TextStyle>,
    links: Vec<String>,
    /// The language and text of the open code block.
    code: Option<(String, String)>,
    /// The rows of the open table.
    table: Option<Vec<Vec<Vec<Span>>>>,
}

impl Renderer {
    fn render(&mut self, text: &str) {
        let parser = Parser::new_ext(text, options());
        let definitions = parser.reference_definitions().iter();
        let mut definitions: Vec<(usize, String)> = definitions
            .map(|(label, definition)| (definition.span.start, format!("[{label}]: {}", definition.dest)))
            .collect();
        definitions.sort();
        parser.for_each(|event| self.event(event));
        if !definitions.is_empty() {
            // The links to them may be shown already.
            self.gap();
            definitions.iter().for_each(|(_, line)| self.line(&printable::lines(line)));
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => self.code_span(&text),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.text("\n"),
            Event::Rule => {
                self.gap();
                let rule = self.style.paint(TextStyle::Dim, &"─".repeat(RULE.min(self.width)));
                self.line(&rule);
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        let continued = if self.lists.is_empty() { self.number.take() } else { None };
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.gap(),
            Tag::Heading { level, .. } => {
                self.gap();
                self.begin_mark(&format!("{} ", "#".repeat(depth(level))), TextStyle::Bold);
            }
            Tag::BlockQuote(_) => {
                self.gap();
                let bar = self.style.paint(TextStyle::Dim, "│ ");
                self.indent(None, bar);
            }
            Tag::CodeBlock(kind) => {
                self.paragraph();
                self.gap();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(start) => {
                // The text of the item that contains it.
                self.paragraph();
                self.gap();
                self.lists.push(start.map(|start| continued.unwrap_or(start)));
            }
            Tag::Item => {
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        let mark = format!("{number}. ");
                        *number = number.saturating_add(1);
                        mark
                    }
                    _ => "• ".to_owned(),
                };
                let rest = " ".repeat(mark.width());
                self.indent(Some(mark), rest);
            }
            Tag::Emphasis => self.begin_mark("*", TextStyle::Italic),
            Tag::Strong => self.begin_mark("**", TextStyle::Bold),
            Tag::Strikethrough => self.begin_mark("~~", TextStyle::Dim),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push(dest_url.into_string());
            }
            Tag::Table(_) => {
                self.gap();
                self.table = Some(Vec::new());
            }
            Tag::TableHead | Tag::TableRow => {
                self.table.iter_mut().for_each(|rows| rows.push(Vec::new()));
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.paragraph(),
            TagEnd::Heading(_) => {
                self.looks.pop();
                self.paragraph();
            }
            TagEnd::BlockQuote(_) => drop(self.indents.pop()),
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => {
                let number = self.lists.pop().flatten();
                self.number = number.filter(|_| self.lists.is_empty());
            }
            TagEnd::Item => {
                self.paragraph();
                if self.indents.last().is_some_and(|indent| indent.mark.is_some()) {
                    // An empty item.
                    self.line("");
                }
                self.indents.pop();
            }
            TagEnd::Emphasis => self.end_mark("*"),
            TagEnd::Strong => self.end_mark("**"),
            TagEnd::Strikethrough => self.end_mark("~~"),
            TagEnd::Link | TagEnd::Image => self.link(),
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    /// Adds text, which may have been written to control a terminal.
    fn text(&mut self, text: &str) {
        let text = printable::lines(text);
        self.spans.push(Span { text, looks: self.looks.clone(), is_code: false });
    }

    /// Adds code, whose spaces have a meaning.
    fn code_span(&mut self, code: &str) {
        self.begin_mark("`", TextStyle::Cyan);
        let text = printable::lines(code);
        self.spans.push(Span { text, looks: self.looks.clone(), is_code: true });
        self.end_mark("`");
    }

    /// Indents the following lines, unless they would begin in the right half.
    fn indent(&mut self, mark: Option<String>, rest: String) {
        let before = self.column();
        let column = before + plain_width(&rest);
        let indent = match column <= self.width / 2 {
            true => Indent { mark, rest, column },
            false => Indent { mark, rest: String::new(), column: before },
        };
        self.indents.push(indent);
    }

    /// The column at which text begins.
    fn column(&self) -> usize {
        self.indents.last().map_or(0, |indent| indent.column)
    }

    /// The columns of a line's text; the last one stays free.
    fn room(&self) -> usize {
        self.width.saturating_sub(self.column() + 1).max(1)
    }

    fn begin_mark(&mut self, mark: &str, look: TextStyle) {
        if !self.style.0 {
            self.text(mark);
        }
        self.looks.push(look);
    }

    fn end_mark(&mut self, mark: &str) {
        self.looks.pop();
        if !self.style.0 {
            self.text(mark);
        }
    }

    /// The address of a link, after its text.
    fn link(&mut self) {
        let Some(address) = self.links.pop().filter(|address| !address.is_empty()) else { return };
        if self.spans.last().is_none_or(|span| span.text != address) {
            self.looks.push(TextStyle::Dim);
            self.text(&format!(" ({address})"));
            self.looks.pop();
        }
    }

    /// An empty line between two blocks.
    fn gap(&mut self) {
        if self.indents.is_empty() && !self.lines.is_empty() {
            self.lines.push(String::new());
        }
    }

    /// Adds a line after the marks of its place.
    fn line(&mut self, line: &str) {
        let mut text = String::new();
        for indent in &mut self.indents {
            text.push_str(&indent.mark.take().map_or(Cow::Borrowed(indent.rest.as_str()), Cow::Owned));
        }
        text.push_str(line);
        self.lines.push(text.trim_end().to_owned());
    }

    /// Writes the text so far as lines that are broken between words.
    fn paragraph(&mut self) {
        let spans = std::mem::take(&mut self.spans);
        let lines = wrapped(&spans, self.style, self.room());
        lines.iter().for_each(|line| self.line(line));
    }

    fn code_block(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        if code.is_empty() {
            return;
        }
        let code = printable::lines(&code);
        let is_rust = matches!(language.split([',', ' ']).next(), Some("rust" | "rs"));
        let shown = if is_rust { highlight::rust(&code, self.style) } else { code };
        shown.trim_end_matches('\n').split('\n').for_each(|line| self.line(&format!("    {line}")));
    }

    fn table(&mut self) {
        let Some(rows) = self.table.take() else { return };
        let cell = |spans: &Vec<Span>| wrapped(spans, self.style, usize::MAX).join(" ");
        let cells: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(cell).collect()).collect();
        let columns = cells.iter().map(Vec::len).max().unwrap_or_default();
        let mut widths = vec![0; columns];
        for row in &cells {
            row.iter().zip(&mut widths).for_each(|(cell, width)| *width = plain_width(cell).max(*width));
        }
        if widths.iter().map(|width| width + " │ ".width()).sum::<usize>() > self.room() {
            return self.wide_table(rows);
        }
        let rows = cells;
        for (place, row) in rows.iter().enumerate() {
            let cells = row.iter().zip(&widths).map(|(cell, width)| {
                let cell_width = plain_width(cell);
                format!("{cell}{}", " ".repeat(width.saturating_sub(cell_width)))
            });
            self.line(&cells.collect::<Vec<_>>().join(" │ "));
            if place == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                self.line(&rules.join("─┼─"));
            }
        }
    }

    /// Writes each cell of a table as a line with the column's name; only the names if there are no other rows.
    fn wide_table(&mut self, rows: Vec<Vec<Vec<Span>>>) {
        let mut rows = rows.into_iter();
        let header = rows.next().unwrap_or_default();
        if rows.len() == 0 {
            for cell in header {
                self.spans = cell;
                self.paragraph();
            }
            return;
        }
        let names: Vec<Span> = header.iter().map(|cell| column_name(cell)).collect();
        for (place, row) in rows.enumerate() {
            if place > 0 {
                self.line("");
            }
            for (name, cell) in names.iter().zip(row).filter(|(_, cell)| !cell.is_empty()) {
                self.spans = [name.clone()].into_iter().chain(cell).collect();
                self.paragraph();
            }
        }
    }
}

/// The column's name before a cell of a wide table.
fn column_name(header: &[Span]) -> Span {
    let text: String = header.iter().map(|span| span.text.as_str()).collect();
    let text = format!("{}: ", short(text.trim(), COLUMN_NAME));
    Span { text, looks: vec![TextStyle::Bold], is_code: false }
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}

/// The columns of a text without its styles.
fn plain_width(text: &str) -> usize {
    let mut width = 0;
    for (place, part) in text.split("\x1b[").enumerate() {
        let plain = if place == 0 { part } else { part.split_once('m').map_or("", |(_, plain)| plain) };
        width += plain.width();
    }
    width
}

/// Breaks text into lines of at most `width` columns, between words.
fn wrapped(spans: &[Span], style: Style, width: usize) -> Vec<String> {
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), 0);
    let (mut word, mut word_width) = (String::new(), 0);
    let mut end_word = |word: &mut String, word_width: &mut usize, breaks: bool, lines: &mut Vec<String>| {
        if !word.is_empty() {
            if used > 0 && used + 1 + *word_width > width {
                lines.push(std::mem::take(&mut line));
                used = 0;
            } else if used > 0 {
                line.push(' ');
                used += 1;
            }
            line.push_str(&std::mem::take(word));
            used += std::mem::take(word_width);
        }
        if breaks && used > 0 {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
    };
    for span in spans {
        let pieces: Vec<&str> = match span.is_code {
            true => vec![&span.text],
            false => span.text.split_inclusive(char::is_whitespace).collect(),
        };
        for piece in pieces {
            let text = if span.is_code { piece } else { piece.trim_end() };
            word.push_str(&span.looks.iter().fold(text.to_owned(), |text, look| style.paint(*look, &text)));
            word_width += text.width();
            if text.len() < piece.len() {
                end_word(&mut word, &mut word_width, piece.ends_with('\n'), &mut lines);
            }
        }
    }
    end_word(&mut word, &mut word_width, true, &mut lines);
    lines
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
        let mut renderer = Renderer { style, width, ..Renderer::default() };
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

//! Turns Markdown into lines of a terminal.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use terminal::table::short;
use unicode_width::UnicodeWidthStr as _;

use crate::console::highlight;
use crate::console::style::{Style, TextStyle};

/// Length of a thematic break, in columns.
const RULE: usize = 20;

/// Maximum length of a column's name before a cell of a table that is too wide, in characters.
const COLUMN_NAME: usize = 30;

/// The extensions of Markdown that are read.
pub(super) fn options() -> Options {
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

/// The rendering of one text: its settings, its lines so far, and what is open.
#[derive(Debug, Default)]
pub(super) struct Renderer {
    style: Style,
    /// The length of a line, in columns.
    width: usize,
    pub(super) lines: Vec<String>,
    indents: Vec<Indent>,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The next number of the list at the top level that this text continues or ends with.
    pub(super) number: Option<u64>,
    spans: Vec<Span>,
    looks: Vec<TextStyle>,
    links: Vec<String>,
    /// The language and text of the open code block.
    code: Option<(String, String)>,
    /// The rows of the open table.
    table: Option<Vec<Vec<Vec<Span>>>>,
}

impl Renderer {
    /// Renders text in lines of at most `width` columns. A list that continues begins with `number`.
    pub(super) fn new(style: Style, width: usize, number: Option<u64>) -> Self {
        Renderer { style, width, number, ..Renderer::default() }
    }

    pub(super) fn render(&mut self, text: &str) {
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

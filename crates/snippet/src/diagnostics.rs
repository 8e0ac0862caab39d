//! Converts the compiler's messages to the snippet's own lines and columns, short enough for a model.

mod left;
mod program;
mod syntax;
mod unused;

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use bridge::Origin;
use bridge::wire::{UNMADE_KEPT, UnmadeReport, Warning};
use serde::{Deserialize, Serialize};

use crate::catalog::Catalog;
use crate::hints::compared;
use crate::hints::lookup::Found;
use crate::hints::unmade::Dropped;
use crate::hints::{self, Hints};
use crate::messages::{Message, Source, Span, errors};
use crate::splice::Spliced;
use crate::syntax_error::count;

pub use left::{Uncorrected, left};
pub use syntax::syntax;
pub use unused::{idle, warned};

/// Maximum number of diagnostics to return; the first ones are the causes.
pub const DIAGNOSTICS_KEPT: usize = 8;
/// Maximum number of characters to show of a line.
const EXCERPT: usize = 240;
const CONTEXT: usize = 120;
/// Maximum number of notes and suggestions in a diagnostic.
const CHILDREN_KEPT: usize = 4;

/// The prefix of positions in message texts.
const IN_FILE: &str = "snippet.rs:";

/// A compiler message, in the snippet's own lines and columns. Its fields are part of an outcome: they may be added, but not
/// renamed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// `error` or `warning`.
    pub level: String,
    /// The compiler's code, such as `E0308`.
    pub code: Option<String>,
    /// The message.
    pub message: String,
    /// Line of the snippet, from 1.
    pub line: u32,
    /// Column of the snippet in characters, from 1.
    pub column: u32,
    /// The message with the source lines.
    pub rendered: String,
    /// The remedy.
    pub hint: Option<String>,
}

/// A position in the snippet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    line: u32,
    column: u32,
    width: u32,
}

/// Converts the compiler's messages about `spliced` to diagnostics; `text` is the snippet's.
pub fn read(messages: &str, text: &str, spliced: &Spliced, catalog: &dyn Catalog) -> Vec<Diagnostic> {
    read_corrected(messages, text, text, spliced, catalog)
}

/// The same for a `corrected` text of the snippet.
fn read_corrected(
    messages: &str,
    text: &str,
    corrected: &str,
    spliced: &Spliced,
    catalog: &dyn Catalog,
) -> Vec<Diagnostic> {
    let reader = Reader { lines: text.split('\n').collect(), spliced };
    let mut hints = Hints::new(Source::new(corrected, spliced), catalog);
    let mut diagnostics: Vec<Diagnostic> = Vec::new();
    for mut message in errors(messages) {
        if diagnostics.len() == DIAGNOSTICS_KEPT {
            break;
        }
        let mut diagnostic = reader.diagnostic(&message);
        // An error about the last value is repeated for each use in the wrapper; keep only the first.
        let is_of_wrapper =
            message.spans.iter().all(|span| !reader.is_own(span) && reader.in_program(span).is_none());
        if !(is_of_wrapper
            && diagnostics.iter().any(|other| other.line == diagnostic.line && other.code == diagnostic.code))
        {
            diagnostic.hint = reader.program_hint(&message).or_else(|| hints.hint(&message));
            if let Some(hint) = &diagnostic.hint {
                message.children.retain(|child| !is_said(&child.message, hint));
                diagnostic.rendered = reader.diagnostic(&message).rendered;
            }
            diagnostics.push(diagnostic);
        }
    }
    diagnostics
}

/// Diagnostics of calls that are never made, in a `text` that compiles as spliced.
pub fn unmade(messages: &str, text: &str, spliced: &Spliced, catalog: &dyn Catalog) -> Vec<Diagnostic> {
    let calls = hints::unmade::warned(messages, Source::new(text, spliced), catalog);
    let diagnostic = |call: Dropped<'_>| {
        let message = "this call is never made: nothing awaits it";
        of_call("error", message, text, call.range, call.found)
    };
    calls.into_iter().take(DIAGNOSTICS_KEPT).map(diagnostic).collect()
}

/// The diagnostic for the tool call at `range`.
fn of_call(level: &str, message: &str, text: &str, range: Range<usize>, found: Found<'_>) -> Diagnostic {
    at(level, message.to_owned(), text, range, hints::unmade_call(found))
}

/// The diagnostic for a warning from the running program; `text` is the snippet's.
pub fn from_warning(warning: Warning, text: &str) -> Diagnostic {
    let Warning { message, line, column } = warning;
    let mut rendered = format!("warning: {message}\n");
    let lines: Vec<&str> = text.split('\n').collect();
    // The position comes from the program and may be invalid.
    let place =
        line.zip(column).filter(|(line, column)| *line > 0 && *column > 0 && *line as usize <= lines.len());
    let (line, column) = place.unwrap_or((1, 1));
    if place.is_some() {
        render_place(&mut rendered, &lines, Place { line, column, width: 1 }, "");
    }
    Diagnostic { level: "warning".to_owned(), code: None, message, line, column, rendered, hint: None }
}

/// A warning about a file that a program has created and that other programs obey.
pub fn obeyed(path: &Path) -> Diagnostic {
    let path = path.display();
    let message = format!("the program has created {path}, which other programs obey where they find it");
    Diagnostic {
        level: "warning".to_owned(),
        code: None,
        rendered: format!("warning: {message}\n"),
        message,
        line: 1,
        column: 1,
        hint: Some("look at it before you open its folder with another program".to_owned()),
    }
}

/// Adds a warning about calls that the program reports as built but never made. Existing warnings about such calls are
/// replaced. `text` is the snippet's.
pub fn add_unmade(diagnostics: &mut Vec<Diagnostic>, mut unmade: Vec<UnmadeReport>, text: &str) {
    unmade.truncate(UNMADE_KEPT);
    let Some(first) = unmade.first() else { return };
    let total = unmade.iter().fold(0_u64, |sum, call| sum.saturating_add(call.count));
    let shown = |call: &UnmadeReport| {
        let short = |name: &str| name.chars().take(NAME_SHOWN).collect::<String>();
        let name = format!("{}.{}", short(&call.server), short(&call.tool));
        match (call.line, call.column) {
            (Some(line), Some(column)) => format!("{name} at {line}:{column}"),
            _ => name,
        }
    };
    let places = unmade.iter().map(shown).collect::<Vec<_>>().join(", ");
    let plural = if total == 1 { "call was" } else { "calls were" };
    let message = format!("{total} {plural} built and never awaited: {places}");
    let lines: Vec<&str> = text.split('\n').collect();
    let mut rendered = format!("warning: {message}\n");
    for call in unmade.iter().take(CHILDREN_KEPT) {
        if let (Some(line), Some(column)) = (
            call.line.filter(|line| (*line as usize).checked_sub(1).is_some_and(|index| index < lines.len())),
            call.column,
        ) {
            render_place(&mut rendered, &lines, Place { line, column: column.max(1), width: 1 }, "");
        }
    }
    rendered.push_str("help: a call does nothing until it is awaited: add `.await?`\n");
    let warning = Diagnostic {
        level: "warning".to_owned(),
        code: None,
        line: first.line.unwrap_or(1),
        column: first.column.unwrap_or(1),
        message,
        rendered,
        hint: None,
    };
    let is_useful = |other: &Diagnostic| {
        unmade.iter().any(|call| (call.line, call.column) == (Some(other.line), Some(other.column)))
    };
    diagnostics.retain(|other| !is_useful(other));
    diagnostics.truncate(DIAGNOSTICS_KEPT - 1);
    diagnostics.push(warning);
}

/// Maximum number of characters to show of a server or tool name from a program.
const NAME_SHOWN: usize = 128;

/// Diagnostics of comparisons that are never true; `sources` returns the code of the tools that the text names.
///
/// # Errors
/// The error of `sources`.
pub fn compared<E>(text: &str, sources: impl FnOnce() -> Result<String, E>) -> Result<Vec<Diagnostic>, E> {
    let compared = compared::compared(text, sources)?.into_iter().take(DIAGNOSTICS_KEPT);
    Ok(compared.map(|one| at("error", one.message(), text, one.range.clone(), one.hint())).collect())
}

/// A diagnostic found without the compiler, at a byte range of `text`.
fn at(level: &str, message: String, text: &str, range: Range<usize>, hint: String) -> Diagnostic {
    let lines: Vec<&str> = text.split('\n').collect();
    let before = text.get(..range.start).unwrap_or("");
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    let meant = text.get(range).unwrap_or("").lines().next().unwrap_or("");
    let place = Place {
        line: count(before.matches('\n').count() + 1),
        column: count(column),
        width: count(meant.chars().count()).max(1),
    };
    let mut rendered = format!("{level}: {message}\n");
    render_place(&mut rendered, &lines, place, "");
    if level == "warning" {
        // For a warning, nothing else is shown.
        let _ = writeln!(rendered, "help: {}", hint.lines().next().unwrap_or(""));
    }
    let hint = Some(hint).filter(|_| level != "warning");
    let Place { line, column, .. } = place;
    Diagnostic { level: level.to_owned(), code: None, message, line, column, rendered, hint }
}

/// Messages without a position, from the compiler itself or the linker.
pub fn unplaced(messages: &str) -> String {
    let texts = messages.lines().filter_map(|line| match serde_json::from_str::<Message>(line) {
        Ok(message) if message.spans.is_empty() => Some(message.message),
        Ok(_) => None,
        Err(_) => Some(line.to_owned()),
    });
    texts.collect::<Vec<_>>().join("\n")
}

struct Reader<'a> {
    lines: Vec<&'a str>,
    spliced: &'a Spliced,
}

impl Reader<'_> {
    fn diagnostic(&self, message: &Message) -> Diagnostic {
        let code = message.code.as_ref().map(|code| code.code.clone());
        let mut primary: Vec<&Span> = message.spans.iter().filter(|span| span.is_primary).collect();
        if let Some((program, line)) = primary.first().and_then(|span| self.in_program(span)) {
            return self.in_called(message, program, line);
        }
        // A message without a position (from the linker, for example) is put at the end.
        let first = primary.first().map_or_else(|| self.end(), |span| self.place(span));
        primary.extend(message.spans.iter().filter(|span| !span.is_primary));
        let message_text = self.moved(&message.message);
        let mut rendered = match &code {
            Some(code) => format!("error[{code}]: {message_text}\n"),
            None => format!("error: {message_text}\n"),
        };
        for (index, span) in
            primary.iter().enumerate().filter(|(index, span)| *index == 0 || self.is_own(span))
        {
            let place = if index == 0 { first } else { self.place(span) };
            let label = self.moved(span.label.as_deref().unwrap_or(""));
            render_place(&mut rendered, &self.lines, place, &label);
        }
        for child in message.children.iter().filter(|child| !is_noise(&child.message)).take(CHILDREN_KEPT) {
            self.render_child(&mut rendered, child);
        }
        Diagnostic {
            level: "error".to_owned(),
            code,
            message: message_text,
            line: first.line,
            column: first.column,
            hint: None,
            rendered,
        }
    }

    /// Notes and suggestions, one per line.
    fn render_child(&self, rendered: &mut String, child: &Message) {
        // Writing to a string does not fail.
        let first = child.message.lines().next().unwrap_or("");
        let _ = writeln!(rendered, "{}: {}", child.level, self.moved(first));
        for span in child.spans.iter().filter(|span| self.is_own(span)) {
            if let Some(replacement) = &span.suggested_replacement {
                let Place { line, column, width } = self.place(span);
                let change = match replacement.trim_end() {
                    "" => format!("remove `{}`", self.text(line, column, width)),
                    text => format!("`{text}`"),
                };
                let _ = writeln!(rendered, "  {line}:{column}: {change}");
            }
        }
    }

    /// The span's position in the snippet: for a span in a macro, where the macro is used; for one in the wrapper, the
    /// end of the snippet, where its result is.
    fn place(&self, span: &Span) -> Place {
        let mut span = span;
        while let (false, Some(expansion)) = (span.file_name == "snippet.rs", &span.expansion) {
            span = &expansion.span;
        }
        if !self.is_own(span) {
            return self.end();
        }
        let start = self.column(span.line_start, span.column_start);
        let width = if span.line_end == span.line_start {
            self.column(span.line_end, span.column_end).saturating_sub(start)
        } else {
            let length = self.line(span.line_start).chars().count();
            u32::try_from(length).unwrap_or(0).saturating_sub(start - 1)
        };
        Place { line: span.line_start, column: start, width: width.max(1) }
    }

    /// The snippet's column for a column in the compiled file.
    fn column(&self, line: u32, column: u32) -> u32 {
        Origin::new(self.spliced.offset).edited(&self.spliced.edits).column(line, column).max(1)
    }

    /// Maps columns in `text` to the snippet's, in types named by their positions, such as `{closure@snippet.rs:1:207:
    /// 1:210}`.
    fn moved(&self, text: &str) -> String {
        let mut parts = text.split(IN_FILE);
        let mut moved = parts.next().unwrap_or("").to_owned();
        for mut rest in parts {
            moved.push_str(IN_FILE);
            for separator in ["", ": "] {
                let place = rest.strip_prefix(separator).and_then(leading_place);
                let Some((line, column, after)) = place else { break };
                // Writing to a string does not fail.
                let _ = write!(moved, "{separator}{line}:{}", self.column(line, column));
                rest = after;
            }
            moved.push_str(rest);
        }
        moved
    }

    fn is_own(&self, span: &Span) -> bool {
        let opening = span.line_start == 1 && span.column_start <= self.spliced.offset;
        span.file_name == "snippet.rs" && !opening && span.line_start <= self.spliced.lines
    }

    /// The last non-empty line.
    fn end(&self) -> Place {
        let index = self.lines.iter().rposition(|line| !line.trim().is_empty()).unwrap_or(0);
        let line = self.lines.get(index).copied().unwrap_or("");
        let indent = line.chars().take_while(|c| c.is_whitespace()).count();
        Place {
            line: count(index + 1),
            column: count(indent + 1),
            width: count(line.trim().chars().count()).max(1),
        }
    }

    /// The `width` characters at a position.
    fn text(&self, line: u32, column: u32, width: u32) -> String {
        self.line(line).chars().skip(column as usize - 1).take(width as usize).collect()
    }

    fn line(&self, number: u32) -> &str {
        self.lines.get(number as usize - 1).copied().unwrap_or("")
    }
}

/// The line and column at the start of a text, and the rest.
fn leading_place(text: &str) -> Option<(u32, u32, &str)> {
    let number = |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (line, rest) = text.split_at_checked(number(text))?;
    let rest = rest.strip_prefix(':')?;
    let (column, rest) = rest.split_at_checked(number(rest))?;
    Some((line.parse().ok()?, column.parse().ok()?, rest))
}

/// Whether `hint` says the same as a suggestion of the compiler, and more.
fn is_said(suggestion: &str, hint: &str) -> bool {
    let names = suggestion.contains("with a similar name") && hint.contains("did you mean");
    let arguments = ["provide the argument", "remove the extra argument"];
    let counts = arguments.iter().any(|start| suggestion.starts_with(start)) && hint.starts_with("write `");
    let serialises = hint.contains("derive(Serialize)")
        && (suggestion.starts_with("the trait `Serialize` is not implemented")
            || suggestion.starts_with("a tool call must be awaited first"));
    let awaits = hint.starts_with("a call must be awaited")
        && (suggestion.starts_with("end the snippet with a value")
            || suggestion.starts_with("a tool call must be awaited first"));
    // What is not done because it could change the meaning.
    let refused = (suggestion.starts_with("remove the `.await`") && hint.contains("await"))
        || (hint.starts_with("with `mut`, this would change")
            && (suggestion.starts_with("consider making this binding mutable")
                || suggestion.starts_with("consider changing this to be mutable")))
        || (hint.starts_with("a text is not read as JSON") && suggestion.starts_with("call `Into::into`"));
    names || counts || serialises || awaits || refused
}

/// Messages that say nothing about the snippet: compiler internals, and lists of types.
fn is_noise(message: &str) -> bool {
    const NOISE: [&str; 11] = [
        // The crates of a snippet are fixed; Toolsmith's own hint names them, or the module that is meant.
        "you might be missing a crate named",
        // Notes are shown without their place, and this one says nothing else.
        " defined here",
        "the trait `GeneratedText` is",
        "rustc --explain",
        "the full name for the type has been written",
        "consider using `--verbose`",
        "redundant requirement",
        // It names the module that the text is put into.
        "a similar path exists",
        "the following other types implement",
        "check whether the crate offers a `serde` feature flag",
        "required for `",
    ];
    message.is_empty() || NOISE.iter().any(|noise| message.contains(noise))
}

fn render_place(rendered: &mut String, lines: &[&str], place: Place, label: &str) {
    let Place { line, column, width } = place;
    let text = lines.get(line as usize - 1).copied().unwrap_or("");
    let number = line.to_string();
    let gutter = " ".repeat(number.len());
    // In a long line, show only the part around the position.
    let first = (column as usize - 1).saturating_sub(CONTEXT);
    let shown: String = text.chars().skip(first).take(EXCERPT).collect();
    let indent: String =
        shown.chars().take(column as usize - 1 - first).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let marks = "^".repeat((width as usize).min(EXCERPT - CONTEXT));
    // Writing to a string does not fail.
    let _ = writeln!(rendered, "{gutter}--> {line}:{column}");
    let _ = writeln!(rendered, "{number} | {shown}");
    let _ = writeln!(rendered, "{gutter} | {}", format!("{indent}{marks} {label}").trim_end());
}

#[cfg(test)]
mod tests;

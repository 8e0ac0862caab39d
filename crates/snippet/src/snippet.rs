//! Parses a snippet: its shape, the names it uses, its syntax errors.
//!
//! The compiled text has the same lines and columns as the original: what must be removed (a Markdown fence,
//! `#[tokio::main]`, inner attributes) is overwritten with spaces.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use bridge::size::size;
use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Attribute, Block, Stmt};

use crate::captured_copies::{self, CapturedCopy};
use crate::encoded;
use crate::entry::{self, Entry, Takes};
use crate::flow;
use crate::insertion::{Insertion, MODULE};
use crate::markdown;
use crate::plain_tail;
use crate::program_file::declarations::Declarations;
use crate::program_file::derives;
use crate::purpose::Purpose;
use crate::syntax_depth;
use crate::syntax_error::SyntaxError;
use crate::unused_calls::{self, Idle};

/// Maximum size of a snippet, in bytes (1 MiB).
pub const SNIPPET_LIMIT: usize = 1024 * 1024;

/// The start of every snippet.
const START: LineColumn = LineColumn { line: 1, column: 0 };

/// A snippet ready for the compiler.
#[derive(Debug)]
pub struct Snippet {
    /// The text to compile.
    pub text: String,
    /// Its shape as a program.
    pub(crate) shape: Shape,
    /// The range of its last expression, if that is its value.
    pub(crate) tail: Option<Range<usize>>,
    /// Whether its last expression has a value that a `;` drops.
    pub(crate) discards: bool,
    /// The texts to insert, in text order.
    pub(crate) insertions: Vec<Insertion>,
    /// The purpose that the text is compiled for.
    pub purpose: Purpose,
    /// Whether it starts its own runtime.
    pub(crate) blocks: bool,
    /// Its expressions whose value is unused.
    pub(crate) idle: Vec<Idle>,
    /// Its changes of copies of variables that are read later.
    pub(crate) copies: Vec<CapturedCopy>,
    /// All its identifiers.
    pub identifiers: BTreeSet<String>,
    /// The saved programs that it calls.
    pub(crate) composed: Option<Composed>,
    /// The names of the functions and methods that it declares.
    pub(crate) functions: BTreeSet<String>,
}

/// The saved programs that a snippet calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Composed {
    /// Their modules.
    pub(crate) text: String,
    /// Where each program is in that text.
    pub(crate) programs: Vec<CalledProgram>,
    /// The identifiers in their texts.
    pub(crate) identifiers: BTreeSet<String>,
}

/// A saved program in the text that calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CalledProgram {
    /// Its name.
    pub(crate) name: String,
    /// Its own text.
    pub(crate) text: String,
    /// The number of lines before it, and of its own.
    pub(crate) before: u32,
    pub(crate) lines: u32,
}

/// The forms that a snippet may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Statements whose last expression, if any, is the result.
    Statements(Ending),
    /// A file of items with an entry function.
    Items(Entry),
}

/// The end of statements, and whether they return a value earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With an expression; `is_plain` if its form shows that its value is no `Result`.
    Value { returns: bool, is_plain: bool },
    /// With an `Err`: only a `return` determines the type of a value.
    Fails { returns: bool },
    /// With a `;` or an item: there is no value.
    Unit { returns: bool },
    /// They never reach their end.
    Never { returns: bool },
}

/// The error for a text whose parser could not run or failed.
pub(crate) fn unreadable() -> SyntaxError {
    SyntaxError::at("the snippet can't be parsed: out of memory, or the parser failed", START)
}

impl Snippet {
    /// Parses `code` on a stack large enough for its deepest expression.
    #[cfg(test)]
    pub(crate) fn read(code: &str) -> Result<Self, SyntaxError> {
        Snippet::read_for(code, Purpose::Snippet)
    }

    /// Parses `code`, which is compiled for this `purpose`, on a stack large enough for its deepest expression.
    pub(crate) fn read_for(code: &str, purpose: Purpose) -> Result<Self, SyntaxError> {
        syntax_depth::on_parser_stack(|| Snippet::parse(code, purpose)).unwrap_or_else(|| Err(unreadable()))
    }

    /// Parses a changed text of it, which calls the same programs.
    ///
    /// # Errors
    /// If the syntax of the changed text is wrong.
    pub fn again(&self, code: &str) -> Result<Self, SyntaxError> {
        let snippet = Snippet::read_for(code, self.purpose)?;
        Ok(Snippet { composed: self.composed.clone(), ..snippet })
    }

    /// The identifiers in it and in the programs that it calls: a server whose module is not among them is not called.
    #[must_use]
    pub fn names(&self) -> Cow<'_, BTreeSet<String>> {
        match &self.composed {
            None => Cow::Borrowed(&self.identifiers),
            Some(composed) => Cow::Owned(self.identifiers.union(&composed.identifiers).cloned().collect()),
        }
    }

    /// Parses `code` on this thread, whose stack must have [`syntax_depth::STACK`] bytes.
    pub(crate) fn parse(code: &str, purpose: Purpose) -> Result<Self, SyntaxError> {
        if code.len() > SNIPPET_LIMIT {
            let message = format!("{} of code; the limit is {}", size(code.len()), size(SNIPPET_LIMIT));
            return Err(SyntaxError::at(message, START));
        }
        let code = code.strip_prefix('\u{feff}').unwrap_or(code);
        encoded::check(code)?;
        // Text that parses as Rust is Rust, even if a string or comment in it contains a fence.
        let whole = Snippet::parse_text(without_shebang(code), purpose);
        // The file of a program is Rust.
        if whole.is_ok() || purpose != Purpose::Snippet {
            return whole;
        }
        match markdown::unfence(code)? {
            Some(text) => Snippet::parse_text(without_shebang(&text), purpose),
            None => whole.map_err(|error| encoded::escaped(code).unwrap_or(error)),
        }
    }

    fn parse_text(mut text: String, purpose: Purpose) -> Result<Self, SyntaxError> {
        let tokens = syntax_depth::tokens(&text)?;
        let (mut identifiers, mut functions) = (BTreeSet::new(), BTreeSet::new());
        collect_identifiers(&tokens, &mut identifiers, &mut functions);
        let mut blanks = Vec::new();
        let mut tail = None;
        let mut insertions = Vec::new();
        let parsed = match purpose {
            Purpose::Snippet => shape(&tokens, &mut blanks, &mut tail),
            _ => program_shape(&tokens, purpose, &mut blanks, &mut insertions),
        };
        let (shape, statements) = parsed.map_err(|error| place(error, &text))?;
        if let Shape::Items(_) = shape {
            collect_roots(&tokens, &mut insertions);
            insertions.sort_by_key(|insertion| insertion.at);
        }
        let discards = flow::discards(&statements);
        let mut idle = unused_calls::find(&statements, &tokens);
        let mut copies = captured_copies::find(&statements, &tokens);
        let blocks = entry::blocks(&tokens, blanks.len());
        // A blanked character takes one byte.
        let bytes = |blank: Range<usize>| (blank.end, blank.len() - text[blank].chars().count());
        let shorter: Vec<(usize, usize)> = blanks.iter().map(Span::byte_range).map(bytes).collect();
        let moved = |at: usize| {
            at - shorter.iter().filter(|(end, _)| *end <= at).map(|(_, bytes)| bytes).sum::<usize>()
        };
        insertions.iter_mut().for_each(|insertion| insertion.at = moved(insertion.at));
        idle.iter_mut().for_each(|idle| idle.range = moved(idle.range.start)..moved(idle.range.end));
        copies.iter_mut().for_each(|copy| copy.range = moved(copy.range.start)..moved(copy.range.end));
        let tail = tail.map(|range| moved(range.start)..moved(range.end));
        for span in blanks.into_iter().rev() {
            text = blank(&text, span);
        }
        Ok(Snippet {
            text,
            shape,
            tail,
            discards,
            insertions,
            purpose,
            blocks,
            idle,
            copies,
            identifiers,
            composed: None,
            functions,
        })
    }
}

/// Blanks the first line of `code` if it names an interpreter (The Rust Reference, "Shebang").
fn without_shebang(code: &str) -> String {
    let start = code.len() - code.trim_start().len();
    let rest = &code[start..];
    if !rest.starts_with("#!") || rest[2..].trim_start().starts_with('[') {
        return code.to_owned();
    }
    let line = rest.split('\n').next().unwrap_or(rest);
    let blanks = " ".repeat(line.chars().count());
    [&code[..start], &blanks, &rest[line.len()..]].concat()
}

fn collect_identifiers(
    tokens: &TokenStream,
    identifiers: &mut BTreeSet<String>,
    functions: &mut BTreeSet<String>,
) {
    let mut is_function = false;
    for token in tokens.clone() {
        let declares = std::mem::take(&mut is_function);
        match token {
            TokenTree::Ident(identifier) => {
                let name = identifier.to_string();
                let name = name.strip_prefix("r#").unwrap_or(&name);
                is_function = name == "fn";
                identifiers.insert(name.to_owned());
                if declares {
                    functions.insert(name.to_owned());
                }
            }
            TokenTree::Group(group) => collect_identifiers(&group.stream(), identifiers, functions),
            TokenTree::Literal(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Adds the insertions of [`MODULE`] after each `crate` that starts a path.
fn collect_roots(tokens: &TokenStream, roots: &mut Vec<Insertion>) {
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => collect_roots(&group.stream(), roots),
            TokenTree::Ident(word) if word == "crate" => {
                if tokens
                    .peek()
                    .is_some_and(|next| matches!(next, TokenTree::Punct(sign) if sign.as_char() == ':'))
                {
                    roots.push(Insertion { at: word.span().byte_range().end, text: MODULE.to_owned() });
                }
            }
            TokenTree::Ident(_) | TokenTree::Literal(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// The shape of a saved program, which is a file of items with `run`.
fn program_shape(
    tokens: &TokenStream,
    purpose: Purpose,
    blanks: &mut Vec<Span>,
    insertions: &mut Vec<Insertion>,
) -> Result<(Shape, Vec<Stmt>), syn::Error> {
    let file = syn::parse2::<syn::File>(tokens.clone())?;
    let program = Declarations::of(&file)?;
    blanks.extend(file.attrs.iter().map(Spanned::span));
    blanks.extend(entry::blanks(program.run));
    insertions.extend(derives::insertions(&program, purpose));
    let takes = if program.args.is_some() { Takes::Typed } else { Takes::Nothing };
    let shape = Shape::Items(Entry { takes, ..Entry::from(program.run) });
    Ok((shape, file.items.into_iter().map(Stmt::Item).collect()))
}

fn shape(
    tokens: &TokenStream,
    blanks: &mut Vec<Span>,
    tail: &mut Option<Range<usize>>,
) -> Result<(Shape, Vec<Stmt>), syn::Error> {
    if let Ok(file) = syn::parse2::<syn::File>(tokens.clone())
        && let Some(entry) = entry::find(&file, tokens)?
    {
        blanks.extend(file.attrs.iter().map(Spanned::span));
        blanks.extend(entry::blanks(entry));
        let shape = Shape::Items(entry.into());
        return Ok((shape, file.items.into_iter().map(Stmt::Item).collect()));
    }
    let parse = |input: syn::parse::ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_inner)?;
        Ok((attributes, Block::parse_within(input)?))
    };
    let (attributes, statements) = syn::parse::Parser::parse2(parse, tokens.clone())?;
    entry::check_statements(&statements, tokens)?;
    blanks.extend(attributes.iter().map(Spanned::span));
    let ending = ending(&statements, tokens);
    if let (Ending::Value { .. }, Some(last)) = (ending, statements.last()) {
        *tail = Some(last.span().byte_range());
    }
    Ok((Shape::Statements(ending), statements))
}

/// The parser's error at a position in the snippet: at the end of the text, the parser reports none.
#[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
fn place(error: syn::Error, text: &str) -> SyntaxError {
    let message = error.to_string();
    let at = error.span().start();
    if !message.starts_with("unexpected end of input") || at != START {
        return SyntaxError::at(message, at);
    }
    let written = text.trim_end();
    let line = written.split('\n').count();
    let column = written.rsplit('\n').next().map_or(0, |last| last.chars().count());
    let message = message.replace("unexpected end of input, expected", "the snippet ends before");
    SyntaxError::at(message, LineColumn { line, column })
}

fn ending(statements: &[Stmt], tokens: &TokenStream) -> Ending {
    let has_value = match statements.last() {
        Some(Stmt::Expr(_, semicolon)) => semicolon.is_none(),
        Some(Stmt::Macro(call)) => call.semi_token.is_none(),
        Some(Stmt::Local(_) | Stmt::Item(_)) | None => false,
    };
    let returns = flow::returns_value(statements);
    match has_value {
        _ if flow::diverges(statements) => Ending::Never { returns },
        true if flow::fails(statements) => Ending::Fails { returns },
        true => Ending::Value { returns, is_plain: plain_tail::is_plain(statements, tokens) },
        false => Ending::Unit { returns },
    }
}

/// Replaces `span` in `text` with spaces, keeping lines and columns.
fn blank(text: &str, span: Span) -> String {
    let range = span.byte_range();
    let mut blanked = String::with_capacity(text.len());
    blanked.push_str(&text[..range.start]);
    blanked.extend(text[range.clone()].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
    blanked.push_str(&text[range.end..]);
    blanked
}

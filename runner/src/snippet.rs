//! Reads a snippet: what shape it has, which names it uses, where its syntax is wrong.
//!
//! The text that is compiled has the same lines and columns as the text that was sent: what must go (a
//! Markdown fence, `#[tokio::main]`, inner attributes) is overwritten with spaces.

use std::collections::BTreeSet;
use std::ops::Range;
use std::thread::ScopedJoinHandle;

use proc_macro2::{LineColumn, Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Attribute, Block, Item, ItemFn, ReturnType, Stmt};

use crate::depth;
use crate::fence;
use crate::flow;

/// Longest snippet that is accepted, in bytes (1 MiB).
pub const SNIPPET_LIMIT: usize = 1024 * 1024;

/// Deepest nesting of brackets that is accepted; the parser recurses on it.
pub const NESTING_LIMIT: usize = 128;

/// Where every snippet starts.
const START: LineColumn = LineColumn { line: 1, column: 0 };

/// A snippet that can be given to the compiler.
#[derive(Debug)]
pub(crate) struct Snippet {
    /// The text to compile.
    pub(crate) text: String,
    /// How it becomes a program.
    pub(crate) shape: Shape,
    /// Where its last expression stands, if that is its value.
    pub(crate) tail: Option<Range<usize>>,
    /// Every identifier in it: a server whose module is not among them is not called.
    pub(crate) identifiers: BTreeSet<String>,
}

/// The forms that a snippet may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Statements whose last expression is the result, or none.
    Statements(Ending),
    /// A file of items with an entry function.
    Items(Entry),
}

/// How statements end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// With an expression.
    Value,
    /// With a `;` or an item: there is no value.
    Unit,
    /// They never reach their end, and return a value before.
    Returns,
    /// They never reach their end, and return no value.
    Never,
}

/// The entry function of a file of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// `run` or `main`.
    pub(crate) name: String,
    /// Whether it is `async`.
    pub(crate) is_async: bool,
    /// Whether it takes the arguments.
    pub(crate) takes_args: bool,
    /// Whether it returns something.
    pub(crate) returns: bool,
}

/// A place where the syntax is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// What is wrong.
    pub(crate) message: String,
    /// Line from 1.
    pub(crate) line: u32,
    /// Column in characters, from 1.
    pub(crate) column: u32,
}

impl SyntaxError {
    /// An error at a place as the parser counts: columns from 0.
    pub(crate) fn at(message: impl Into<String>, at: LineColumn) -> Self {
        let line = u32::try_from(at.line).unwrap_or(u32::MAX);
        let column = u32::try_from(at.column + 1).unwrap_or(u32::MAX);
        SyntaxError { message: message.into(), line: line.max(1), column }
    }
}

impl Snippet {
    /// Reads `code` as it was sent, on a stack that its deepest expression fits on.
    pub(crate) fn read(code: &str) -> Result<Self, SyntaxError> {
        std::thread::scope(|scope| {
            let reader = std::thread::Builder::new().name("reader".to_owned()).stack_size(depth::STACK);
            let read = reader.spawn_scoped(scope, || Snippet::parse(code)).map(ScopedJoinHandle::join);
            read.ok().and_then(Result::ok).unwrap_or_else(|| {
                let message = "the snippet can't be read: there is no memory, or the parser failed";
                Err(SyntaxError::at(message, START))
            })
        })
    }

    fn parse(code: &str) -> Result<Self, SyntaxError> {
        if code.len() > SNIPPET_LIMIT {
            let message = format!("{} bytes of code; the limit is {SNIPPET_LIMIT}", code.len());
            return Err(SyntaxError::at(message, START));
        }
        let code = code.strip_prefix('\u{feff}').unwrap_or(code);
        // What reads as Rust is Rust, also where a string or a comment in it holds a fence.
        match Snippet::parse_text(code.to_owned()) {
            Ok(snippet) => Ok(snippet),
            Err(error) => match fence::unfence(code)? {
                Some(text) => Snippet::parse_text(text),
                None => Err(error),
            },
        }
    }

    fn parse_text(mut text: String) -> Result<Self, SyntaxError> {
        let tokens = tokens(&text)?;
        depth::check(tokens.clone())?;
        let mut identifiers = BTreeSet::new();
        collect_identifiers(&tokens, &mut identifiers);
        let mut blanks = Vec::new();
        let mut tail = None;
        let shape = shape(tokens, &mut blanks, &mut tail).map_err(|error| place(error, &text))?;
        // From the end, which no blank moves: a blanked character has one byte.
        let tail = tail.map(|range| text.len() - range.start..text.len() - range.end);
        for span in blanks.into_iter().rev() {
            text = blank(&text, span);
        }
        let tail = tail.map(|range| text.len() - range.start..text.len() - range.end);
        Ok(Snippet { text, shape, tail, identifiers })
    }
}

fn tokens(text: &str) -> Result<TokenStream, SyntaxError> {
    crate::balance::check(text, NESTING_LIMIT)?;
    text.parse::<TokenStream>().map_err(|error| {
        let message = "this is not a Rust token: an unknown character, an unclosed string or comment";
        SyntaxError::at(message, error.span().start())
    })
}

fn collect_identifiers(tokens: &TokenStream, identifiers: &mut BTreeSet<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(identifier) => {
                let name = identifier.to_string();
                identifiers.insert(name.strip_prefix("r#").unwrap_or(&name).to_owned());
            }
            TokenTree::Group(group) => collect_identifiers(&group.stream(), identifiers),
            TokenTree::Literal(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn shape(
    tokens: TokenStream,
    blanks: &mut Vec<Span>,
    tail: &mut Option<Range<usize>>,
) -> Result<Shape, syn::Error> {
    if let Ok(file) = syn::parse2::<syn::File>(tokens.clone())
        && let Some(entry) = entry(&file.items)
    {
        blanks.extend(file.attrs.iter().map(Spanned::span));
        blanks.extend(entry.attrs.iter().filter(|attribute| is_main(attribute)).map(Spanned::span));
        return Ok(Shape::Items(describe(entry)));
    }
    let parse = |input: syn::parse::ParseStream<'_>| {
        let attributes = input.call(Attribute::parse_inner)?;
        Ok((attributes, Block::parse_within(input)?))
    };
    let (attributes, statements) = syn::parse::Parser::parse2(parse, tokens)?;
    blanks.extend(attributes.iter().map(Spanned::span));
    let ending = ending(&statements);
    if let (Ending::Value, Some(last)) = (ending, statements.last()) {
        *tail = Some(last.span().byte_range());
    }
    Ok(Shape::Statements(ending))
}

/// The parser's error in the snippet's own text: where the text just ends, the parser names no place.
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

/// The entry function of a file: `run` before `main`, as long as nothing but items is there.
fn entry(items: &[Item]) -> Option<&ItemFn> {
    let function = |name: &str| {
        items.iter().find_map(|item| match item {
            Item::Fn(function) if function.sig.ident == name => Some(function),
            _ => None,
        })
    };
    function("run").filter(|run| run.sig.inputs.len() <= 1).or_else(|| function("main"))
}

fn describe(function: &ItemFn) -> Entry {
    Entry {
        name: function.sig.ident.to_string(),
        is_async: function.sig.asyncness.is_some(),
        takes_args: !function.sig.inputs.is_empty(),
        returns: matches!(function.sig.output, ReturnType::Type(..)),
    }
}

/// `#[tokio::main]`, with or without arguments: the program has a runtime already.
fn is_main(attribute: &Attribute) -> bool {
    let path = attribute.path();
    path.segments.len() == 2 && path.segments[0].ident == "tokio" && path.segments[1].ident == "main"
}

fn ending(statements: &[Stmt]) -> Ending {
    let has_value = match statements.last() {
        Some(Stmt::Expr(_, semicolon)) => semicolon.is_none(),
        Some(Stmt::Macro(call)) => call.semi_token.is_none(),
        Some(Stmt::Local(_) | Stmt::Item(_)) | None => false,
    };
    match (flow::diverges(statements), flow::returns_value(statements)) {
        (true, true) => Ending::Returns,
        (true, false) => Ending::Never,
        (false, _) if has_value => Ending::Value,
        (false, _) => Ending::Unit,
    }
}

/// `text` with spaces where `span` was; lines and columns stay.
fn blank(text: &str, span: Span) -> String {
    let range = span.byte_range();
    let mut blanked = String::with_capacity(text.len());
    blanked.push_str(&text[..range.start]);
    blanked.extend(text[range.clone()].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
    blanked.push_str(&text[range.end..]);
    blanked
}

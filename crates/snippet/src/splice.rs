//! Puts a snippet into the file that the compiler reads.
//!
//! The wrapper starts in line 1 before the text and ends in a line of its own after it, so that line numbers are the
//! snippet's, and only the columns of line 1 must be mapped back.

use std::ops::Range;

use bridge::Edited;

use crate::entry::{Entry, Takes};
use crate::in_scope;
use crate::insertion::{Insertion, insert};
use crate::purpose::{Purpose, SCHEMA_CRATE};
use crate::snippet::{CalledProgram, Ending, Shape, Snippet};
use crate::syntax_error::count;

/// The fixed main file of every program; the spliced snippet is next to it as `snippet.rs`.
pub const MAIN: &str = include_str!("../../../templates/program/src/main.rs");

/// A spliced snippet.
#[derive(Debug)]
pub struct Spliced {
    /// The text of `snippet.rs`.
    pub text: String,
    /// Characters before the snippet in line 1.
    pub(crate) offset: u32,
    /// Number of lines of the snippet.
    pub(crate) lines: u32,
    /// Where its columns differ from the snippet's.
    pub(crate) edits: Vec<Edited>,
    /// The offsets in the snippet where text was inserted, and the bytes of each text.
    pub(crate) inserted: Vec<(usize, usize)>,
    /// The saved programs that follow the snippet; the lines before them count from the snippet's first line.
    pub(crate) programs: Vec<CalledProgram>,
}

const PRELUDE: &str = "#[allow(unused_imports)] use ::bridge::prelude::*; ";

/// Wraps a last expression that is converted to JSON in place; see [`splice`].
const TAIL: (&str, &str) = ("::bridge::tail::owned(::bridge::finish!(", "))?");

/// The way in which the value at the end of statements is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Finish {
    /// By its type, which is known at that point.
    #[default]
    Typed,
    /// As a value or one `Result`: the type inside is not yet known.
    Once,
    /// As it is: its type is unknown until the end of the statements.
    Plain,
    /// Not at all: the end is never reached, with or without an earlier `return` of a value.
    Diverges { returns: bool },
}

/// The differences between the compiled text and the snippet.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Items of `use` in one line to put before the snippet, or nothing.
    pub(crate) imports: String,
    /// Whether the last expression is converted to JSON while the snippet's variables exist, so that it may borrow from
    /// them. That moves columns of its first line and would show in compiler messages, so it is only for texts known
    /// not to compile otherwise.
    pub(crate) tail_in_place: bool,
    /// The way in which the last value is taken, after the compiler has refused another way.
    pub(crate) finish: Finish,
    /// The corrected positions, in text order.
    pub(crate) corrected: Vec<Corrected>,
}

/// A position in a corrected text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Corrected {
    /// Its byte offset.
    pub(crate) at: usize,
    /// Number of characters inserted.
    pub(crate) added: usize,
    /// Number of characters that they replace.
    pub(crate) removed: usize,
}

/// Splices `snippet`, whose text has `changes`, and which names these `modules` of servers.
#[must_use]
pub fn splice(snippet: &Snippet, changes: &Changes, modules: &[&str]) -> Spliced {
    let (open, close) = match &snippet.shape {
        Shape::Statements(ending) => statements(*ending, changes.finish),
        Shape::Items(entry) => (String::new(), items(entry, snippet.purpose)),
    };
    let composed = snippet.composed.as_ref().map_or("", |composed| composed.text.as_str());
    let close = format!("{close} {composed}{}", entry(snippet));
    let in_scope = in_scope::imports(&snippet.text, &snippet.identifiers, &snippet.functions);
    let tools = tools(snippet, modules);
    let open = format!("{PRELUDE}{in_scope}{tools}{}{open}", changes.imports);
    let offset = count(open.chars().count());
    let lines = count(snippet.text.split('\n').count());
    let tail = snippet.tail.clone().filter(|_| changes.tail_in_place);
    let edits = edits(snippet, changes, tail.as_ref());
    let text = match tail {
        Some(tail) => wrap(&snippet.text, &tail),
        None => insert(&snippet.text, &snippet.insertions),
    };
    let edited = if edits.is_empty() { String::new() } else { format!(".edited(&{edits:?})") };
    let origin = format!("::bridge::Origin::new({offset}){edited}");
    let text =
        format!("{open}{text}\n{close} pub(crate) const ORIGIN: ::bridge::Origin<'static> = {origin};\n");
    let inserted = snippet.insertions.iter().map(|insertion| (insertion.at, insertion.text.len())).collect();
    let behind =
        |program: &CalledProgram| CalledProgram { before: program.before + lines, ..program.clone() };
    let programs =
        snippet.composed.iter().flat_map(|composed| composed.programs.iter().map(behind)).collect();
    Spliced { text, offset, lines, edits, inserted, programs }
}

/// The modules of servers as members of `tools`, for a text with paths such as `tools::demo::echo`: in a crate that
/// `codegen --out` has written, cargo finds them there. No module is named `tools` itself.
fn tools(snippet: &Snippet, modules: &[&str]) -> String {
    let names_tools = snippet.text.contains("tools::") && snippet.identifiers.contains("tools");
    if !names_tools || modules.is_empty() {
        return String::new();
    }
    let uses: String = modules.iter().map(|module| format!("pub use ::{module}; ")).collect();
    format!("#[allow(unused_imports)] use self::__tools::*; mod __tools {{ pub mod tools {{ {uses}}} }} ")
}

impl Spliced {
    /// Maps a byte offset after the wrapper's start to the snippet's text; inserted text maps to its position.
    pub(crate) fn own(inserted: &[(usize, usize)], compiled: usize) -> usize {
        let mut added = 0;
        for (place, length) in inserted {
            if place + added >= compiled {
                break;
            }
            if place + added + length > compiled {
                return *place;
            }
            added += length;
        }
        compiled - added
    }
}

fn wrap(text: &str, tail: &Range<usize>) -> String {
    let (open, close) = TAIL;
    [&text[..tail.start], open, &text[tail.clone()], close, &text[tail.end..]].concat()
}

/// Where columns of the compiled text differ from the snippet's: the program maps the positions of panics with it.
fn edits(snippet: &Snippet, changes: &Changes, tail: Option<&Range<usize>>) -> Vec<Edited> {
    let text = &snippet.text;
    if !snippet.insertions.is_empty() {
        return edits_of_items(text, &changes.corrected, &snippet.insertions);
    }
    let opening = tail.map(|tail| Corrected { at: tail.start, added: TAIL.0.len(), removed: 0 });
    let mut all: Vec<(usize, &Corrected)> = opening.iter().map(|place| (0, place)).collect();
    all.extend(changes.corrected.iter().map(|place| (TAIL.0.len(), place)));
    // Text inserted at the start of the last expression is part of it.
    all.sort_by_key(|(order, place)| (place.at, *order));
    let edit = |(order, place): (usize, &Corrected)| {
        let before = text.get(..place.at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let moved = opening
            .as_ref()
            .filter(|tail| order > 0 && (start..=place.at).contains(&tail.at))
            .map_or(0, |tail| tail.added);
        let line = before.matches('\n').count() + 1;
        let column = before[start..].chars().count() + moved + 1;
        (count(line), count(column), count(place.added), count(place.removed))
    };
    all.into_iter().map(edit).collect()
}

/// The same for a file of items, which has no last value, and into which text is inserted.
fn edits_of_items(text: &str, corrected: &[Corrected], insertions: &[Insertion]) -> Vec<Edited> {
    let mut all: Vec<(bool, Corrected)> = insertions
        .iter()
        .map(|insertion| {
            let added = insertion.text.chars().count();
            (true, Corrected { at: insertion.at, added, removed: 0 })
        })
        .collect();
    all.extend(corrected.iter().map(|place| (false, place.clone())));
    all.sort_by_key(|(_, place)| place.at);
    let mut edits = Vec::new();
    let (mut line_of_moved, mut moved) = (0, 0);
    for (is_insertion, place) in all {
        let before = text.get(..place.at).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        if line != line_of_moved {
            (line_of_moved, moved) = (line, 0);
        }
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before[start..].chars().count() + moved + 1;
        edits.push((count(line), count(column), count(place.added), count(place.removed)));
        moved += if is_insertion { place.added } else { 0 };
    }
    edits
}

/// The function that the program calls.
fn entry(snippet: &Snippet) -> String {
    if let Purpose::Schemas { result } = snippet.purpose {
        return schemas(snippet, result);
    }
    let is_sync = matches!(&snippet.shape, Shape::Items(entry) if !entry.is_async);
    let body = if is_sync {
        "::std::boxed::Box::pin(::bridge::on_thread(move || ::bridge::encode(__body(args))))"
    } else if snippet.blocks {
        "::std::boxed::Box::pin(::bridge::outside_runtime(\
         move || ::bridge::encoding(::std::boxed::Box::pin(__body(args)))))"
    } else {
        "::bridge::encoding(::std::boxed::Box::pin(__body(args)))"
    };
    format!("pub(crate) fn __entry(args: ::bridge::Args) -> ::bridge::Running {{ {body} }}")
}

fn statements(ending: Ending, finish: Finish) -> (String, String) {
    let ending = match (finish, ending) {
        (Finish::Diverges { returns }, _) => Ending::Never { returns },
        (_, ending) => ending,
    };
    let returns = match ending {
        Ending::Fails { returns: false } | Ending::Never { returns: false } => "()",
        _ => "impl ::bridge::tail::Outcome",
    };
    let open =
        format!("#[allow(unused_variables)] async fn __body(args: Args) -> ::bridge::Result<{returns}> {{ ");
    let finished = match (ending, finish) {
        (Ending::Never { .. }, _) => return (open, "}".to_owned()),
        // The type is explicit: a last statement that never ends has no type of its own.
        (Ending::Unit { .. }, _) => {
            return (format!("{open}let __tail: () = {{ "), "}; ::bridge::Result::Ok(__tail) }".to_owned());
        }
        (_, Finish::Plain) | (Ending::Value { is_plain: true, .. }, Finish::Typed) => {
            "::bridge::Result::Ok(__tail)"
        }
        (Ending::Fails { .. }, _) | (_, Finish::Once) => "::bridge::finish_once!(__tail)",
        (Ending::Value { .. }, _) => "::bridge::finish!(__tail)",
    };
    (format!("{open}let __tail = {{ "), format!("}}; {finished} }}"))
}

/// The entry of a program that returns JSON Schemas.
fn schemas(snippet: &Snippet, result: bool) -> String {
    let takes_args = matches!(&snippet.shape, Shape::Items(Entry { takes: Takes::Typed, .. }));
    let function = match (takes_args, result) {
        (true, true) => "of",
        (true, false) => "of_arguments",
        (false, true) => "of_result",
        (false, false) => "of_nothing",
    };
    format!(
        "pub(crate) fn __entry(_: ::bridge::Args) -> ::bridge::Running {{ ::std::boxed::Box::pin(::std::future::ready(\
         ::bridge::encode(::bridge::Result::Ok(::{SCHEMA_CRATE}::{function}(run))))) }}"
    )
}

fn items(entry: &Entry, purpose: Purpose) -> String {
    if let Purpose::Schemas { .. } = purpose {
        return String::new();
    }
    let Entry { name, is_async, takes, returns } = entry;
    let (read, argument) = match takes {
        Takes::Nothing => ("", ""),
        Takes::Texts => ("", "args"),
        Takes::Typed => ("let args: Args = args.typed()?; ", "args"),
    };
    let call = format!("{name}({argument})");
    let (prefix, awaited) = if *is_async { ("async ", format!("{call}.await")) } else { ("", call) };
    // A plain `()` has no method of a tail to resolve, so it is explicit.
    let (kind, value) = if *returns {
        ("impl ::bridge::tail::Outcome", format!("::bridge::finish!({awaited})"))
    } else {
        ("()", format!("::bridge::Result::Ok({awaited})"))
    };
    format!(
        "#[allow(unused_variables)] {prefix}fn __body(args: ::bridge::Args) -> ::bridge::Result<{kind}> \
         {{ #[allow(unused_imports)] use ::bridge::tail::*; {read}{value} }}"
    )
}

#[cfg(test)]
mod tests;

//! Puts a snippet into the file that the compiler reads.
//!
//! What opens the wrapper stands before the text in line 1, what closes it in a line of its own after the
//! text, so that lines are the snippet's own and only the columns of line 1 have to be mapped back.

use std::ops::Range;

use bridge::Edited;

use crate::snippet::{Ending, Entry, Shape, Snippet};

/// The fixed main file of every program; the spliced snippet stands beside it as `snippet.rs`.
pub(crate) const MAIN: &str = include_str!("../../templates/snippet/src/main.rs");

/// A spliced snippet.
#[derive(Debug)]
pub(crate) struct Spliced {
    /// The text of `snippet.rs`.
    pub(crate) text: String,
    /// Characters before the snippet's own in line 1.
    pub(crate) offset: u32,
    /// Lines of the snippet's own.
    pub(crate) lines: u32,
    /// Where its columns are not those of the snippet.
    pub(crate) edits: Vec<Edited>,
}

const PRELUDE: &str = "#[allow(unused_imports)] use bridge::prelude::*; ";

/// What stands around a last expression that is turned into JSON where it is; see [`splice`].
const TAIL: (&str, &str) =
    ("::bridge::tail::owned((&mut ::bridge::tail::Tail::new(&::bridge::tail::place(", "))).finish())?");

/// How the text that is compiled differs from the snippet.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Items of `use` in one line, to stand before the snippet; or nothing.
    pub(crate) imports: String,
    /// Whether the last expression is turned into JSON before the snippet's variables go, so that it may borrow from
    /// them. That moves columns of its first line, and messages of the compiler would show it: it is for texts that are
    /// known to compile no other way.
    pub(crate) tail_in_place: bool,
    /// The places that were corrected, in the order of the text.
    pub(crate) corrected: Vec<Corrected>,
}

/// A place in a corrected text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Corrected {
    /// Bytes before it.
    pub(crate) at: usize,
    /// Characters that were put there.
    pub(crate) added: usize,
    /// Characters that they replace.
    pub(crate) removed: usize,
}

/// Splices `snippet`, whose text has `changes`.
pub(crate) fn splice(snippet: &Snippet, changes: &Changes) -> Spliced {
    let (open, close) = match &snippet.shape {
        Shape::Statements(ending) => statements(*ending),
        Shape::Items(entry) => (String::new(), items(entry)),
    };
    let open = format!("{PRELUDE}{}{open}", changes.imports);
    let offset = count(open.chars().count());
    let lines = count(snippet.text.split('\n').count());
    let tail = snippet.tail.clone().filter(|_| changes.tail_in_place);
    let edits = edits(&snippet.text, changes, tail.as_ref());
    let text = match tail {
        Some(tail) => wrap(&snippet.text, &tail),
        None => snippet.text.clone(),
    };
    let edited = if edits.is_empty() { String::new() } else { format!(".edited(&{edits:?})") };
    let origin = format!("::bridge::Origin::new({offset}){edited}");
    let text =
        format!("{open}{text}\n{close} pub(crate) const ORIGIN: ::bridge::Origin<'static> = {origin};\n");
    Spliced { text, offset, lines, edits }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn wrap(text: &str, tail: &Range<usize>) -> String {
    let (open, close) = TAIL;
    [&text[..tail.start], open, &text[tail.clone()], close, &text[tail.end..]].concat()
}

/// Where columns of the compiled text are not those of the snippet: the program maps the places of its panics with it.
fn edits(text: &str, changes: &Changes, tail: Option<&Range<usize>>) -> Vec<Edited> {
    let opening = tail.map(|tail| Corrected { at: tail.start, added: TAIL.0.len(), removed: 0 });
    let mut all: Vec<(usize, &Corrected)> = opening.iter().map(|place| (0, place)).collect();
    all.extend(changes.corrected.iter().map(|place| (TAIL.0.len(), place)));
    // What was put at the beginning of the last expression is part of it.
    all.sort_by_key(|(order, place)| (place.at, *order));
    let edit = |(order, place): (usize, &Corrected)| {
        let before = text.get(..place.at).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let is_behind = |tail: &&Corrected| order > 0 && (start..=place.at).contains(&tail.at);
        let moved = opening.as_ref().filter(is_behind).map_or(0, |tail| tail.added);
        let line = before.matches('\n').count() + 1;
        let column = before[start..].chars().count() + moved + 1;
        (count(line), count(column), count(place.added), count(place.removed))
    };
    all.into_iter().map(edit).collect()
}

fn statements(ending: Ending) -> (String, String) {
    const ENTRY: &str = "pub(crate) async fn __entry(args: ::bridge::Args) -> ::bridge::Encoded \
                         { ::bridge::encode(__body(args).await) }";
    let returns = match ending {
        Ending::Value | Ending::Unit | Ending::Returns => "impl ::bridge::tail::Outcome",
        Ending::Never => "()",
    };
    let open =
        format!("#[allow(unused_variables)] async fn __body(args: Args) -> ::bridge::Result<{returns}> {{ ");
    match ending {
        Ending::Value => (
            format!("{open}let __tail = {{ "),
            format!(
                "}}; (&mut ::bridge::tail::Tail::new(&::bridge::tail::place(__tail))).finish() }} {ENTRY}"
            ),
        ),
        // The type is stated: a last statement that never ends has none of its own.
        Ending::Unit => {
            (format!("{open}let __tail: () = {{ "), format!("}}; ::bridge::Result::Ok(__tail) }} {ENTRY}"))
        }
        Ending::Returns | Ending::Never => (open, format!("}} {ENTRY}")),
    }
}

fn items(entry: &Entry) -> String {
    let Entry { name, is_async, takes_args, returns } = entry;
    let argument = if *takes_args { "args" } else { "" };
    let call = format!("{name}({argument})");
    let awaited = if *is_async { format!("{call}.await") } else { call };
    // A plain `()` has no method of a tail to resolve against, so it is named.
    let value = if *returns {
        format!("(&mut ::bridge::tail::Tail::new(&::bridge::tail::place({awaited}))).finish()")
    } else {
        format!("::bridge::Result::Ok({awaited})")
    };
    let body = if *is_async || *takes_args {
        format!("::bridge::encode({value})")
    } else {
        format!("::bridge::on_thread(|| ::bridge::encode({value})).await")
    };
    format!(
        "#[allow(unused_variables)] pub(crate) async fn __entry(args: ::bridge::Args) -> ::bridge::Encoded \
         {{ #[allow(unused_imports)] use ::bridge::tail::*; {body} }}"
    )
}

#[cfg(test)]
mod tests {
    use super::{Changes, splice};
    use crate::snippet::Snippet;

    /// The program in templates/snippet, which is compiled with the workspace, is what splicing gives.
    #[test]
    fn the_template_is_a_spliced_snippet() {
        const TEMPLATE: &str = include_str!("../../templates/snippet/src/snippet.rs");
        const TEXT: &str = "use tools::demo;\nlet greeting = demo::echo(\"hello\").await?;\n\
                            println!(\"{greeting}\");\ngreeting.text().len()";
        let spliced = splice(&Snippet::read(TEXT).unwrap(), &Changes::default());
        assert_eq!(spliced.text, TEMPLATE, "templates/snippet/src/snippet.rs must be:\n{}", spliced.text);
    }
}

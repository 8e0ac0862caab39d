//! Puts a snippet into the file that the compiler reads.
//!
//! What opens the wrapper stands before the text in line 1, what closes it in a line of its own after the
//! text, so that lines are the snippet's own and only the columns of line 1 have to be mapped back.

use std::ops::Range;

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
}

const PRELUDE: &str = "#[allow(unused_imports)] use bridge::prelude::*; ";

/// What stands around a last expression that is turned into JSON where it is; see [`splice`].
const TAIL: (&str, &str) =
    ("::bridge::tail::owned((&mut ::bridge::tail::Tail::new(&::bridge::tail::place(", "))).finish())?");

/// Splices `snippet`, behind `imports`: items of `use` in one line, or nothing.
///
/// `tail_in_place` turns the last expression into JSON before the snippet's variables go, so that it may borrow from
/// them. That moves columns of its first line, and messages of the compiler would show it: it is for texts
/// that are known to compile no other way.
pub(crate) fn splice(snippet: &Snippet, imports: &str, tail_in_place: bool) -> Spliced {
    let (open, close) = match &snippet.shape {
        Shape::Statements(ending) => statements(*ending),
        Shape::Items(entry) => (String::new(), items(entry)),
    };
    let open = format!("{PRELUDE}{imports}{open}");
    let offset = u32::try_from(open.chars().count()).unwrap_or(u32::MAX);
    let lines = u32::try_from(snippet.text.split('\n').count()).unwrap_or(u32::MAX);
    let tail = snippet.tail.clone().filter(|_| tail_in_place);
    let (text, moved) = match tail {
        Some(tail) => (wrap(&snippet.text, &tail), moved(&snippet.text, tail.start)),
        None => (snippet.text.clone(), String::new()),
    };
    let origin = format!("::bridge::Origin::new({offset}){moved}");
    let text = format!("{open}{text}\n{close} pub(crate) const ORIGIN: ::bridge::Origin = {origin};\n");
    Spliced { text, offset, lines }
}

fn wrap(text: &str, tail: &Range<usize>) -> String {
    let (open, close) = TAIL;
    [&text[..tail.start], open, &text[tail.clone()], close, &text[tail.end..]].concat()
}

/// Tells the program where columns have moved, for the places of its panics.
fn moved(text: &str, start: usize) -> String {
    let line = text[..start].matches('\n').count() + 1;
    let column = text[..start].chars().rev().take_while(|c| *c != '\n').count() + 1;
    format!(".moved({line}, {column}, {})", TAIL.0.len())
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
    use super::splice;
    use crate::snippet::Snippet;

    /// The program in templates/snippet, which is compiled with the workspace, is what splicing gives.
    #[test]
    fn the_template_is_a_spliced_snippet() {
        const TEMPLATE: &str = include_str!("../../templates/snippet/src/snippet.rs");
        const TEXT: &str = "use tools::demo;\nlet greeting = demo::echo(\"hello\").await?;\n\
                            println!(\"{greeting}\");\ngreeting.text().len()";
        let spliced = splice(&Snippet::read(TEXT).unwrap(), "", false);
        assert_eq!(spliced.text, TEMPLATE, "templates/snippet/src/snippet.rs must be:\n{}", spliced.text);
    }
}

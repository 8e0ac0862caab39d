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
    /// Bytes that close the wrapper.
    closing: usize,
}

impl Spliced {
    /// Where the snippet's own text stands.
    pub(crate) fn own_bytes(&self) -> Range<usize> {
        // What opens the wrapper is ASCII.
        self.offset as usize..self.text.len() - self.closing
    }

    /// The same wrapper around a corrected text of the same lines.
    pub(crate) fn with_text(&self, text: String) -> Self {
        Spliced { text, ..*self }
    }
}

const PRELUDE: &str = "#[allow(unused_imports)] use bridge::prelude::*; ";

/// Splices `snippet`.
pub(crate) fn splice(snippet: &Snippet) -> Spliced {
    let (open, close) = match &snippet.shape {
        Shape::Statements(ending) => statements(*ending),
        Shape::Items(entry) => (String::new(), items(entry)),
    };
    let open = format!("{PRELUDE}{open}");
    let offset = u32::try_from(open.chars().count()).unwrap_or(u32::MAX);
    let lines = u32::try_from(snippet.text.split('\n').count()).unwrap_or(u32::MAX);
    let close = format!("\n{close} pub(crate) const OFFSET: u32 = {offset};\n");
    let text = format!("{open}{}{close}", snippet.text);
    Spliced { text, offset, lines, closing: close.len() }
}

fn statements(ending: Ending) -> (String, String) {
    const ENTRY: &str = "pub(crate) async fn __entry(args: ::bridge::Args) -> ::bridge::Encoded \
                         { ::bridge::encode(__body(args).await) }";
    let returns = match ending {
        Ending::Value | Ending::Returns => "impl ::bridge::tail::Outcome",
        Ending::Never => "()",
    };
    let open =
        format!("#[allow(unused_variables)] async fn __body(args: Args) -> ::bridge::Result<{returns}> {{ ");
    match ending {
        Ending::Value => (
            format!("{open}let __tail = {{ "),
            format!("}}; ::bridge::tail::Tail::new(__tail).finish() }} {ENTRY}"),
        ),
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
        format!("::bridge::tail::Tail::new({awaited}).finish()")
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
         {{ #[allow(unused_imports)] use ::bridge::tail::{{FinishResult as _, FinishValue as _}}; {body} }}"
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
        let spliced = splice(&Snippet::read(TEXT).unwrap());
        assert_eq!(spliced.text, TEMPLATE, "templates/snippet/src/snippet.rs must be:\n{}", spliced.text);
    }
}

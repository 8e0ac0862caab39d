//! The code of a snippet, parsed once for everyone who asks about it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::snippet::{self, Snippet};
use crate::syntax_depth::on_parser_stack;
use crate::syntax_error::SyntaxError;
use crate::tokens::{Kind, Tokens};

/// The code of a snippet. Clones share the result of parsing it.
#[derive(Debug, Clone)]
pub struct Code(Arc<Parsed>);

#[derive(Debug)]
struct Parsed {
    text: String,
    snippet: Result<Snippet, SyntaxError>,
    path_heads: BTreeSet<String>,
    time: Duration,
}

impl Code {
    /// Parses `text`, on a stack large enough for its deepest expression.
    #[must_use]
    pub fn parse(text: String) -> Self {
        let started = Instant::now();
        let parsed = on_parser_stack(|| {
            let snippet = Snippet::parse(&text);
            let path_heads = snippet.as_ref().map(|snippet| path_heads(&snippet.text)).unwrap_or_default();
            (snippet, path_heads)
        });
        let (snippet, path_heads) = parsed.unwrap_or_else(|| (Err(snippet::unreadable()), BTreeSet::new()));
        Code(Arc::new(Parsed { text, snippet, path_heads, time: started.elapsed() }))
    }

    /// The text, as it was sent.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The names before `::` or `(`, and those in `use` declarations: before anything is compiled, they say which servers
    /// the snippet may need. Empty if its syntax is wrong: then names do not matter.
    #[must_use]
    pub fn path_heads(&self) -> &BTreeSet<String> {
        &self.0.path_heads
    }

    /// Whether it ends with an expression and a `;`, so that its value, if any, is not the result. Calls without a value
    /// (`emit(…);`, `list.push(…);`) are not distinguished, except those that print or emit.
    #[must_use]
    pub fn discards_value(&self) -> bool {
        self.0.snippet.as_ref().is_ok_and(|snippet| snippet.discards)
    }

    pub(crate) fn snippet(&self) -> Result<&Snippet, &SyntaxError> {
        self.0.snippet.as_ref()
    }

    /// How long parsing took.
    pub(crate) fn time(&self) -> Duration {
        self.0.time
    }
}

fn path_heads(text: &str) -> BTreeSet<String> {
    let tokens = Tokens::of_this_thread(text);
    let mut heads = BTreeSet::new();
    let mut imports = false;
    for at in 0..tokens.len() {
        let word = tokens.word(at);
        imports = match word {
            "use" => true,
            _ => imports && !tokens.is_sign(at, ';'),
        };
        let is_path = tokens.is_sign(at + 1, ':') && tokens.is_sign(at + 2, ':');
        let is_call = tokens.kind(at + 1) == Some(Kind::Open('('));
        if !word.is_empty() && (imports || is_path || is_call) {
            heads.insert(word.to_owned());
        }
    }
    heads
}

#[cfg(test)]
mod tests {
    use super::Code;

    #[track_caller]
    fn check(code: &str, expected: &[&str]) {
        let parsed = Code::parse(code.to_owned());
        let heads = parsed.path_heads();
        assert_eq!(heads.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{code}");
    }

    #[test]
    fn only_names_with_a_path_or_call_count() {
        check("let files = 1; files + 1", &[]);
        check("let memory = shop::list().await?; memory.orders", &["list", "shop"]);
        check("use {demo, shop as s}; s::list().await?", &["as", "demo", "list", "s", "shop", "use"]);
        check("vec![r#move::go(1)]", &["go", "move"]);
        check("search_tools(\"files\").await?", &["search_tools"]);
        check("```rust\nshop::list().await?\n```", &["list", "shop"]);
        check("let x = ;", &[]);
    }
}

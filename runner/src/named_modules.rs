//! Finds the modules and functions that a snippet may use before anything is compiled, so that information on servers
//! is fetched only for those.

use std::collections::BTreeSet;

use crate::snippet::Snippet;
use crate::tokens::{Kind, Tokens};

/// The names in a snippet before `::` or `(`, and those in its `use` declarations. Empty if its syntax is wrong: then
/// names do not matter.
#[must_use]
pub fn path_heads(code: &str) -> BTreeSet<String> {
    let Ok(snippet) = Snippet::read(code) else { return BTreeSet::new() };
    let tokens = Tokens::read(&snippet.text);
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
    use super::path_heads;

    #[track_caller]
    fn check(code: &str, expected: &[&str]) {
        let heads = path_heads(code);
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

//! Which modules and functions a snippet may mean, read off its text before anything is compiled: whoever has to fetch
//! what is known of a server fetches it for those alone.

use std::collections::BTreeSet;

use crate::snippet::Snippet;
use crate::tokens::{Kind, Tokens};

/// The names in a snippet that stand before `::` or `(`, and those of its `use` declarations. None where its syntax is
/// wrong: then it does not come to names.
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
    fn only_names_that_lead_somewhere_count() {
        check("let files = 1; files + 1", &[]);
        check("let memory = shop::list().await?; memory.orders", &["list", "shop"]);
        check("use {demo, shop as s}; s::list().await?", &["as", "demo", "list", "s", "shop", "use"]);
        check("vec![r#move::go(1)]", &["go", "move"]);
        check("search_tools(\"files\").await?", &["search_tools"]);
        check("```rust\nshop::list().await?\n```", &["list", "shop"]);
        check("let x = ;", &[]);
    }
}

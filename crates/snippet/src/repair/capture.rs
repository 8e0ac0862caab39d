//! The captures of a closure or `async` block: whether `move` can make a difference.

use std::ops::Range;

use super::mutability::{changing, shares_changes};
use crate::hints::Slip;
use crate::tokens::{Kind, Tokens};

/// Whether the closure or `async` block at byte `at` only reads what it captures.
///
/// `move` copies a `Copy` variable, so that changes in the closure affect only its own copy. A variable never declared
/// `mut` does not change, so a copy is as good as a borrow.
pub(super) fn reads_only(slip: &Slip<'_>, at: usize) -> bool {
    let tokens = slip.tokens;
    // For `async`, the suggestion's position is after the word.
    let Some(region) = region(tokens, tokens.at(at)) else { return false };
    let changed: Vec<&str> =
        changing(tokens).filter(|index| !region.contains(index)).map(|index| tokens.word(index)).collect();
    region.clone().all(|index| tokens.word(index).is_empty() || !changed.contains(&tokens.word(index)))
        && !shares_changes(tokens)
}

/// Whether a closure or block that captures by `move` names the variable `name`.
pub(super) fn is_moved(tokens: &Tokens<'_>, name: &str) -> bool {
    let moves = tokens.words().filter(|(_, word)| *word == "move").map(|(index, _)| index);
    moves.into_iter().any(|index| {
        let region = region(tokens, index);
        region.is_none_or(|mut region| region.any(|index| tokens.word(index) == name))
    })
}

/// The tokens of the closure or block that starts at `start`: `async {`, `|a| …`, `move |a| …`.
fn region(tokens: &Tokens<'_>, start: usize) -> Option<Range<usize>> {
    let mut index = start;
    while matches!(tokens.word(index), "async" | "move") {
        index += 1;
    }
    if tokens.is_sign(index, '|') {
        let params = (index + 1..tokens.len()).find(|end| tokens.is_sign(*end, '|'))?;
        index = params + 1;
    }
    if tokens.kind(index) == Some(Kind::Open('{')) {
        return Some(start..tokens.close(index)? + 1);
    }
    // An expression ends with its argument or its statement.
    while let Some(kind) = tokens.kind(index) {
        index = match kind {
            Kind::Open(_) => tokens.close(index)? + 1,
            Kind::Close(_) | Kind::Sign(',' | ';') => break,
            _ => index + 1,
        };
    }
    Some(start..index)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures::Servers;
    use crate::hints::lookup::Lookup;
    use crate::messages::{Message, Source};

    #[test]
    fn a_closure_or_block_ends_where_its_expression_ends() {
        for (whole, after) in [
            ("async { a; b }", "; c"),
            ("async move { a }", " + c"),
            ("|a| a + f(b, c)", ", d"),
            ("|a| [a; 2]", "; c"),
            ("|| a", ""),
            ("move |a, b| { a; b }", ".c"),
            ("|a| async move { a; b }", "; c"),
            ("move || move || a", "; c"),
        ] {
            for before in ["", "f(x, "] {
                let end = if before.is_empty() { "" } else { ")" };
                let text = format!("{before}{whole}{after}{end}");
                let tokens = Tokens::read(&text);
                let region = region(&tokens, tokens.at(before.len())).unwrap();
                let bytes = tokens.range(region.start).start..tokens.range(region.end - 1).end;
                assert_eq!(&text[bytes], whole, "{text}");
            }
        }
    }

    #[test]
    fn a_variable_is_moved_by_a_closure_or_block_that_names_it() {
        for (text, is) in [
            ("move || a + 1; b", true),
            ("f(move |x| x, a)", false),
            ("|| a; move || b", false),
            ("async move { g(a) }", true),
            ("async { a }", false),
        ] {
            assert_eq!(is_moved(&Tokens::read(text), "a"), is, "{text}");
        }
    }

    /// Whether the closure, or what follows `async`, only reads.
    fn only_reads(text: &str) -> bool {
        let message: Message = serde_json::from_value(json!({
            "message": "", "code": null, "level": "error", "spans": [], "children": [],
        }))
        .unwrap();
        let (tokens, catalog) = (Tokens::read(text), Servers::default());
        let lookup = Lookup::new(&catalog, &tokens);
        let source = Source { text, offset: 0, inserted: &[] };
        let at = text.find("||").or_else(|| Some(text.find("async")? + "async".len())).unwrap();
        reads_only(&Slip::new(&message, source, &tokens, &lookup), at)
    }

    #[test]
    fn a_closure_only_reads_variables_that_nothing_changes() {
        for (text, is) in [
            ("let a = 1; f(|| a)", true),
            ("let mut a = 1; f(|| a)", false),
            ("let mut b = 1; f(|| a)", true),
            ("f(|| { let mut a = 1; a })", true),
            ("let a = Cell::new(1); f(|| a)", false),
            ("g(&mut b); f(|| a)", false),
            ("let a = 1; f(async { a })", true),
            ("let mut a = 1; f(async { a })", false),
            ("let mut a = 1; f(async { b }, a)", true),
            ("for b in c.iter_mut() { d(b) } f(|| a)", false),
        ] {
            assert_eq!(only_reads(text), is, "{text}");
        }
    }
}

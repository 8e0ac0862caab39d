//! Where to await a call or unwrap a result: at its use, or where the variable is assigned.
//!
//! `let page = demo::list_orders().await;` with two uses of `page.orders` needs one `?`, not two: the first would
//! consume the value.

use std::collections::BTreeMap;

use super::certain;
use super::edit::Edit;
use crate::tokens::{Kind, Tokens};

/// A suffix to add to an expression: `?`, `.await` or `.await?`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Opening {
    /// Where the expression ends.
    pub(super) at: usize,
    pub(super) text: String,
}

/// Whether an edit adds such a suffix.
pub(super) fn is_opening(edit: &Edit) -> bool {
    edit.start == edit.end && matches!(edit.text.as_str(), "?" | ".await" | ".await?")
}

/// The edits of `openings`: if a variable has no other uses, one edit where it is assigned.
pub(super) fn edits(tokens: &Tokens<'_>, mut openings: Vec<Opening>) -> Vec<Edit> {
    openings.sort();
    openings.dedup();
    let mut groups: BTreeMap<(&str, String), Vec<usize>> = BTreeMap::new();
    let mut edits = Vec::new();
    let edit = |at: usize, text: &str| Edit { start: at, end: at, text: text.to_owned() };
    for Opening { at, text } in openings {
        match variable(tokens, at) {
            Some(name) => groups.entry((name, text)).or_default().push(at),
            None => edits.push(edit(at, &text)),
        }
    }
    for ((name, text), places) in groups {
        match definition(tokens, name, &text, places.len()) {
            Some(at) => edits.push(edit(at, &text)),
            None => edits.extend(places.into_iter().map(|at| edit(at, &text))),
        }
    }
    edits
}

/// The variable that ends at `at`, if only a variable ends there.
fn variable<'a>(tokens: &Tokens<'a>, at: usize) -> Option<&'a str> {
    let index = tokens.at(at).checked_sub(1)?;
    (tokens.range(index).end == at && tokens.is_plain(index)).then(|| tokens.word(index))
}

/// Where the value of the variable `name` ends, if it is assigned once, in a `let` without a type, and used `uses`
/// times.
fn definition(tokens: &Tokens<'_>, name: &str, text: &str, uses: usize) -> Option<usize> {
    let mut value = None;
    let mut found = 0;
    for (index, _) in tokens.words().filter(|(index, word)| *word == name && tokens.is_plain(*index)) {
        let before = |back: usize| index.checked_sub(back).map_or("", |before| tokens.word(before));
        let is_let = before(1) == "let" || (before(1) == "mut" && before(2) == "let");
        let is_field = tokens.is_sign(index + 1, ':');
        match (is_let, is_field) {
            (true, false) if value.is_none() && tokens.is_sign(index + 1, '=') => value = Some(index + 2),
            (true, _) => return None,
            (false, true) => {}
            (false, false) => found += 1,
        }
    }
    (found == uses).then_some(())?;
    end_of_value(tokens, value?, text == "?")
}

/// Where the value that starts at the token `first` ends; only for a call, awaited or not.
fn end_of_value(tokens: &Tokens<'_>, first: usize, is_awaited: bool) -> Option<usize> {
    let last = certain::end_of_statement(tokens, first)?.checked_sub(1).filter(|last| *last >= first)?;
    let fits = match is_awaited {
        true => tokens.word(last) == "await",
        false => tokens.kind(last) == Some(Kind::Close('(')),
    };
    fits.then(|| tokens.range(last).end)
}

#[cfg(test)]
mod tests {
    use super::{Opening, edits};
    use crate::tokens::Tokens;

    /// Adds `opening` at each position marked with `^`.
    #[track_caller]
    fn check(marked: &str, opening: &str, expected: &str) {
        let mut text = String::new();
        let mut openings = Vec::new();
        for part in marked.split_inclusive('^') {
            text.push_str(part.trim_end_matches('^'));
            if part.ends_with('^') {
                openings.push(Opening { at: text.len(), text: opening.to_owned() });
            }
        }
        let tokens = Tokens::read(&text);
        let mut edits = edits(&tokens, openings);
        edits.sort_by_key(|edit| edit.start);
        let mut opened = text.clone();
        for edit in edits.iter().rev() {
            opened.replace_range(edit.start..edit.end, &edit.text);
        }
        assert_eq!(opened, expected);
    }

    #[test]
    fn a_variable_is_opened_where_it_is_assigned() {
        check("let a = f().await;\na^.b; a^.c", "?", "let a = f().await?;\na.b; a.c");
        check("let mut a = f(x);\na^.b", ".await?", "let mut a = f(x).await?;\na.b");
        check("let a = d::f(1).g(|x| 2);\na^?.b", ".await", "let a = d::f(1).g(|x| 2).await;\na?.b");
        check("let a = f().await; X { a: a^ }", "?", "let a = f().await?; X { a: a }");
        check("let a = f().await; X { a: 1, b: g(a^) }", "?", "let a = f().await?; X { a: 1, b: g(a) }");
        check("let a = f().await; g(&mut a^)", "?", "let a = f().await?; g(&mut a)");
        check("x; y; z; let a = f().await; a^.b", "?", "x; y; z; let a = f().await?; a.b");
        check("let a = I { b: 1 }.call(); a^.b", ".await?", "let a = I { b: 1 }.call().await?; a.b");
    }

    #[test]
    fn other_expressions_are_opened_at_their_use() {
        for (marked, opening) in [
            // Another use needs the result.
            ("let a = f().await; a.is_ok(); a^.b", "?"),
            // Ambiguous.
            ("let a = f().await; a^.b; let a = g().await; a^.c", "?"),
            ("let (a, b) = g().await; a^.b", "?"),
            ("let a: A = f().await; a^.b", "?"),
            ("let a = f(); a^.b", "?"),
            ("let a = if x { f() } else { g() }; a^.b", ".await?"),
            ("let a = f() else { return; }; a^.b", ".await?"),
            ("if x { if let a = f().await { y } } g().await; a^.b", "?"),
            ("let a = f().await; a ^.b", "?"),
            ("let a = f().await; x.a^.b; a.c", "?"),
            ("f().await^.b", "?"),
            ("x.a^.b", "?"),
            ("|a| a^.b", "?"),
        ] {
            let text = marked.replace('^', opening);
            check(marked, opening, &text);
        }
    }
}

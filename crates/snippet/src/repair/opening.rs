//! Where to await a call or unwrap a result: at its use, or where the variable is assigned.
//!
//! `let page = demo::list_orders().await;` with two uses of `page.orders` needs one `?`, not two: the first would
//! consume the value. Where the two places differ in the calls that are made, or in their order, nothing is corrected.

use std::collections::BTreeMap;
use std::ops::Range;

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

/// The words that end a snippet, a function or a loop early, or make a call.
const ENDS: [&str; 15] = [
    "abort",
    "assert",
    "assert_eq",
    "assert_ne",
    "await",
    "bail",
    "break",
    "continue",
    "ensure",
    "exit",
    "expect",
    "panic",
    "return",
    "unreachable",
    "unwrap",
];

/// The other words that show when something happens.
const SHOWS: [&str; 8] = ["dbg", "emit", "eprint", "eprintln", "print", "println", "progress", "spawn"];

/// Where a variable is assigned and first used.
struct Variable {
    /// The tokens of its statement.
    statement: Range<usize>,
    /// The token of its first use.
    first_use: usize,
    /// The byte at which its value ends.
    end: usize,
}

/// The edits of `openings`: if a variable has no other uses, one edit where it is assigned. `is_call` says whether a
/// statement, by its tokens, calls a tool.
pub(super) fn edits(
    tokens: &Tokens<'_>,
    mut openings: Vec<Opening>,
    is_call: impl Fn(Range<usize>) -> bool,
) -> Vec<Edit> {
    openings.sort();
    openings.dedup();
    let mut groups: BTreeMap<(usize, String), Vec<usize>> = BTreeMap::new();
    let mut edits = Vec::new();
    for Opening { at, text } in openings {
        match variable(tokens, at).and_then(|index| assignment(tokens, index)) {
            Some(assignment) => groups.entry((assignment, text)).or_default().push(at),
            None => edits.push(Edit::insert(at, text)),
        }
    }
    let mut assigned = Vec::new();
    for ((assignment, text), places) in groups {
        match definition(tokens, assignment, &text, places.len()) {
            Some(variable) => assigned.push((variable, text)),
            None => edits.extend(places.into_iter().map(|at| Edit::insert(at, text.clone()))),
        }
    }
    assigned.sort_by_key(|(variable, _)| variable.statement.start);
    let uses_in_order = assigned.is_sorted_by_key(|(variable, _)| variable.first_use);
    let is_certain = |variable: &Variable| {
        is_unconditional(tokens, variable) && is_quiet(tokens, variable, is_call(variable.statement.clone()))
    };
    let certain = assigned.into_iter().filter(|(variable, _)| uses_in_order && is_certain(variable));
    edits.extend(certain.map(|(variable, text)| Edit::insert(variable.end, text)));
    edits
}

/// The token of the variable that ends at `at`, if only a variable ends there.
fn variable(tokens: &Tokens<'_>, at: usize) -> Option<usize> {
    let index = tokens.at(at).checked_sub(1)?;
    (tokens.range(index).end == at && tokens.is_plain(index)).then_some(index)
}

/// The token of the variable at `index` in the `let` that declares it: the last one before it in a block around it.
fn assignment(tokens: &Tokens<'_>, index: usize) -> Option<usize> {
    let name = tokens.word(index);
    (0..index)
        .rev()
        .filter(|other| tokens.word(*other) == name && tokens.is_declared(*other))
        .find(|other| end_of_block(tokens, *other) > index)
}

/// The token that closes the block around the token at `index`, or the end.
fn end_of_block(tokens: &Tokens<'_>, index: usize) -> usize {
    tokens.enclosing(index).and_then(|open| tokens.close(open)).unwrap_or(tokens.len())
}

/// The variable that the `let` at `assignment` declares, if it has no type, is declared once in its block, and is used
/// `uses` times.
fn definition(tokens: &Tokens<'_>, assignment: usize, text: &str, uses: usize) -> Option<Variable> {
    let name = tokens.word(assignment);
    if !tokens.is_sign(assignment + 1, '=') {
        return None;
    }
    let mut found = Vec::new();
    for index in assignment + 1..end_of_block(tokens, assignment) {
        if tokens.word(index) != name || !tokens.is_plain(index) {
            continue;
        }
        match tokens.is_declared(index) {
            true => return None,
            // A field.
            false if tokens.is_sign(index + 1, ':') => {}
            false => found.push(index),
        }
    }
    let value = Some(assignment + 2).filter(|_| found.len() == uses)?;
    let end = end_of_value(tokens, value, text == "?")?;
    Some(Variable { statement: tokens.statement(value), first_use: *found.first()?, end })
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

/// Whether the first use is reached whenever the variable is assigned: in no branch, loop, closure or `async` block, and
/// behind no `&&` or `||`.
fn is_unconditional(tokens: &Tokens<'_>, variable: &Variable) -> bool {
    let mut inner = variable.first_use;
    while let Some(open) = tokens.enclosing(inner).filter(|open| *open >= variable.statement.end) {
        if tokens.kind(open) == Some(Kind::Open('{')) && !is_literal(tokens, open) {
            return false;
        }
        inner = open;
    }
    let start = tokens.statement(variable.first_use).start.max(variable.statement.end);
    let is_and = |index: usize| tokens.is_sign(index, '&') && tokens.is_sign(index + 1, '&');
    !(start..variable.first_use).any(|index| tokens.is_sign(index, '|') || is_and(index))
}

/// Whether a brace opens a literal of a struct or of JSON, and no block.
fn is_literal(tokens: &Tokens<'_>, open: usize) -> bool {
    let Some(before) = open.checked_sub(1) else { return false };
    if matches!(tokens.kind(before), Some(Kind::Open('(' | '[') | Kind::Sign(',' | ':'))) {
        return true;
    }
    // `if a == B {` opens a block.
    let mut path = before;
    while !tokens.qualifier(path).is_empty() {
        path -= 3;
    }
    let starts = match path.checked_sub(1) {
        Some(start) => match tokens.kind(start) {
            Some(Kind::Word) => matches!(tokens.word(start), "return" | "break"),
            Some(Kind::Sign(sign)) => {
                matches!(sign, '=' | ';' | ',' | ':' | '&') && !is_comparison(tokens, start)
            }
            _ => true,
        },
        None => true,
    };
    starts && tokens.word(before).starts_with(char::is_uppercase)
}

/// Whether the `=` at the token `index` ends a comparison.
fn is_comparison(tokens: &Tokens<'_>, index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| tokens.kind(before));
    tokens.is_sign(index, '=') && matches!(before, Some(Kind::Sign('=' | '!' | '<' | '>')))
}

/// Whether nothing between the assignment and the first use would happen in another order, or not at all, with the
/// correction at the other place.
fn is_quiet(tokens: &Tokens<'_>, variable: &Variable, is_call: bool) -> bool {
    !(variable.statement.end..variable.first_use).any(|index| {
        let word = tokens.word(index);
        ENDS.contains(&word) || tokens.is_sign(index, '?') || (!is_call && SHOWS.contains(&word))
    })
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
        let mut edits = edits(&tokens, openings, |statement| !tokens.word(statement.start).is_empty());
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
            ("let a = f().await; a^.b; let a = g().await; a.c", "?"),
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
    /// Where the value may be needed or not, or something else happens before, there are two meanings.
    #[test]
    fn a_variable_is_not_opened_if_that_changes_what_happens() {
        for marked in [
            "let a = f(); if x { a^.b }",
            "let a = f(); match x { 1 => a^.b, _ => 0 }",
            "let a = f(); match x { 1 => { a^.b } _ => 0 }",
            "let a = f(); let y = x && a^.b;",
            "let a = f(); g().await?; a^.b",
            "let a = f(); if x { return; } a^.b",
            "let a = f(); let y = g()?; a^.b",
            "let a = f(); ensure!(x); a^.b",
            "let a = f(); let c = f(); c^.b; a^.b",
            "let a = f(); for x in y { a^.b }",
            "let a = f(); let c = || a^.b;",
            "let a = f(); let c = |x| { a^.b };",
            "let a = f(); let c = async { a^.b };",
            "let a = f(); let c = async move { a^.b };",
        ] {
            check(marked, ".await?", &marked.replace('^', ""));
        }
        check("let a = f().await; g().await?; a^.b", "?", "let a = f().await; g().await?; a.b");
        for (marked, expected) in [
            ("let a = f(); for x in a^.b { }", "let a = f().await?; for x in a.b { }"),
            ("let a = f(); json!({ x: a^.b })", "let a = f().await?; json!({ x: a.b })"),
            ("let a = f(); if a^.b { a^.c }", "let a = f().await?; if a.b { a.c }"),
            ("let a = f(); let c = f(); a^.b; c^.b", "let a = f().await?; let c = f().await?; a.b; c.b"),
            (
                "{ let a = f(); a^.b } { let a = g(); a.c }",
                "{ let a = f().await?; a.b } { let a = g(); a.c }",
            ),
            ("let a = f(); println!(\"x\"); a^.b", "let a = f().await?; println!(\"x\"); a.b"),
        ] {
            check(marked, ".await?", expected);
        }
    }
}

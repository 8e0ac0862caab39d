//! Slips that the compiler knows the correction of, corrected before the snippet is compiled once more.
//!
//! A correction that is not certain is no correction: the compiler's message is the answer then. Applied is what rustc
//! suggests and can mean only one thing (`repair/suggested.rs`), and what follows from how tools are called
//! (`repair/own.rs`). Never a name: a tool that sounds alike does something else. docs/corrections.md lists all.

mod capture;
pub(crate) mod certain;
mod finish;
mod mismatch;
mod numbers;
mod opening;
mod own;
mod rounds;
mod suggested;

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::hints::imports;
use crate::hints::lookup::Lookup;
use crate::hints::{self, Slip};
use crate::messages::{Source, errors, warnings};
use crate::outcome::Fix;
use crate::snippet::Snippet;
use crate::splice::{Changes, Corrected, Finish, Spliced};
use crate::tokens::Tokens;
use opening::Opening;

/// A corrected text.
#[derive(Debug, Clone)]
pub(crate) struct Repaired {
    /// The snippet's text with the corrections.
    pub(crate) text: String,
    /// What is compiled in place of the snippet.
    pub(crate) changes: Changes,
    /// The lines that were changed.
    pub(crate) fixes: Vec<Fix>,
    /// What was replaced in the snippet's text, in its order.
    edits: Vec<Edit>,
    copying: Copying,
}

/// What corrections do to variables and their values.
#[derive(Debug, Clone, Copy, Default)]
struct Copying {
    /// A variable becomes one that changes.
    makes_mut: bool,
    /// A copy of a value is taken.
    copies: bool,
}

/// A replacement of bytes in the snippet's text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edit {
    start: usize,
    end: usize,
    text: String,
}

impl Edit {
    fn insert(at: usize, text: impl Into<String>) -> Self {
        Edit { start: at, end: at, text: text.into() }
    }
}

/// Most corrections of one text: what has more is not a slip.
const EDITS_LIMIT: usize = 500;

/// Errors of values that outlive what they borrow from.
const BORROWED: [&str; 3] = ["E0515", "E0597", "E0716"];

/// What may be compiled after the compiler's `messages` about `snippet`, as spliced: the first that compiles is taken.
pub(crate) fn attempts(
    messages: &str,
    snippet: &Snippet,
    spliced: &Spliced,
    catalog: &Catalog,
) -> Vec<Repaired> {
    let repaired = repair(messages, snippet, spliced, catalog);
    let finishes = finish::others(messages, snippet, spliced);
    let unchanged = || applied(&snippet.text, Vec::new(), String::new());
    let base = repaired.clone().unwrap_or_else(unchanged);
    with_finishes(repaired.is_some(), base, finishes)
}

/// What may be compiled after the compiler's `messages` about `corrected`, as spliced, which is `snippet` as `repaired`: the
/// same with more corrections. A message may show only when others are gone.
pub(crate) fn further(
    messages: &str,
    snippet: &Snippet,
    repaired: &Repaired,
    corrected: &Snippet,
    spliced: &Spliced,
    catalog: &Catalog,
) -> Vec<Repaired> {
    let next = repair(messages, corrected, spliced, catalog);
    let finishes = finish::others(messages, corrected, spliced);
    let is_repaired = next.is_some();
    let base = match next {
        Some(next) => repaired.then(&snippet.text, &next),
        None => Some(repaired.clone()),
    };
    base.map_or_else(Vec::new, |base| with_finishes(is_repaired, base, finishes))
}

/// `base`, if anything `is_repaired` in it, and `base` with its last value taken in other ways.
fn with_finishes(is_repaired: bool, base: Repaired, finishes: Vec<Finish>) -> Vec<Repaired> {
    let with = |finish| Repaired { changes: Changes { finish, ..base.changes.clone() }, ..base.clone() };
    let finishes: Vec<Repaired> = finishes.into_iter().map(with).collect();
    is_repaired.then_some(base).into_iter().chain(finishes).collect()
}

impl Repaired {
    /// The same with what `next` changes of it; `text` is the snippet's.
    fn then(&self, text: &str, next: &Repaired) -> Option<Repaired> {
        let copying = Copying {
            makes_mut: self.copying.makes_mut || next.copying.makes_mut,
            copies: self.copying.copies || next.copying.copies,
        };
        let edits = rounds::composed(&self.text, &self.edits, &next.edits);
        if copying.loses_changes() || edits.len() > EDITS_LIMIT {
            return None;
        }
        let imports = format!("{}{}", self.changes.imports, next.changes.imports);
        let mut both = applied(text, edits, imports);
        both.changes.tail_in_place = self.changes.tail_in_place || next.changes.tail_in_place;
        both.changes.finish = self.changes.finish;
        both.copying = copying;
        Some(both)
    }
}

/// `snippet` with what the compiler's `messages` about it, as spliced, suggest; `None` where nothing is to be done.
pub(crate) fn repair(
    messages: &str,
    snippet: &Snippet,
    spliced: &Spliced,
    catalog: &Catalog,
) -> Option<Repaired> {
    let text = snippet.text.as_str();
    let source = Source::new(text, spliced);
    let tokens = Tokens::read(text);
    let lookup = Lookup::new(catalog, &tokens);
    let mut collected = Collected::default();
    let mut tail_in_place = false;
    collected.add_unmade(&tokens, &lookup);
    for message in errors(messages).take(EDITS_LIMIT) {
        tail_in_place |= BORROWED.contains(&message.code());
        let slip = Slip::new(&message, source, &tokens, &lookup);
        if let Some(path) =
            imports::candidates(&slip).filter(|found| found.sure).and_then(|mut found| found.paths.pop())
        {
            collected.imports.insert(path);
        } else if let Some(edits) = own::edits(&slip, snippet.tail.as_ref()) {
            collected.add(edits);
        } else if let Some(edits) = message.children.iter().find_map(|child| suggested::edits(&slip, child)) {
            collected.add(edits);
        }
    }
    let Collected { edits, openings, imports } = collected;
    let mut edits = edits;
    add(&mut edits, opening::edits(&tokens, openings));
    if (edits.is_empty() && imports.is_empty() && !tail_in_place) || edits.len() > EDITS_LIMIT {
        return None;
    }
    let copying = Copying::of(&tokens, &edits);
    if copying.loses_changes() {
        return None;
    }
    let imports: String = imports.iter().map(|path| format!("use {path}; ")).collect();
    let mut repaired = applied(text, edits, imports);
    repaired.changes.tail_in_place = tail_in_place;
    repaired.copying = copying;
    Some(repaired)
}

impl Copying {
    fn of(tokens: &Tokens<'_>, edits: &[Edit]) -> Self {
        let makes_mut = |edit: &Edit| {
            let before = tokens.at(edit.start).checked_sub(1);
            edit.text == "mut " && before.is_some_and(|before| tokens.word(before) == "let")
        };
        let copies = |edit: &Edit| {
            matches!(edit.text.trim(), "move" | ".clone()" | ".cloned()" | ".copied()" | ".to_vec()")
        };
        Copying { makes_mut: edits.iter().any(makes_mut), copies: edits.iter().any(copies) }
    }

    /// Whether some corrections make a variable one that changes, and others take copies: each is certain alone, and
    /// together they may lose a change.
    fn loses_changes(self) -> bool {
        self.makes_mut && self.copies
    }
}

/// Whether the compiler warns, in a `corrected` text, of a value that must be used and that a correction drops.
pub(crate) fn drops(messages: &str, corrected: &str, spliced: &Spliced, changes: &Changes) -> bool {
    let source = Source::new(corrected, spliced);
    let is_of_correction = |range: std::ops::Range<usize>| {
        changes.corrected.iter().any(|place| (range.start..=range.end).contains(&place.at))
    };
    warnings(messages)
        .filter(|message| message.code() == "unused_must_use")
        .any(|message| message.primary().and_then(|span| source.range(span)).is_some_and(is_of_correction))
}

/// What may be compiled in place of a `snippet` that compiles, as spliced: with the calls awaited that would never be made,
/// by the compiler's `messages` and by the variables that nothing reads. None where there are none.
pub(crate) fn unmade(
    messages: &str,
    snippet: &Snippet,
    spliced: &Spliced,
    catalog: &Catalog,
) -> Vec<Repaired> {
    let calls = hints::unmade::warned(messages, Source::new(&snippet.text, spliced), catalog);
    let mut edits = Vec::new();
    for call in calls.into_iter().take(EDITS_LIMIT) {
        add(&mut edits, vec![Edit::insert(call.range.end, call.correction())]);
    }
    let warned = edits.clone();
    let idle =
        snippet.idle.iter().filter(|idle| idle.is_certain && hints::unmade::tool(idle, catalog).is_some());
    for call in idle {
        add(&mut edits, vec![Edit::insert(call.range.end, ".await?")]);
    }
    // A variable may be one of a closure, where nothing can be awaited.
    let mut attempts = vec![edits, warned];
    attempts.dedup();
    let repaired = |edits: Vec<Edit>| applied(&snippet.text, edits, String::new());
    attempts.into_iter().filter(|edits| !edits.is_empty()).map(repaired).collect()
}

/// `text` with `edits`, behind `imports`.
fn applied(text: &str, mut edits: Vec<Edit>, imports: String) -> Repaired {
    edits.sort_by_key(|edit| edit.start);
    let mut repaired = text.to_owned();
    for edit in edits.iter().rev() {
        repaired.replace_range(edit.start..edit.end, &edit.text);
    }
    let mut corrected = Vec::new();
    // Bytes that the edits before have added, less those that they have removed.
    let mut shift = 0_isize;
    for edit in &edits {
        let before = text.get(edit.start..edit.end).unwrap_or("");
        corrected.push(Corrected {
            at: edit.start.saturating_add_signed(shift),
            added: edit.text.chars().count(),
            removed: before.chars().count(),
        });
        shift += edit.text.len().cast_signed() - before.len().cast_signed();
    }
    let fixes = fixes(text, &repaired, &imports);
    let changes = Changes { imports, corrected, ..Changes::default() };
    Repaired { text: repaired, changes, fixes, edits, copying: Copying::default() }
}

/// What the messages about a text lead to.
#[derive(Default)]
struct Collected {
    edits: Vec<Edit>,
    openings: Vec<Opening>,
    imports: BTreeSet<String>,
}

impl Collected {
    fn add_unmade(&mut self, tokens: &Tokens<'_>, lookup: &Lookup<'_>) {
        let places = hints::unmade::unmade(tokens, lookup).into_iter().take(EDITS_LIMIT);
        self.edits.extend(places.map(|call| Edit::insert(call.range.end, ".await?")));
    }

    fn add(&mut self, edits: Vec<Edit>) {
        match &edits[..] {
            [only] if opening::is_opening(only) => {
                self.openings.push(Opening { at: only.start, text: only.text.clone() });
            }
            // More are not applied anyway.
            _ if self.edits.len() <= EDITS_LIMIT => add(&mut self.edits, edits),
            _ => {}
        }
    }
}

/// Adds a correction as a whole. Of two for one place the first is taken: often both are the same.
fn add(edits: &mut Vec<Edit>, more: Vec<Edit>) {
    let is_free = |edit: &Edit| edits.iter().all(|other| edit.end < other.start || other.end < edit.start);
    if more.iter().all(is_free) {
        edits.extend(more);
    }
}

/// The lines that differ, with what is imported before the first.
fn fixes(before: &str, after: &str, imports: &str) -> Vec<Fix> {
    let lines = before.split('\n').zip(after.split('\n')).zip(1..);
    let mut fixes = Vec::new();
    for ((before, after), line) in lines {
        let after = if line == 1 { format!("{imports}{after}") } else { after.to_owned() };
        if before != after {
            fixes.push(Fix { line, before: before.to_owned(), after: after.trim_end().to_owned() });
        }
    }
    fixes
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use serde_json::{Value, json};

    use super::{Repaired, repair};
    use crate::catalog::Catalog;
    use crate::snippet::Snippet;
    use crate::splice::{Changes, splice};

    const CERTAIN: &str = "MachineApplicable";
    const GUESS: &str = "MaybeIncorrect";
    const GAPS: &str = "HasPlaceholders";

    /// A place in the file that the compiler reads: with a label, or with what a suggestion puts there.
    fn span(offset: usize, place: Range<usize>, label: &str, suggestion: Option<(&str, &str)>) -> Value {
        json!({
            "file_name": "snippet.rs", "byte_start": offset + place.start, "byte_end": offset + place.end,
            "line_start": 1, "line_end": 1, "column_start": 1, "column_end": 1, "is_primary": true,
            "label": label, "suggested_replacement": suggestion.map(|(text, _)| text),
            "suggestion_applicability": suggestion.map(|(_, applicability)| applicability), "expansion": null,
        })
    }

    /// What is made of `text` with one error: its code, message, place and label, and one suggestion in parts.
    fn mended(
        text: &str,
        (code, message): (&str, &str),
        (place, label): (&str, &str),
        parts: &[(Range<usize>, &str, &str)],
    ) -> Option<Repaired> {
        let snippet = Snippet::read(text).unwrap();
        let spliced = splice(&snippet, &Changes::default());
        let offset = spliced.offset as usize;
        let start = text.find(place).unwrap();
        let own = |text: &str| if text.starts_with("use ") { 0 } else { offset };
        let parts =
            parts.iter().map(|(range, text, kind)| span(own(text), range.clone(), "", Some((text, kind))));
        let help = json!({
            "message": "try this", "code": null, "level": "help", "spans": parts.collect::<Vec<_>>(), "children": [],
        });
        let error = json!({
            "message": message, "code": { "code": code }, "level": "error",
            "spans": [span(offset, start..start + place.len(), label, None)], "children": [help],
        });
        repair(&error.to_string(), &snippet, &spliced, &Catalog::default())
    }

    /// The text that is made of `text` with a suggestion to replace the first `place` in it.
    fn replaced(text: &str, code: &str, place: &str, new: &str, applicability: &str) -> Option<String> {
        let start = text.find(place).unwrap();
        let part = (start..start + place.len(), new, applicability);
        mended(text, (code, "it is wrong"), (place, ""), &[part]).map(|repaired| repaired.text)
    }

    #[test]
    fn what_is_certain_is_applied_and_told() {
        let part = (13..13, "&", CERTAIN);
        let repaired = mended("let n = 1;\nf(n)", ("E0308", "wrong"), ("n)", ""), &[part]).unwrap();
        assert_eq!(repaired.text, "let n = 1;\nf(&n)");
        let fix = &repaired.fixes[0];
        assert_eq!((fix.line, fix.before.as_str(), fix.after.as_str()), (2, "f(n)", "f(&n)"));
        assert_eq!(
            (repaired.fixes.len(), repaired.changes.imports.as_str(), repaired.changes.tail_in_place),
            (1, "", false)
        );
    }

    #[test]
    fn what_no_rule_knows_is_not_applied() {
        let text = "demo::get_custmer(1)";
        for applicability in [CERTAIN, GUESS] {
            for (code, place, new) in [
                ("E0425", "get_custmer", "get_customer"),
                ("E0425", "get_custmer", ".await"),
                ("E0308", "get_custmer", "unwrap()"),
                ("E0308", "get_custmer", "a\nb"),
                ("E0308", ")", ".try_into().unwrap()"),
                ("E0308", ")", " as u32)"),
                ("E0505", ")", ".clone()"),
                ("E0600", "1", "u32::MAX"),
            ] {
                assert_eq!(replaced(text, code, place, new, applicability), None, "{code} {new}");
            }
        }
        assert_eq!(replaced(text, "E0308", "1", "?", GAPS), None);
        assert_eq!(replaced(text, "E0282", "1", "::<T, E>", GAPS), None);
        let parts = [(18..18, "Some(", GUESS), (19..19, ")", GUESS)];
        let label = "expected `Option<i32>`, found integer";
        let some = mended(text, ("E0308", "wrong"), ("1", label), &parts).unwrap();
        assert_eq!(some.text, "demo::get_custmer(Some(1))");
        assert_eq!(replaced("demo.echo()", "E0423", ".", "::", GUESS).as_deref(), Some("demo::echo()"));
    }

    /// Whatever the compiler thinks of it: what sounds alike does something else.
    #[test]
    fn a_name_is_never_replaced_by_another() {
        for code in ["E0425", "E0432", "E0433", "E0560", "E0599", "E0609"] {
            assert_eq!(replaced("a.list_order", code, "list_order", "list_orders", CERTAIN), None, "{code}");
        }
    }

    #[test]
    fn alternatives_and_halves_are_not_applied() {
        let text = "f(n)";
        let parts = [(2..3, "&n", CERTAIN), (2..3, "*n", CERTAIN)];
        assert!(mended(text, ("E0308", "wrong"), ("n", ""), &parts).is_none());
        let parts = [(2..2, "Some(", GUESS), (3..3, ".other()", GUESS)];
        assert!(mended(text, ("E0308", "wrong"), ("n", ""), &parts).is_none());
    }

    #[test]
    fn gaps_are_filled_where_one_thing_fits() {
        let text = "Ok(1)";
        let part = (2..2, "::<i32, E>", GAPS);
        let repaired = mended(text, ("E0282", "wrong"), ("Ok", ""), &[part]).unwrap();
        assert_eq!(repaired.text, "Ok::<_, ::anyhow::Error>(1)");
        let part = (16..16, " Ok(/* value */)", GAPS);
        let repaired = mended("if true { return; }", ("E0069", "wrong"), ("return", ""), &[part]).unwrap();
        assert_eq!(repaired.text, "if true { return Ok(()); }");
    }

    #[test]
    fn results_of_calls_are_opened_and_others_are_not() {
        let label = |error: &str| format!("expected `Order`, found `Result<Order, {error}>`");
        let opened = |error: &str| {
            let part = (24..24, "?", GAPS);
            mended(
                "let a = f().await;\nsee(a)",
                ("E0308", "mismatched types"),
                ("a)", &label(error)),
                &[part],
            )
        };
        assert_eq!(opened("ToolError").unwrap().text, "let a = f().await?;\nsee(a)");
        assert!(opened("ParseIntError").is_none());
        let field = |error: &str| {
            let message = format!("no field `id` on type `Result<Order, {error}>`");
            mended(
                "f().await.id",
                ("E0609", &message),
                ("id", "unknown field"),
                &[(10..10, "unwrap().", GUESS)],
            )
        };
        assert_eq!(field("ToolError").unwrap().text, "f().await?.id");
        assert!(field("ParseIntError").is_none());
    }

    /// With `;` it would compile, and a failure would never be told.
    #[test]
    fn failures_are_not_dropped() {
        let part = || (20..20, ";", CERTAIN);
        let found =
            |label| mended("if true { f(x).await }", ("E0308", "wrong"), ("f(x).await", label), &[part()]);
        let repaired = found("expected `()`, found `Result<Order, ToolError>`").unwrap();
        assert_eq!(repaired.text, "if true { f(x).await?; }");
        for other in ["Order", "Result<(), Error>", "impl Future<Output = ()>", "JoinHandle<i32>", "i32"] {
            let label = format!("expected `()`, found `{other}`");
            let part = (20..20, ";", CERTAIN);
            let text = "if true { f(x).await }";
            assert!(mended(text, ("E0308", "wrong"), ("f(x).await", &label), &[part]).is_none(), "{other}");
        }
    }

    #[test]
    fn imports_stand_before_the_first_line() {
        let part = |path| (0..0, path, GUESS);
        let found = |name: &str, parts: &[(Range<usize>, &str, &str)]| {
            let message = format!("cannot find type `{name}` in this scope");
            mended(
                &format!("let a = 1;\n{name}::new(a)"),
                ("E0433", &message),
                (name, "undeclared type"),
                parts,
            )
        };
        let repaired = found("Arc", &[part("use std::sync::Arc;\n")]).unwrap();
        assert_eq!(
            (repaired.text.as_str(), repaired.changes.imports.as_str()),
            ("let a = 1;\nArc::new(a)", "use std::sync::Arc; ")
        );
        let fix = &repaired.fixes[0];
        assert_eq!((fix.line, fix.after.as_str()), (1, "use std::sync::Arc; let a = 1;"));
        let both = [part("use std::cmp::Ordering;\n"), part("use std::sync::atomic::Ordering;\n")];
        assert!(found("Ordering", &both).is_none(), "which one?");
        assert!(found("Thing", &[part("use futures_util::thing::Thing;\n")]).is_none(), "not on offer");
        assert!(found("Thing", &[]).is_none());
        assert!(found("sleep", &[part("use std::thread::sleep;\n")]).is_none(), "a function may be another");
    }

    #[test]
    fn lists_of_texts_are_corrected_as_a_whole() {
        let label = ("\"b\"", "expected `String`, found `&str`");
        let text = "let a: Vec<String> = vec![\"b\", \"c\"];";
        let part = (29..29, ".to_string()", GUESS);
        let repaired =
            mended(text, ("E0308", "mismatched types"), label, std::slice::from_ref(&part)).unwrap();
        assert_eq!(repaired.text, "let a: Vec<String> = vec![\"b\".to_string(), \"c\".to_string()];");
        let text = text.replace("\"c\"", "c()");
        let repaired = mended(&text, ("E0308", "mismatched types"), label, &[part]).unwrap();
        assert_eq!(repaired.text, "let a: Vec<String> = vec![\"b\".to_string(), c()];");
    }

    #[test]
    fn nothing_outside_the_snippet_is_touched() {
        assert_eq!(replaced("a[0]", "E0608", "[0]", ".0", CERTAIN).as_deref(), Some("a.0"));
        let outside = |range| mended("1", ("E0308", "wrong"), ("1", ""), &[(range, "&", CERTAIN)]);
        assert!(outside(9..9).is_none());
        // Before the text stands the wrapper.
        let before = mended("1", ("E0308", "wrong"), ("1", ""), &[(0..0, "use x", CERTAIN)]);
        assert!(before.is_none());
    }

    #[test]
    fn a_tail_that_borrows_is_taken_where_it_is() {
        let repaired =
            mended("a.trim()", ("E0597", "wrong"), ("a", ""), &[(0..1, "b", "Unspecified")]).unwrap();
        assert_eq!((repaired.text.as_str(), repaired.changes.tail_in_place), ("a.trim()", true));
    }
}

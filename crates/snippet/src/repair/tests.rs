mod recorded;
mod rules;

use std::ops::Range;

use serde_json::{Value, json};

use super::edit::Edit;
use super::{EDITS_LIMIT, Repaired, applied, further, repair};
use crate::catalog::Catalog;
use crate::fixtures::Servers;
use crate::snippet::Snippet;
use crate::splice::{Changes, splice};

const CERTAIN: &str = "MachineApplicable";
const GUESS: &str = "MaybeIncorrect";
const GAPS: &str = "HasPlaceholders";

/// A span in the compiled file, with a label or a suggested replacement.
fn span(offset: usize, place: Range<usize>, label: &str, suggestion: Option<(&str, &str)>) -> Value {
    json!({
        "file_name": "snippet.rs", "byte_start": offset + place.start, "byte_end": offset + place.end,
        "line_start": 1, "line_end": 1, "column_start": 1, "column_end": 1, "is_primary": true,
        "label": label, "suggested_replacement": suggestion.map(|(text, _)| text),
        "suggestion_applicability": suggestion.map(|(_, applicability)| applicability), "expansion": null,
    })
}

/// Applies one error to `text`: its code, message, span and label, and one suggestion in parts.
fn mended(
    text: &str,
    (code, message): (&str, &str),
    (place, label): (&str, &str),
    parts: &[(Range<usize>, &str, &str)],
) -> Option<Repaired> {
    let snippet = Snippet::read(text).unwrap();
    let spliced = splice(&snippet, &Changes::default(), &[]);
    let offset = spliced.offset as usize;
    let start = text.find(place).unwrap();
    let parts = parts.iter().map(|(range, text, kind)| {
        span(if text.starts_with("use ") { 0 } else { offset }, range.clone(), "", Some((text, kind)))
    });
    let help = json!({
        "message": "try this", "code": null, "level": "help", "spans": parts.collect::<Vec<_>>(), "children": [],
    });
    let error = json!({
        "message": message, "code": { "code": code }, "level": "error",
        "spans": [span(offset, start..start + place.len(), label, None)], "children": [help],
    });
    repair(&error.to_string(), &snippet, &spliced, &Servers::default())
}

/// Applies `errors`, each with its code and what it suggests to insert, to `text`.
fn repaired(text: &str, errors: &[(&str, &[(usize, &str)])], catalog: &dyn Catalog) -> Option<Repaired> {
    let snippet = Snippet::read(text).unwrap();
    let spliced = splice(&snippet, &Changes::default(), &[]);
    repair(&suggesting(spliced.offset as usize, errors), &snippet, &spliced, catalog)
}

/// The compiler's lines for `errors`.
fn suggesting(offset: usize, errors: &[(&str, &[(usize, &str)])]) -> String {
    let error = |(code, parts): &(&str, &[(usize, &str)])| {
        let help = json!({
            "message": "try this", "code": null, "level": "help", "children": [],
            "spans": parts
                .iter()
                .map(|(at, text)| span(offset, *at..*at, "", Some((text, CERTAIN))))
                .collect::<Vec<_>>(),
        });
        let place = parts.first().map_or(0, |(at, _)| *at);
        let primary = span(offset, place..place + 1, "value used here after move", None);
        let typed = span(offset, place..place + 1, "move occurs because it has type `Vec<i32>`", None);
        let error = json!({
            "message": "wrong", "code": { "code": code }, "level": "error", "spans": [primary, typed],
            "children": [help],
        });
        format!("{error}\n")
    };
    errors.iter().map(error).collect()
}

/// Applies a suggestion that replaces the first `place` in `text`.
fn replaced(text: &str, code: &str, place: &str, new: &str, applicability: &str) -> Option<String> {
    let start = text.find(place).unwrap();
    let part = (start..start + place.len(), new, applicability);
    mended(text, (code, "it is wrong"), (place, ""), &[part]).map(|repaired| repaired.text)
}

#[test]
fn certain_suggestions_are_applied_and_reported() {
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
fn unknown_suggestions_are_not_applied() {
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

/// Even if the compiler suggests it: a similar name means something else.
#[test]
fn names_are_never_replaced() {
    for code in ["E0425", "E0432", "E0433", "E0560", "E0599", "E0609"] {
        assert_eq!(replaced("a.list_order", code, "list_order", "list_orders", CERTAIN), None, "{code}");
    }
}

#[test]
fn alternatives_and_incomplete_suggestions_are_not_applied() {
    let text = "f(n)";
    let parts = [(2..3, "&n", CERTAIN), (2..3, "*n", CERTAIN)];
    assert!(mended(text, ("E0308", "wrong"), ("n", ""), &parts).is_none());
    let parts = [(2..2, "Some(", GUESS), (3..3, ".other()", GUESS)];
    assert!(mended(text, ("E0308", "wrong"), ("n", ""), &parts).is_none());
}

#[test]
fn placeholders_are_filled_if_only_one_thing_fits() {
    let text = "Ok(1)";
    let part = (2..2, "::<i32, E>", GAPS);
    let repaired = mended(text, ("E0282", "wrong"), ("Ok", ""), &[part]).unwrap();
    assert_eq!(repaired.text, "Ok::<_, ::anyhow::Error>(1)");
    let part = (16..16, " Ok(/* value */)", GAPS);
    let repaired = mended("if true { return; }", ("E0069", "wrong"), ("return", ""), &[part]).unwrap();
    assert_eq!(repaired.text, "if true { return Ok(()); }");
}

#[test]
fn only_results_of_calls_are_opened() {
    let label = |error: &str| format!("expected `Order`, found `Result<Order, {error}>`");
    let opened = |error: &str| {
        let part = (24..24, "?", GAPS);
        mended("let a = f().await;\nsee(a)", ("E0308", "mismatched types"), ("a)", &label(error)), &[part])
    };
    assert_eq!(opened("ToolError").unwrap().text, "let a = f().await?;\nsee(a)");
    assert!(opened("ParseIntError").is_none());
    let field = |error: &str| {
        let message = format!("no field `id` on type `Result<Order, {error}>`");
        mended("f().await.id", ("E0609", &message), ("id", "unknown field"), &[(10..10, "unwrap().", GUESS)])
    };
    assert_eq!(field("ToolError").unwrap().text, "f().await?.id");
    assert!(field("ParseIntError").is_none());
}

/// With `;` it would compile, but lose the failure.
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
fn imports_go_before_the_first_line() {
    let part = |path| (0..0, path, GUESS);
    let found = |name: &str, parts: &[(Range<usize>, &str, &str)]| {
        let message = format!("cannot find type `{name}` in this scope");
        mended(&format!("let a = 1;\n{name}::new(a)"), ("E0433", &message), (name, "undeclared type"), parts)
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
    assert!(found("Thing", &[part("use futures_util::thing::Thing;\n")]).is_none(), "not available");
    assert!(found("Thing", &[]).is_none());
    assert!(found("sleep", &[part("use std::thread::sleep;\n")]).is_none(), "a function may be another");
}

#[test]
fn lists_of_strings_are_corrected_as_a_whole() {
    let label = ("\"b\"", "expected `String`, found `&str`");
    let text = "let a: Vec<String> = vec![\"b\", \"c\"];";
    let part = (29..29, ".to_string()", GUESS);
    let repaired = mended(text, ("E0308", "mismatched types"), label, std::slice::from_ref(&part)).unwrap();
    assert_eq!(repaired.text, "let a: Vec<String> = vec![\"b\".to_string(), \"c\".to_string()];");
    let text = text.replace("\"c\"", "c()");
    let repaired = mended(&text, ("E0308", "mismatched types"), label, &[part]).unwrap();
    assert_eq!(repaired.text, "let a: Vec<String> = vec![\"b\".to_string(), c()];");
}

#[test]
fn edits_outside_the_snippet_are_refused() {
    assert_eq!(replaced("a[0]", "E0608", "[0]", ".0", CERTAIN).as_deref(), Some("a.0"));
    assert!(mended("1", ("E0308", "wrong"), ("1", ""), &[(9..9, "&", CERTAIN)]).is_none());
    // The wrapper is before the text.
    let before = mended("1", ("E0308", "wrong"), ("1", ""), &[(0..0, "use x", CERTAIN)]);
    assert!(before.is_none());
}

#[test]
fn a_borrowing_tail_is_taken_in_place() {
    let repaired = mended("a.trim()", ("E0597", "wrong"), ("a", ""), &[(0..1, "b", "Unspecified")]).unwrap();
    assert_eq!((repaired.text.as_str(), repaired.changes.tail_in_place), ("a.trim()", true));
}

#[test]
fn errors_are_corrected_in_any_order() {
    let errors: [(&str, &[_]); 3] = [("E0308", &[(5, "&")]), ("E0308", &[(2, "&")]), ("E0308", &[(5, "&")])];
    assert_eq!(repaired("f(a, b)", &errors, &Servers::default()).unwrap().text, "f(&a, &b)");
}

#[test]
fn unmade_calls_are_awaited_with_other_corrections() {
    let catalog = Servers::demo();
    let text = "demo::echo(\"a\");\nf(a)";
    let found = repaired(text, &[("E0308", &[(19, "&")])], &catalog).unwrap();
    assert_eq!(found.text, "demo::echo(\"a\").await?;\nf(&a)");
    assert!(
        repaired(text, &[("E0308", &[(19, "&")])], &Servers::default()).unwrap().text.ends_with("\nf(&a)")
    );
}

/// The copy would be changed instead of the original.
#[test]
fn variables_do_not_become_mutable_where_others_are_copied() {
    let catalog = Servers::default();
    let found = |text, errors: &[_]| repaired(text, errors, &catalog).map(|repaired| repaired.text);
    let text = "let b = [1]; f(a); g(&b)";
    let copied: (&str, &[_]) = ("E0382", &[(16, ".clone()")]);
    let mutable: (&str, &[_]) = ("E0596", &[(4, "mut ")]);
    let referenced: (&str, &[_]) = ("E0596", &[(22, "mut ")]);
    assert_eq!(found(text, &[mutable, referenced]).unwrap(), "let mut b = [1]; f(a); g(&mut b)");
    assert_eq!(found(text, &[copied, referenced]).unwrap(), "let b = [1]; f(a.clone()); g(&mut b)");
    assert_eq!(found(text, &[copied, mutable]), None);
}

/// Each way by which a value or its copy may change, so that a copy is not as good as the value.
#[test]
fn a_value_is_copied_only_if_neither_it_nor_the_copy_changes() {
    for (text, is_copied) in [
        ("let b = f(a); g(a)", true),
        ("let b = f(a); let c = a; g(c)", true),
        // By means other than `mut`.
        ("let b = f(a); let c = RefCell::new(1); *c.borrow_mut() = 2; g(a)", false),
        ("let b = f(a); let c = Cell::new(1); c.set(2); g(a)", false),
        ("let b = f(a); let c = Mutex::new(1); g(a)", false),
        ("let b = f(a); let c = |x: &mut i32| *x = 1; g(a)", false),
        ("impl Drop for T { fn drop(&self) {} } let b = f(a); g(a)", false),
        // A part of a value changes afterwards.
        ("let b = f(a); b.x = 1; g(a)", false),
        ("let b = f(a); b[0] = 1; g(a)", false),
        ("let b = f(a); b.x += 1; g(a)", false),
        ("let b = f(a); b.list.push(1); g(a)", false),
        ("let b = f(a); a.x = 1; g(a)", false),
        ("let b = f(a); let x = b.x == 1; g(a)", true),
        ("let b = f(a); let x = b.list.len(); g(a)", true),
        // The variable itself, or what takes the copy, is meant to change.
        ("let mut b = f(a); g(a)", false),
        ("let mut a = [1]; let b = f(a); g(a)", false),
        ("let mut n = 1; let b = f(a); g(a)", true),
        ("let mut p = q; let b = f(a); g(a)", false),
        // The copy is called for its effect.
        ("a.send(); g(a)", false),
    ] {
        let at = text.find("f(a)").map_or(1, |at| at + 3);
        let found = repaired(text, &[("E0382", &[(at, ".clone()")])], &Servers::default());
        assert_eq!(found.is_some(), is_copied, "{text}");
        let changed = format!("{}.clone(){}", &text[..at], &text[at..]);
        assert!(found.is_none_or(|found| found.text == changed), "{text}");
    }
}

#[test]
fn more_corrections_than_the_limit_are_no_slip() {
    let text = "f(n);\n".repeat(EDITS_LIMIT);
    let catalog = Servers::default();
    let parts: Vec<[(usize, &str); 2]> =
        (0..EDITS_LIMIT).map(|line| [(line * 6 + 2, "&("), (line * 6 + 3, ")")]).collect();
    let errors = |count: usize| -> Vec<(&str, &[(usize, &str)])> {
        parts.iter().take(count).map(|parts| ("E0308", &parts[..])).collect()
    };
    let half = EDITS_LIMIT / 2;
    assert!(repaired(&text, &errors(half), &catalog).is_some());
    assert!(repaired(&text, &errors(half + 1), &catalog).is_none());
    // The same in two rounds.
    let snippet = Snippet::read(&text).unwrap();
    let first = repaired(&text, &errors(half - 1), &catalog).unwrap();
    let corrected = Snippet::read(&first.text).unwrap();
    let spliced = splice(&corrected, &first.changes, &[]);
    let next = |count: usize| {
        let parts: Vec<[(usize, &str); 1]> = (0..count)
            .map(|line| [(first.text.len() - (EDITS_LIMIT - (half + line)) * 6 + 2, "&")])
            .collect();
        let errors: Vec<(&str, &[_])> = parts.iter().map(|part| ("E0308", &part[..])).collect();
        let messages = suggesting(spliced.offset as usize, &errors);
        further(&messages, &snippet, &first, &corrected, &spliced, &catalog).len()
    };
    assert_eq!((next(1), next(2), next(3)), (1, 1, 0));
}

#[test]
fn a_tail_stays_in_place_in_the_next_round() {
    let snippet = Snippet::read("f(a);\nb.trim()").unwrap();
    let catalog = Servers::default();
    let first = repaired(&snippet.text, &[("E0597", &[])], &catalog).unwrap();
    let spliced = splice(&snippet, &first.changes, &[]);
    let messages = suggesting(spliced.offset as usize, &[("E0308", &[(2, "&")])]);
    let next = further(&messages, &snippet, &first, &snippet, &spliced, &catalog);
    assert_eq!((next[0].text.as_str(), next[0].changes.tail_in_place), ("f(&a);\nb.trim()", true));
}

#[test]
fn corrections_have_their_positions_in_the_corrected_text() {
    let edits = [(0, 1, "long"), (3, 3, "&"), (5, 7, "")].map(|(start, end, text)| Edit {
        start,
        end,
        text: text.to_owned(),
    });
    let repaired = applied("a + b + c", edits.to_vec(), String::new());
    assert_eq!(repaired.text, "long +& b c");
    let places = repaired.changes.corrected.iter().map(|place| (place.at, place.added, place.removed));
    assert_eq!(places.collect::<Vec<_>>(), [(0, 4, 1), (6, 1, 0), (9, 0, 2)]);
}

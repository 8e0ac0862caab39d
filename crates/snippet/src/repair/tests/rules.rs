//! The rules of single corrections, by snippets that are corrected and snippets that must not be.
//!
//! In a row, `«…»` is the position of the compiler's message and `‹…›` that of its other label. `{+…+}` is what the
//! correction inserts and `{-…-}` what it removes; if the snippet must stay as it is, what rustc suggests.

use std::ops::Range;

use serde_json::{Value, json};

use crate::catalog::Catalog;
use crate::fixtures::Servers;
use crate::repair::repair;
use crate::snippet::Snippet;
use crate::splice::{Changes, splice};

/// A text without its marks.
#[derive(Default)]
struct Marked {
    text: String,
    corrected: String,
    place: Range<usize>,
    other: Range<usize>,
    parts: Vec<(Range<usize>, String)>,
}

impl Marked {
    fn read(marked: &str) -> Self {
        let mut read = Marked::default();
        let mut rest = marked;
        while let Some(next) = rest.chars().next() {
            let at = read.text.len();
            match rest.get(..2) {
                Some("{+" | "{-") => {
                    let (change, after) =
                        rest[2..].split_once(if &rest[..2] == "{+" { "+}" } else { "-}" }).unwrap();
                    read.change(change, rest.starts_with("{+"));
                    rest = after;
                    continue;
                }
                _ => rest = &rest[next.len_utf8()..],
            }
            match next {
                '«' => read.place = at..at,
                '»' => read.place.end = at,
                '‹' => read.other = at..at,
                '›' => read.other.end = at,
                _ => {
                    read.text.push(next);
                    read.corrected.push(next);
                }
            }
        }
        read
    }

    fn change(&mut self, change: &str, inserts: bool) {
        let at = self.text.len();
        match self.parts.last_mut().filter(|(range, text)| inserts && range.end == at && text.is_empty()) {
            Some((_, text)) => change.clone_into(text),
            None if inserts => self.parts.push((at..at, change.to_owned())),
            None => {
                self.text.push_str(change);
                self.parts.push((at..self.text.len(), String::new()));
            }
        }
        if inserts {
            self.corrected.push_str(change);
        }
    }
}

/// An error of the compiler.
#[derive(Default, Clone, Copy)]
struct Error<'a> {
    code: &'a str,
    message: &'a str,
    label: &'a str,
    /// The label at `‹…›`.
    other: &'a str,
    /// The compiler's note with its suggestion.
    note: &'a str,
    /// Whether the correction follows from the message alone.
    is_own: bool,
    applicability: Option<&'a str>,
}

impl Error<'_> {
    fn json(&self, marked: &Marked, offset: usize) -> Value {
        let span = |range: &Range<usize>, label: &str, replacement: Option<&str>| {
            json!({
                "file_name": "snippet.rs", "byte_start": offset + range.start, "byte_end": offset + range.end,
                "line_start": 1, "line_end": 1, "column_start": 1, "column_end": 1, "is_primary": true,
                "label": label, "suggested_replacement": replacement,
                "suggestion_applicability": self.applicability.unwrap_or("MachineApplicable"), "expansion": null,
            })
        };
        let parts = marked.parts.iter().filter(|_| !self.is_own);
        let parts: Vec<Value> = parts.map(|(range, text)| span(range, "", Some(text))).collect();
        json!({
            "message": self.message, "code": { "code": self.code }, "level": "error",
            "spans": [span(&marked.place, self.label, None), span(&marked.other, self.other, None)],
            "children": [{ "message": self.note, "code": null, "level": "help", "spans": parts, "children": [] }],
        })
    }

    /// Asserts that the snippet is corrected, or stays as it is.
    #[track_caller]
    fn corrects(&self, catalog: &dyn Catalog, row: &str, is: bool) {
        let marked = Marked::read(row);
        let snippet = Snippet::read(&marked.text).unwrap();
        let spliced = splice(&snippet, &Changes::default(), &[]);
        let error = self.json(&marked, spliced.offset as usize).to_string();
        let found = repair(&error, &snippet, &spliced, catalog).map(|repaired| repaired.text);
        assert_eq!(found, is.then_some(marked.corrected), "{row} {} {}", self.label, self.note);
    }
}

/// Rows of snippets without tools, about mismatched types.
#[track_caller]
fn mismatches(rows: &[(&str, &str, bool)]) {
    for (label, row, is) in rows {
        let (other, note) = ("expected because this is", "try this");
        Error { code: "E0308", label, other, note, ..Error::default() }.corrects(
            &Servers::default(),
            row,
            *is,
        );
    }
}

#[test]
fn numbers_are_widened_where_nothing_was_computed() {
    let label = "expected `u64`, found `u32`";
    mismatches(&[
        (label, "f(«a.b»{+.into()+})", true),
        (label, "f(«a::B»{+.into()+})", true),
        (label, "f(«*a»{+.into()+})", true),
        (label, "f(«g(a, 1)?»{+.into()+})", true),
        (label, "f(«a[0]»{+.into()+})", true),
        (label, "f(«a * b»{+.into()+})", false),
        (label, "f(«-a»{+.into()+})", false),
        (label, "f(«b as u32»{+.into()+})", false),
        (label, "f(«if a { b } else { c }»{+.into()+})", false),
        ("expected `u32`, found `u64`", "{+u64::from(+}‹a›{+)+} < «b»", true),
        ("expected `u32`, found `u64`", "{+u64::from(+}‹a + 1›{+)+} < «b»", false),
        ("expected `u32`, found `u64`", "{+u128::from(+}‹a›{+)+} < «b»", false),
        ("expected `f64`, found `i32`", "‹a› == {+f64::from(+}«b»{+)+}", false),
        ("expected `f64`, found `i32`", "f(«a»{+.into()+})", true),
        ("expected `f64`, found `i64`", "f(«a»{+.into()+})", false),
        ("expected `f64`, found `i32`", "let a = b / 2; f(«a»{+.into()+})", false),
    ]);
}

#[test]
fn the_narrower_side_of_an_equality_is_widened() {
    let (wide, narrow) = ("expected `u64`, found `u32`", "expected `u32`, found `u64`");
    for (label, row, is) in [
        (wide, "a == «{+u64::from(+}b.c{+)+}»", true),
        (wide, "a != «{+u64::from(+}f(b)?{+)+}»", true),
        (wide, "a == «{+u64::from(+}b + 1{+)+}»", false),
        (wide, "a = «{+u64::from(+}b{+)+}»", false),
        (narrow, "{+u64::from(+}a{+)+} == «b»", true),
        (narrow, "if {+u64::from(+}a.b[0]{+)+} == «b» { 1 } else { 2 }", true),
        (narrow, "v.iter().any(|x| {+u64::from(+}x.a{+)+} == «b»)", true),
        (narrow, "c && {+u64::from(+}a{+)+} != «b»", true),
        (narrow, "c + {+u64::from(+}a{+)+} == «b»", false),
        (narrow, "-{+u64::from(+}a{+)+} == «b»", false),
        (narrow, "{+u64::from(+}a{+)+} as u32 == «b»", false),
        ("expected `usize`, found `u64`", "{+u64::from(+}a{+)+} == «b»", false),
        ("expected `i64`, found `u64`", "a == «{+i64::from(+}b{+)+}»", false),
        ("expected `f64`, found `i32`", "a == «{+f64::from(+}b{+)+}»", false),
    ] {
        let error = Error { code: "E0308", label, is_own: true, ..Error::default() };
        error.corrects(&Servers::default(), row, is);
    }
}

#[test]
fn the_type_of_a_literal_is_changed_if_it_keeps_its_fraction() {
    mismatches(&[
        ("expected `u64`, found `u32`", "f(«1_{-u32-}{+u64+}»)", true),
        ("expected `f64`, found `f32`", "f(«1.5_{-f32-}{+f64+}»)", true),
        ("expected `u32`, found `f64`", "f(«1.5_{-f64-}{+u32+}»)", false),
        ("expected `f64`, found `u32`", "f(«1_{-u32-}{+f64+}»)", false),
        ("expected `usize`, found `u32`", "f(«1_{-u32-}{+usize+}»)", false),
        ("expected `u32`, found `usize`", "f(«1_{-usize-}{+u32+}»)", false),
    ]);
}

#[test]
fn a_value_is_wrapped_if_it_is_neither_a_result_nor_compared() {
    let label = "expected `Option<i32>`, found `i32`";
    mismatches(&[
        (label, "f(«{+Some(+}a{+)+}»)", true),
        (label, "«{+Some(+}a{+)+}» < b", false),
        (label, "«{+Some(+}a{+)+}» >= b", false),
        (label, "b > «{+Some(+}a{+)+}»", false),
        ("expected `Option<i32>`, found `Result<i32, E>`", "f(«{+Some(+}a{+)+}»)", false),
        ("expected `Option<i32>`, found `impl Future<Output = i32>`", "f(«{+Some(+}a{+)+}»)", false),
        ("expected `Result<i32, E>`, found `i32`", "f(«{+Ok(+}a{+)+}»)", true),
        ("expected `Result<i32, E>`, found `JoinHandle<i32>`", "f(«{+Ok(+}a{+)+}»)", false),
    ]);
}

#[test]
fn a_value_is_dropped_if_a_method_was_called_for_its_effect() {
    let label = "expected `()`, found `Option<i32>`";
    mismatches(&[
        (label, "if c { «a.pop()»{+;+} }", true),
        (label, "if c { «a.first()»{+;+} }", false),
        (label, "if c { «pop()»{+;+} }", false),
        (label, "if c { «a»{+;+} }", false),
    ]);
    for returns in ["try adding a return type", "you might have meant to return this value"] {
        let error = Error { code: "E0308", label, note: returns, ..Error::default() };
        error.corrects(&Servers::default(), "if c { «a.pop()»{+;+} }", false);
    }
    let catalog = Servers::demo();
    let error = Error { code: "E0308", label, ..Error::default() };
    error.corrects(&catalog, "if c { «some(demo::echo(\"a\")).await»{+;+} }", true);
    error.corrects(&catalog, "if c { «some(a).await»{+;+} }", false);
    error.corrects(&catalog, "if c { «some(demo::echo(\"a\")).ready»{+;+} }", false);
}

#[test]
fn a_semicolon_is_removed_after_a_variable_alone() {
    let label = "expected `i32`, found `()`";
    mismatches(&[
        (label, "«f»({ let a = 1; a{-;-} })", true),
        (label, "«f»({ a{-;-} })", true),
        (label, "«f»({ if b {} a{-;-} })", true),
        (label, "«f»({ b = a{-;-} })", false),
        (label, "«f»({ g(); 1{-;-} })", false),
        (label, "«f»({ g(a){-;-} })", false),
    ]);
}

#[test]
fn a_function_returns_plain_data() {
    let label = "expected `()`, found `i32`";
    mismatches(&[
        (label, "{ fn f(){+ -> i32+} { «1» } f() }", true),
        (label, "{ fn main(){+ -> i32+} { «1» } main() }", false),
        (label, "{ fn run(){+ -> i32+} { «1» } run() }", false),
        (label, "{ fn f(){+ -> Result<i32, E>+} { «1» } f() }", false),
    ]);
}

#[test]
fn values_are_converted_into_texts_json_and_errors() {
    mismatches(&[
        ("expected `String`, found `&String`", "f(«a»{+.to_string()+})", true),
        ("expected `String`, found `&String`", "let mut b = f(«a»{+.to_string()+});", false),
        ("expected `String`, found `i32`", "f(«a»{+.to_string()+})", true),
        ("expected `String`, found `f64`", "f(«a»{+.to_string()+})", false),
        ("expected `Value`, found `bool`", "f(«a»{+.into()+})", true),
        ("expected `Value`, found `i32`", "f(«a»{+.into()+})", true),
        ("expected `Value`, found `f64`", "f(«a»{+.into()+})", false),
        ("expected `anyhow::Error`, found `ToolError`", "f(«a»{+.into()+})", true),
        ("expected `anyhow::Error`, found `i32`", "f(«a»{+.into()+})", false),
        ("expected `Order`, found `ToolError`", "f(«a»{+.into()+})", false),
    ]);
}

#[test]
fn references_are_followed_and_copied_unless_the_copy_changes() {
    let vec = "expected `Vec<i32>`, found `&Vec<i32>`";
    mismatches(&[
        ("expected `i32`, found `&i32`", "f(«{+*+}a»)", true),
        ("expected `i32`, found `&i32`", "f(«{-&-}a»)", true),
        ("expected `i32`, found `&i32`", "let mut b = f(«{+*+}a»);", false),
        (vec, "f(«a»{+.to_vec()+})", true),
        (vec, "let mut c = 1; f(«a»{+.to_vec()+})", true),
        (vec, "let mut a = [b]; f(«a»{+.to_vec()+})", false),
        (vec, "let mut a = [b]; f(«a.c»{+.to_vec()+})", false),
        (vec, "let mut c = b; f(«a»{+.to_vec()+})", false),
        (vec, "let b = «a»{+.to_vec()+}; b", true),
        (vec, "let b; b = «a»{+.to_vec()+}; b", false),
        (vec, "let b = !«a»{+.to_vec()+}; b", false),
        (vec, "S { b: «a»{+.to_vec()+} }", true),
        (vec, "{ «a»{+.to_vec()+} }", false),
        (vec, "b.f(«a»{+.to_vec()+})", false),
        ("expected `Rc<i32>`, found `&Rc<i32>`", "f(«a»{+.clone()+})", false),
    ]);
}

#[test]
fn borrowed_strings_become_owned() {
    let rows = [
        ("expected `String`, found `&String`", "f(«{-&-}a.b[0]»{+.clone()+})", true),
        ("expected `String`, found `&String`", "let mut b = f(«{-&-}a»{+.clone()+});", false),
        ("expected `String`, found `&String`", "f(«{-&-}g(a)»{+.clone()+})", false),
        ("expected `String`, found `&String`", "f(«{-a-}»{+.clone()+})", false),
        ("expected `Option<String>`, found `&String`", "f(«{-&-}a»{+.clone()+})", false),
        ("expected `Option<String>`, found `&str`", r#"f(«{+Some(+}"a"{+.to_string())+}»)"#, true),
        ("expected `Option<String>`, found `&str`", "f(«{+Some(+}a.b{+.to_string())+}»)", false),
        ("expected `Option<String>`, found `&str`", "f(«{+Some(+}a.b(){+.to_string())+}»)", true),
        ("expected `Option<String>`, found `&str`", r#"f(«{+Some(+}"a".b{+.to_string())+}»)"#, false),
        ("expected `String`, found `&str`", r#"f(["a"{+.to_string()+}, «"b"{+.to_string()+}»])"#, true),
        ("expected `String`, found `&str`", r#"f([1, «"b"{+.to_string()+}»])"#, false),
        (
            "expected `Option<Vec<String>>`, found `Vec<&str>`",
            r#"«{+Some(+}vec!["a"{+.to_string()+}, "b"{+.to_string()+}]{+)+}»"#,
            true,
        ),
        (
            "expected `Option<Vec<String>>`, found `Vec<&str>`",
            r#"&«{+Some(+}vec!["a"{+.to_string()+}]{+)+}»"#,
            true,
        ),
        ("expected `Vec<String>`, found `Vec<&str>`", r#"f(«vec!["a"{+.to_string()+}]»)"#, false),
        ("expected `Vec<String>`, found `[&str; 1]`", r#"f(«{+vec!+}["a"{+.to_string()+}]»)"#, true),
        ("expected `Vec<String>`, found `Box<[&str]>`", r#"f(«{+vec!+}["a"{+.to_string()+}]»)"#, false),
        (
            "expected `Option<Vec<String>>`, found `[&str; 1]`",
            r#"f(«{+Some(vec!+}["a"{+.to_string()+}]{+)+}»)"#,
            true,
        ),
    ];
    for (label, row, is) in rows {
        Error { code: "E0308", label, is_own: true, ..Error::default() }.corrects(
            &Servers::default(),
            row,
            is,
        );
    }
}

#[test]
fn a_value_of_an_optional_field_that_may_be_null_is_wrapped_twice() {
    let texts = "expected `Option<Option<Vec<String>>>`, found `Vec<&str>`";
    for (label, row, is) in [
        (texts, r#"S { a: «{+Some(Some(+}vec!["a"{+.to_string()+}, "b"{+.to_string()+}]{+))+}» }"#, true),
        (texts, "S { a: «{+Some(Some(+}vec![b]{+))+}» }", false),
        (texts, r#"«{+Some(Some(+}vec!["a"{+.to_string()+}]{+))+}» < b"#, false),
        (
            "expected `Option<Option<Vec<String>>>`, found `[&str; 1]`",
            r#"S { a: «{+Some(Some(vec!+}["a"{+.to_string()+}]{+))+}» }"#,
            true,
        ),
        (
            "expected `Option<Option<String>>`, found `&str`",
            r#"S { a: «{-"a"-}{+Some(Some("a".to_string()))+}» }"#,
            true,
        ),
        ("expected `Option<Option<String>>`, found `String`", "S { a: «{+Some(Some(+}b.c{+))+}» }", true),
        (
            "expected `Option<Option<Vec<Value>>>`, found `Vec<Value>`",
            "S { a: «{+Some(Some(+}vec![json!(1)]{+))+}» }",
            true,
        ),
        (
            "expected `Option<Option<Vec<Value>>>`, found `Vec<Value>`",
            "S { a: «{+Some(Some(+}b{+))+}» }",
            true,
        ),
        (
            "expected `Option<Option<Vec<Value>>>`, found `Vec<_>`",
            "S { a: «{+Some(Some(+}vec![]{+))+}» }",
            true,
        ),
        ("expected `Option<Option<i64>>`, found integer", "S { a: «{+Some(Some(+}5{+))+}» }", true),
        ("expected `Option<Option<bool>>`, found `bool`", "S { a: «{+Some(Some(+}true{+))+}» }", true),
        ("expected `Option<Option<bool>>`, found `bool`", "S { a: «{+Some(Some(+}b && c{+))+}» }", true),
        ("expected `Option<bool>`, found `bool`", "S { a: «{+Some(+}true{+)+}» }", false),
        ("expected `Option<Option<i64>>`, found `i32`", "S { a: «{+Some(Some(+}b{+))+}» }", false),
        ("expected `Option<Option<i64>>`, found integer", "«{+Some(Some(+}5{+))+}» < b", false),
    ] {
        Error { code: "E0308", label, is_own: true, ..Error::default() }.corrects(
            &Servers::default(),
            row,
            is,
        );
    }
}

#[test]
fn calls_are_awaited_where_their_type_shows_it() {
    const CALL: &str = r#"demo::get_customer("a")"#;
    let catalog = Servers::demo();
    let returns = "try adding a return type";
    for (expected, note, row, is) in [
        ("GetCustomerOutput", "", "f(«CALL{+.await?+}»)", true),
        ("i32", "", "f(«CALL{+.await?+}»)", false),
        ("GetCustomerOutput", "", "f(«&CALL{+.await?+}»)", false),
        ("GetCustomerOutput", "", "f(«CALL + 1{+.await?+}»)", false),
        ("GetCustomerOutput", "", "f(«return CALL{+.await?+}»)", false),
        ("Result<GetCustomerOutput, ToolError>", "", "f(«CALL{+.await+}»)", true),
        ("Result<GetCustomerOutput, Error>", "", "f(«{+Ok(+}CALL{+.await?)+}»)", true),
        ("Result<_, Error>", "", "f(«{+Ok(+}CALL{+.await?)+}»)", true),
        ("Result<i32, Error>", "", "f(«{+Ok(+}CALL{+.await?)+}»)", false),
        ("()", "", "if a { «CALL{+.await?;+}» }", true),
        ("()", "", "f(«CALL{+.await?;+}»)", false),
        ("()", returns, "if a { «CALL{+.await?;+}» }", false),
        ("()", returns, "for a in b.c { «CALL{+.await?;+}» }", true),
        ("()", returns, "for a in b { if a { «CALL{+.await?;+}» } }", false),
        ("()", returns, "while if a { «CALL{+.await?;+}» } else { b } {}", false),
        ("()", returns, "let a: dyn for<'a> F<'a> = b; { «CALL{+.await?;+}» }", false),
    ] {
        let label = format!("expected `{expected}`, found `GetCustomerCall`");
        let error = Error { code: "E0308", label: &label, note, is_own: true, ..Error::default() };
        error.corrects(&catalog, &row.replace("CALL", CALL), is);
    }
}

#[test]
fn failures_without_a_value_end_their_loop() {
    let label = "expected `()`, found `Result<(), E>`";
    for (row, is) in [
        ("for a in b { «f(a){+?;+}» }", true),
        ("while let Some(a) = b.pop() { «f(a){+?;+}» }", true),
        ("while c && let Some(a) = b.pop() { «f(a){+?;+}» }", true),
        ("if let Some(a) = b { «f(a){+?;+}» }", false),
        ("let Some(a) = b else { «f(a){+?;+}» };", false),
        ("let a = { «f(a){+?;+}» };", false),
        ("for a in b { «-f(a){+?;+}» }", false),
        ("for a in b { «f(a){+?;+}» + 1 }", false),
        ("if b { «f(a){+?;+}» }", false),
    ] {
        Error { code: "E0308", label, is_own: true, ..Error::default() }.corrects(
            &Servers::default(),
            row,
            is,
        );
    }
}

#[test]
fn a_call_is_awaited_where_its_result_is_matched() {
    let catalog = Servers::demo();
    let (result, same) = ("Result<_, _>", "EchoCall");
    for (found, other, row, is) in [
        (result, same, r#"match ‹demo::echo("a"){+.await+}› { «Ok(a)» => a, _ => b }"#, true),
        ("Option<_>", same, r#"match ‹demo::echo("a"){+.await+}› { «Some(a)» => a, _ => b }"#, false),
        (result, "FailCall", r#"match ‹demo::fail(){+.await+}› { «Ok(a)» => a, _ => b }"#, false),
        (result, same, r#"match ‹&demo::echo("a"){+.await+}› { «Ok(a)» => a, _ => b }"#, false),
    ] {
        let label = format!("expected `EchoCall`, found `{found}`");
        let other = format!("this expression has type `{other}`");
        let error = Error { code: "E0308", label: &label, other: &other, is_own: true, ..Error::default() };
        error.corrects(&catalog, row, is);
    }
}

#[test]
fn other_errors_show_calls_and_results() {
    let catalog = Servers::demo();
    let result = "no field `id` on type `Result<GetCustomerOutput, ToolError>`";
    let input = "`GetCustomerInput` is not a future";
    for (code, message, row, is) in [
        ("E0609", result, "a.«id»", false),
        ("E0609", "no field `id` on type `GetCustomerCall`", "a{+.await?+}.«id»", true),
        ("E0609", "no field `id` on type `GetCustomerCall`", "({+.await?+}«id»)", false),
        ("E0277", input, "a{+.call()+}.«await»", true),
        ("E0277", "`GetCustomerInput` is not an iterator", "a{+.call()+}.«await»", false),
        ("E0277", "`Order` is not a future", "a{+.call()+}.«await»", false),
        ("E0277", input, "f(a{+.call()+}.«b»)", false),
        ("E0282", "type annotations needed", "demo::list_orders().cursor(«None»{+::<String>+})", true),
    ] {
        Error { code, message, is_own: true, ..Error::default() }.corrects(&catalog, row, is);
    }
}

#[test]
fn suggestions_of_other_errors_are_applied_in_known_forms() {
    for (code, row, is) in [
        ("E0608", "«a»{-[0]-}{+.0+}", true),
        ("E0608", "«a»{-[0]-}{+.1+}", false),
        ("E0608", "«a»{-0-}{+0+}", false),
        ("E0277", "{ fn f<T{+: Clone+}>(a: «T») {} f(a) }", true),
        ("E0277", "{ fn f<T{+: Clone\n+}>(a: «T») {} f(a) }", false),
        ("E0308", "f(«a»{+&(+}{+)+})", false),
    ] {
        Error { code, ..Error::default() }.corrects(&Servers::default(), row, is);
    }
    for (row, is) in [("«Ok»{+::<T>+}(1)", false), ("«f»{+::<_, E>+}(1)", false)] {
        let error = Error { code: "E0282", applicability: Some("HasPlaceholders"), ..Error::default() };
        error.corrects(&Servers::default(), row, is);
    }
}

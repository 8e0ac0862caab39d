//! Mistakes that are corrected automatically, and values that borrow from the snippet's variables.

use std::fmt::Write as _;

use end_to_end::cache::{json as run, plain};
use end_to_end::harness::assert_says;
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// The result of a snippet and its corrected lines.
fn mended(code: &str) -> (Value, Vec<(u64, String)>) {
    let outcome = run(code).expect("ok", 0);
    let fixes = outcome["fixes"].as_array().unwrap();
    let line = |fix: &Value| (fix["line"].as_u64().unwrap(), fix["after"].as_str().unwrap().to_owned());
    (outcome["result"].clone(), fixes.iter().map(line).collect())
}

/// A mistake, the corrected lines, and the result.
type Mistake<'a> = (&'a str, &'a [(u64, &'a str)], Value);

/// Runs every snippet, which must be corrected in these lines and return the result; reports all failures together.
#[track_caller]
fn corrected(mistakes: &[Mistake<'_>]) {
    let mut wrong = String::new();
    for (code, lines, result) in mistakes {
        let outcome = run(code).done().outcome();
        let fixes = outcome["fixes"].as_array().unwrap();
        let fixes: Vec<(u64, String)> = fixes
            .iter()
            .map(|fix| (fix["line"].as_u64().unwrap(), fix["after"].as_str().unwrap().to_owned()))
            .collect();
        let expected: Vec<(u64, String)> =
            lines.iter().map(|(line, text)| (*line, (*text).to_owned())).collect();
        if fixes != expected || outcome["status"] != "ok" || outcome["result"] != *result {
            writeln!(wrong, "{code}\n  {fixes:?}\n  {}\n", outcome["result"]).unwrap();
            writeln!(wrong, "  {}", outcome["diagnostics"]).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn mistakes_are_corrected_and_reported() {
    for (code, result, line, after) in [
        ("let a: String = \"a\"; a", json!("a"), 1, "let a: String = \"a\".to_string(); a"),
        ("let a = 1;\nlet x: Option<i32> = a;\nx", json!(1), 2, "let x: Option<i32> = Some(a);"),
        ("fn f(s: &str) -> usize { s.len() }\nlet s = String::from(\"a\");\nf(s)", json!(1), 3, "f(&s)"),
        (
            "let all = concurrently(2, 0..2, |i| async move {\n    \
             let echo = demo::echo(i.to_string()).await?;\n    Ok(echo.text())\n}).await?;\nall",
            json!(["0", "1"]),
            3,
            "    Ok::<_, ::anyhow::Error>(echo.text())",
        ),
    ] {
        let (found, fixes) = mended(code);
        assert_eq!((found, fixes), (result, vec![(line, after.to_owned())]), "{code}");
    }
}

/// The cache includes the corrections.
#[test]
fn a_cached_program_reports_its_corrections() {
    let code = format!("let a: String = \"{}\"; a", end_to_end::harness::unique());
    let first = mended(&code);
    assert_eq!(run(&code).expect("ok", 0)["cached"], true);
    assert_eq!(mended(&code), first);
    plain(&code).done().exits(0).says(&["corrected line 1"]);
}

/// A tool with a similar name does something else; and if a correction does not help, errors refer to the original
/// text.
#[test]
fn names_are_not_guessed_and_errors_stay_the_snippets_own() {
    let outcome = run("demo::get_custmer(\"c-01\").await?.name").expect("compile_error", 3);
    assert_eq!(outcome["fixes"], json!([]));
    let code = "let a: String = \"a\";\nlet b: i32 = \"b\";\nb";
    let outcome = run(code).expect("compile_error", 3);
    let lines: Vec<&Value> =
        outcome["diagnostics"].as_array().unwrap().iter().map(|one| &one["line"]).collect();
    assert_eq!((lines, &outcome["fixes"]), (vec![&json!(1), &json!(2)], &json!([])));
}

#[test]
fn a_last_value_may_borrow_from_the_snippet() {
    for (code, result) in [
        ("let text = String::from(\" a \");\ntext.trim()", json!("a")),
        ("let v = vec![3, 1];\nv.iter().max()", json!(3)),
        (
            "let page = demo::list_orders().limit(2).await?;\n\
             page.orders.iter().map(|order| &order.id).collect::<Vec<_>>()",
            json!(["o-1001", "o-1002"]),
        ),
        ("let s = String::from(\"a\");\nOk(s.as_str())", json!("a")),
    ] {
        assert_eq!(mended(code), (result, vec![]), "{code}");
    }
    // Panics are also reported at the original places.
    let code =
        "let texts = vec![String::new()];\nlet wanted: Vec<&str> = vec![&texts[0]];\nwanted[texts.len()]";
    let outcome = run(code).expect("panic", 1);
    assert_eq!(outcome["error"]["evidence"], json!({ "line": 3, "column": 7 }));
}

#[test]
fn omitted_fields_of_a_literal_are_none() {
    let note = |fields: &str, end: &str| format!("demo::CreateNoteInput {{ {fields}{end}}}.call().await?.id");
    let fields = "subject: \"a\".into(), text: \"b\".into()";
    corrected(&[
        (&note(fields, " "), &[(1, &note(fields, ", tags: None "))], json!(1)),
        (&note(fields, ", "), &[(1, &note(fields, ", tags: None "))], json!(1)),
        (
            "let input = demo::ListOrdersInput {\n    limit: Some(4), // not all\n};\ninput.call().await?.orders.len()",
            &[(2, "    limit: Some(4), cursor: None, status: None // not all")],
            json!(4),
        ),
        (
            "demo::ListOrdersInput {}.call().await?.orders.len()",
            &[(
                1,
                "demo::ListOrdersInput { cursor: None, limit: None, status: None}.call().await?.orders.len()",
            )],
            json!(20),
        ),
        (
            "demo::list_orders().limit(3).cursor(None).await?.orders.len()",
            &[(1, "demo::list_orders().limit(3).cursor(None::<String>).await?.orders.len()")],
            json!(3),
        ),
        (
            "demo::list_orders().limit(3).status(None).await?.orders.len()",
            &[(1, "demo::list_orders().limit(3).status(None::<demo::OrderStatus>).await?.orders.len()")],
            json!(3),
        ),
    ]);
}

#[test]
fn values_of_literals_are_converted() {
    let note = |subject: &str, tags: &str| {
        format!(
            "demo::CreateNoteInput {{ subject: {subject}, text: \"b\".into(), tags: {tags} }}.call().await?.id"
        )
    };
    let owned = "\"a\".to_string()";
    let many = "Some(vec![\"a\".to_string(), \"b\".to_string()])";
    let orders = |limit: &str, cursor: &str| {
        format!(
            "demo::ListOrdersInput {{ limit: {limit}, cursor: {cursor}, status: None }}.call().await?.orders.len()"
        )
    };
    corrected(&[
        (&note("\"a\"", "None"), &[(1, &note(owned, "None"))], json!(1)),
        (&note("\"a\"", "Some(vec![\"a\", \"b\"])"), &[(1, &note(owned, many))], json!(1)),
        (&note("\"a\"", "vec![\"a\", \"b\"]"), &[(1, &note(owned, many))], json!(1)),
        (&note("\"a\"", "Some([\"a\", \"b\"])"), &[(1, &note(owned, many))], json!(1)),
        (&orders("5", "None"), &[(1, &orders("Some(5)", "None"))], json!(5)),
        (
            &orders("Some(5)", "\"o-1001\""),
            &[(1, &orders("Some(5)", "Some(\"o-1001\".to_string())"))],
            json!(5),
        ),
        (
            "let customer = demo::get_customer(\"c-01\").await?;\n\
             let input = demo::GetCustomerInput { id: &customer.id };\n(customer.id, input.call().await?.id)",
            &[(2, "let input = demo::GetCustomerInput { id: customer.id.clone() };")],
            json!(["c-01", "c-01"]),
        ),
    ]);
}

#[test]
fn calls_are_awaited_if_unambiguous() {
    corrected(&[
        ("demo::echo(\"a\")", &[(1, "demo::echo(\"a\").await?")], json!("a")),
        ("let text = demo::echo(\"a\");\ntext", &[(1, "let text = demo::echo(\"a\").await?;")], json!("a")),
        ("demo::echo(\"a\").text()", &[(1, "demo::echo(\"a\").await?.text()")], json!("a")),
        ("demo::echo(\"a\").unwrap().text()", &[(1, "demo::echo(\"a\").await.unwrap().text()")], json!("a")),
        (
            "let page = demo::list_orders().limit(2);\nlet count = page.orders.len();\n(count, page.next_cursor)",
            &[(1, "let page = demo::list_orders().limit(2).await?;")],
            json!([2, "o-1002"]),
        ),
        (
            "let page = demo::list_orders().limit(2)?;\npage.orders.len()",
            &[(1, "let page = demo::list_orders().limit(2).await?;")],
            json!(2),
        ),
        (
            "match demo::echo(\"a\") {\n    Ok(text) => text.text(),\n    Err(error) => error.message,\n}",
            &[(1, "match demo::echo(\"a\").await {")],
            json!("a"),
        ),
        (
            "let customer: demo::GetCustomerOutput = demo::get_customer(\"c-01\");\ncustomer.id",
            &[(1, "let customer: demo::GetCustomerOutput = demo::get_customer(\"c-01\").await?;")],
            json!("c-01"),
        ),
        ("demo.echo(\"a\").await?", &[(1, "demo::echo(\"a\").await?")], json!("a")),
        (
            "demo::GetCustomerInput { id: \"c-01\".into() }.await?.id",
            &[(1, "demo::GetCustomerInput { id: \"c-01\".into() }.call().await?.id")],
            json!("c-01"),
        ),
    ]);
}

#[test]
fn results_are_unwrapped_if_unambiguous() {
    let customer = "let customer = demo::get_customer(\"c-01\").await";
    corrected(&[
        (
            &format!("{customer};\nformat!(\"{{}} {{}}\", customer.id, customer.vip)"),
            &[(1, &format!("{customer}?;"))],
            json!("c-01 true"),
        ),
        // Another use needs the `Result`.
        (
            &format!("{customer};\nif customer.is_err() {{ return Ok(String::new()); }}\ncustomer.id"),
            &[(3, "customer?.id")],
            json!("c-01"),
        ),
        (
            "demo::get_customer(\"c-01\").await.id",
            &[(1, "demo::get_customer(\"c-01\").await?.id")],
            json!("c-01"),
        ),
        (
            &format!("fn id(of: demo::GetCustomerOutput) -> String {{ of.id }}\n{customer};\nid(customer)"),
            &[(2, &format!("{customer}?;"))],
            json!("c-01"),
        ),
        (
            "async fn say(text: &str) -> Result<ToolResult> {\n    demo::echo(text).await\n}\nsay(\"a\").await?",
            &[(2, "    Ok(demo::echo(text).await?)")],
            json!("a"),
        ),
        (
            "async fn say(text: &str) -> Result<ToolResult> {\n    demo::echo(text)\n}\nsay(\"a\").await?",
            &[(2, "    Ok(demo::echo(text).await?)")],
            json!("a"),
        ),
        (
            "if args.get(\"a\").is_none() { return 5; }\n6",
            &[(1, "if args.get(\"a\").is_none() { return Ok(5); }")],
            json!(5),
        ),
        ("if true { return; }\nprintln!(\"a\");", &[(1, "if true { return Ok(()); }")], Value::Null),
    ]);
}

/// The compiler suggests a `;`, with which the call is never made, or its failure is ignored.
#[test]
fn a_call_at_the_end_of_a_block_is_made() {
    for (line, after) in [
        ("    demo::create_note(\"a\", \"b\")", "    demo::create_note(\"a\", \"b\").await?;"),
        ("    demo::create_note(\"a\", \"b\").await", "    demo::create_note(\"a\", \"b\").await?;"),
    ] {
        let outcome = run(&format!("for _ in 0..3 {{\n{line}\n}}\n1")).expect("ok", 0);
        assert_eq!(outcome["calls_total"], 3, "{outcome:#}");
        assert_eq!(outcome["fixes"], json!([{ "line": 2, "before": line, "after": after }]));
    }
    let outcome = run("if true {\n    demo::fail()\n}\n1").expect("runtime_error", 1);
    assert_eq!(outcome["error"]["kind"], "tool");
}

#[test]
fn names_are_imported_if_unambiguous() {
    corrected(&[
        (
            "let count = AtomicUsize::new(2);\ncount.into_inner()",
            &[(1, "use std::sync::atomic::AtomicUsize; let count = AtomicUsize::new(2);")],
            json!(2),
        ),
        (
            "use demo::echo;\nlet names = [\"a\", \"b\"].iter().join(\"-\");\nassert!(AtomicBool::new(true).into_inner());\necho(names.as_str()).await?",
            &[(1, "use std::sync::atomic::AtomicBool; use demo::echo;")],
            json!("a-b"),
        ),
        (
            "let page = demo::list_orders().status(OrderStatus::Shipped).limit(2).await?;\npage.orders.len()",
            &[(
                1,
                "use demo::OrderStatus; let page = demo::list_orders().status(OrderStatus::Shipped).limit(2).await?;",
            )],
            json!(2),
        ),
    ]);
    // Also in a file of items, and inside a fence.
    let outcome =
        run("```rust\nasync fn run() -> Result<bool> {\n    Ok(AtomicBool::new(false).into_inner())\n}\n```")
            .expect("ok", 0);
    assert_eq!(
        (&outcome["result"], &outcome["fixes"][0]["after"]),
        (&json!(false), &json!("use std::sync::atomic::AtomicBool;"))
    );
}

/// Imports are inserted before the text and do not shift its columns.
#[test]
fn an_import_shifts_no_places() {
    let code = "let none = vec![1; AtomicUsize::new(0).into_inner()]; let one = none[0];\none";
    let outcome = run(code).expect("panic", 1);
    let column = code.find("[0]").unwrap() + 1;
    assert_eq!(outcome["error"]["evidence"], json!({ "line": 1, "column": column }));
    assert_eq!(outcome["fixes"][0]["line"], 1);
    // If an import does not help, errors refer to the original text.
    let code = "let shared = AtomicUsize::new(1); let text: bool = 5;\nshared.into_inner()";
    let outcome = run(code).expect("compile_error", 3);
    assert_eq!((&outcome["diagnostics"][0]["column"], &outcome["fixes"]), (&json!(14), &json!([])));
    assert_snapshot!(normal(&outcome["diagnostics"][0]["hint"]), @r"
    `AtomicUsize` is not in scope: add `use std::sync::atomic::AtomicUsize;`
    ");
}

/// Panics in a corrected line are reported and printed with the snippet's columns.
#[test]
fn a_correction_shifts_no_places_in_its_line() {
    let empty = "let v: Vec<i32> = vec![]; ";
    for (line, edits) in [
        // Corrections before the place, after it, on both sides, and several.
        ("let s: String = \"a\"; let x = v[s.len()];", 1),
        ("let x = v[0]; let s: String = \"a\";", 1),
        ("let s: String = \"größe\"; let x = v[0]; let t: f64 = 5;", 1),
        ("let t = (1, 2); let u = t[0] + t[1] + v[9];", 1),
        ("let n: Option<usize> = 4; let s: String = \"a\"; let o: Option<i32> = v[n.unwrap() + s.len()];", 1),
    ] {
        for first in ["", "\n"] {
            let code = format!("{empty}{first}{line}\n1");
            let done = run(&code).done();
            let outcome = done.outcome();
            assert_eq!(outcome["status"], "panic", "{code}\n{outcome:#}");
            assert_eq!(outcome["fixes"].as_array().unwrap().len(), edits, "{outcome:#}");
            // An index is reported at its bracket.
            let (before, _) = code.split_at(code.find(" v[").unwrap() + " v".len());
            let start = before.rfind('\n').map_or(0, |end| end + 1);
            let column = before[start..].chars().count() + 1;
            let number = before.matches('\n').count() + 1;
            assert_eq!(outcome["error"]["evidence"], json!({ "line": number, "column": column }), "{code}");
            assert_says(&outcome["stderr"], &[&format!("panicked at line {number}, column {column}:")]);
        }
    }
    // Also with a last value that borrows.
    let code = "let texts = vec![String::new()]; let all: Vec<&str> = vec![&texts[0]]; let n = vec![]; n.push(7); all[n[0]]";
    let outcome = run(code).expect("panic", 1);
    assert_eq!(outcome["fixes"].as_array().unwrap().len(), 1, "{outcome:#}");
    assert_eq!(
        outcome["error"]["evidence"],
        json!({ "line": 1, "column": code.find("all[").unwrap() + "all[".len() })
    );
}

/// Compiler warnings about corrected text quote the snippet.
#[test]
fn warnings_of_a_corrected_text_are_about_the_snippet() {
    let code = "let s: String = \"a\"; s.parse::<i32>();\ns";
    let outcome = run(code).expect("ok", 0);
    let warning = &outcome["diagnostics"][0];
    assert_eq!((&warning["line"], &warning["column"]), (&json!(1), &json!(22)), "{outcome:#}");
    assert_snapshot!(normal(&warning["rendered"]), @r#"
    warning[unused_must_use]: unused `Result` that must be used
     --> 1:22
    1 | let s: String = "a"; s.parse::<i32>();
      |                      ^^^^^^^^^^^^^^^^
    note: this `Result` may be an `Err` variant, which should be handled
    note: requested on the command line with `--force-warn unused-must-use`
    help: use `let _ = ...` to ignore the resulting value
      1:22: `let _ =`
    "#);
}

/// These calls compile and would silently do nothing.
#[test]
fn calls_that_would_never_be_made_are_corrected_or_reported() {
    let code = "demo::create_note(\"a\", \"b\").tags([\"c\"]);\nfor _ in 0..2 {\n    demo::create_note(\"c\", \"d\");\n}\n\
                demo::CreateNoteInput { subject: \"e\".into(), text: \"f\".into(), tags: None }.call();\n\
                demo::create_note(\"g\", \"h\").await?.id";
    let outcome = run(code).expect("ok", 0);
    assert_eq!((&outcome["result"], &outcome["calls_total"]), (&json!(5), &json!(5)));
    let lines: Vec<&Value> = outcome["fixes"].as_array().unwrap().iter().map(|fix| &fix["line"]).collect();
    assert_eq!(lines, [1, 3, 5]);
    assert_eq!(outcome["fixes"][1]["after"], "    demo::create_note(\"c\", \"d\").await?;");

    let code = "let names = [\"a\", \"b\"];\nnames.iter().for_each(|name| {\n    demo::create_note(*name, \"text\");\n});";
    let outcome = run(code).expect("compile_error", 3);
    let diagnostic = &outcome["diagnostics"][0];
    assert_eq!(
        (&diagnostic["line"], &diagnostic["column"], &outcome["fixes"]),
        (&json!(3), &json!(5), &json!([]))
    );
    assert_snapshot!(normal(&diagnostic["message"]), @"this call is never made: nothing awaits it");
    assert_snapshot!(normal(&diagnostic["hint"]), @r"
    a call must be awaited: `demo::create_note(…).await?`; if that is not possible, iterate over the items with `for`, or with `concurrently(8, items, |item| async move { … }).await?`
    demo::CreateNoteInput { subject: String /* What the note is about, in a few words. */, text: String /* The note itself. */, tags: Option<Vec<String>> /* Words to find it by; default [] */ }.call() -> { id: i64 /* The note's number: 1 for the first one of a session; at least 0 */, created_at: String /* When it was created, in RFC 3339 format, by the demo's simulated clock. */ }
    demo::create_note(subject, text)
    ");

    // A stored call, and a function that is not a tool, are unchanged.
    let code = "let call = demo::echo(\"a\");\ndrop(call);\nlet _ = demo::echo(\"b\");\nfn echo(text: &str) {}\necho(\"c\");\n\
                demo::echo(\"d\").await.ok();";
    let outcome = run(code).expect("ok", 0);
    assert_eq!((&outcome["fixes"], &outcome["calls_total"]), (&json!([]), &json!(1)));
}

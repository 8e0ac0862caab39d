//! Slips that are corrected on the way, and values that borrow from the snippet's variables.

use serde_json::{Value, json};

use crate::harness::{json as run, plain};

/// The result of a snippet and the lines that were corrected in it.
fn corrected(code: &str) -> (Value, Vec<(u64, String)>) {
    let outcome = run(code).expect("ok", 0);
    let fixes = outcome["fixes"].as_array().unwrap();
    let line = |fix: &Value| (fix["line"].as_u64().unwrap(), fix["after"].as_str().unwrap().to_owned());
    (outcome["result"].clone(), fixes.iter().map(line).collect())
}

#[test]
fn slips_are_corrected_and_told() {
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
        let (found, fixes) = corrected(code);
        assert_eq!((found, fixes), (result, vec![(line, after.to_owned())]), "{code}");
    }
}

/// The corrections are part of what is remembered.
#[test]
fn a_remembered_program_tells_its_corrections_again() {
    let code = format!("let a: String = \"{}\"; a", crate::harness::unique());
    let first = corrected(&code);
    assert_eq!(run(&code).expect("ok", 0)["cached"], true);
    assert_eq!(corrected(&code), first);
    plain(&code).done().exits(0).says(&["corrected line 1"]);
}

/// A tool that sounds alike does something else; and what a correction does not help is told as it was written.
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
        assert_eq!(corrected(code), (result, vec![]), "{code}");
    }
    // The places of its panics are the text's own as well.
    let code =
        "let texts = vec![String::new()];\nlet wanted: Vec<&str> = vec![&texts[0]];\nwanted[texts.len()]";
    let outcome = run(code).expect("panic", 1);
    assert_eq!(outcome["error"]["evidence"], json!({ "line": 3, "column": 7 }));
}

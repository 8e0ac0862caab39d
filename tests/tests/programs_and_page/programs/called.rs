//! Programs as typed functions of snippets and of other programs.

use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

use super::Place;

/// A snippet on standard input.
const RUN: [&str; 4] = ["run", "--demo", "--json", "-"];

#[test]
fn a_snippet_calls_a_program_as_a_typed_function() {
    let place = Place::new();
    let code = "let all = programs::revenue(\"c-01\").await?;\n\
                let later = programs::revenue(\"c-01\").since(\"2999-01-01\".parse()?).await?;\n\
                let sum: f64 = all.iter().map(|row| row.revenue).sum();\n\
                (sum > 0.0, later.len(), demo::echo(&all[0].status).await?.text().to_owned())";
    let outcome = place.run(&RUN).input(code).expect("ok", 0);
    assert_eq!((&outcome["result"][0], outcome["result"][1].to_string().contains('0')), (&json!(true), true));
    // One program with one manifest: the sum of both.
    assert_eq!(outcome["manifest"], json!(["demo.echo", "demo.list_orders"]));
    let again = place.run(&RUN).input(code).expect("ok", 0);
    assert_eq!(again["cached"], json!(true));
    // Lines are the snippet's own.
    let wrong = place.run(&RUN).input("let n = 1;\nprograms::revenue(n).await?").expect("compile_error", 3);
    assert_snapshot!(normal(&wrong["diagnostics"][0]["line"]), @"2");
    let missing = place.run(&RUN).input("programs::revnue(\"c-01\").await?").expect("compile_error", 3);
    assert_snapshot!(normal(&missing["error"]["message"]), @"cannot find module or crate `programs` in this scope");
}

#[test]
fn an_error_in_a_called_program_names_the_program_and_its_line() {
    let place = Place::new();
    place.write(
        "gone",
        "//! Lists what is not there.\n\nstruct Args { name: String }\n\n/* A comment\n   of two lines. */\n\
         async fn run(args: Args) -> Result<usize> {\n    let name = args.name;\n    \
         Ok(demo::list_invoices(&name).await?.len())\n}\n",
    );
    let outcome =
        place.run(&RUN).input("let n = 1;\nprograms::gone(\"a\").await? + n").expect("compile_error", 3);
    let diagnostic = &outcome["diagnostics"][0];
    assert!(
        diagnostic["message"].as_str().unwrap().starts_with("in the saved program gone, line 9: "),
        "{outcome:#}"
    );
    let rendered = diagnostic["rendered"].as_str().unwrap();
    assert_snapshot!(normal(&rendered), @r"
    error[E0425]: in the saved program gone, line 9: cannot find function `list_invoices` in crate `demo`
     --> programs::gone:9
    9 |     Ok(demo::list_invoices(&name).await?.len())
    ");
    // Its place is that of the call.
    assert_eq!((&diagnostic["line"], &diagnostic["column"]), (&json!(2), &json!(11)), "{outcome:#}");
    assert_snapshot!(normal(&diagnostic["hint"]), @r"
    the saved program gone must be corrected, not this text: `toolsmith program check gone`
    ");
    // So does an error while it runs.
    place.write("fails", "//! Fails.\nasync fn run() -> Result<()> {\n    anyhow::bail!(\"no luck\")\n}\n");
    let failed = place.run(&["run", "--demo", "-"]).input("let n = 1;\nprograms::fails().await?").done();
    assert_snapshot!(normal(&failed.exits(1).stderr), @"the snippet failed: no luck (saved program fails, line 3)");
}

#[test]
fn a_program_calls_another_one() {
    let place = Place::new();
    place.write(
        "total",
        "//! Revenue of one customer.\nstruct Args { customer: String, #[serde(default)] factor: f64 }\n\
         async fn run(args: Args) -> Result<f64> {\n    \
         let rows = programs::revenue(&args.customer).await?;\n    \
         Ok(rows.iter().map(|row| row.revenue).sum::<f64>() * (1.0 + args.factor))\n}\n",
    );
    let run = ["program", "run", "total", "--demo", "--json", "--customer", "c-01"];
    let outcome = place.run(&run).expect("ok", 0);
    assert_eq!(outcome["manifest"], json!(["demo.list_orders"]));
    let shown = place.json(&["program", "show", "total", "--json", "--demo"]);
    assert_eq!((&shown["state"], &shown["result"]["type"]), (&json!("fits"), &json!("number")), "{shown:#}");
    // Its approval covers the texts of both.
    let hash = shown["hash"].clone();
    place.write("revenue", "struct Args { customer: String }\nstruct Row { revenue: f64 }\nasync fn run(args: Args) -> Result<Vec<Row>> { let _ = args.customer; Ok(Vec::new()) }");
    let outcome = place.run(&run).expect("ok", 0);
    assert_eq!(outcome["manifest"], json!([]));
    let shown = place.json(&["program", "show", "total", "--json", "--demo"]);
    assert_ne!(shown["hash"], hash);
    // A snippet reaches it as well, with its optional argument.
    let code = "programs::total(\"c-01\").factor(1.0).await?";
    place.run(&RUN).input(code).expect("ok", 0);
    // Without servers, a snippet gets the demo server also if only a program that it calls names it.
    place.write(
        "echoes",
        "async fn run() -> Result<String> { Ok(demo::echo(\"a\").await?.text().to_owned()) }",
    );
    place.run(&["run", "--json", "--allow", "*", "-"]).input("programs::echoes().await?").expect("ok", 0);
}

//! The accepted forms of a snippet, and their results.

use end_to_end::cache::{json, plain};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Runs every form; reports all failures together.
#[track_caller]
fn all(forms: &[(&str, &str, Value, &str)]) {
    let mut failures = Vec::new();
    for (name, code, result, stdout) in forms {
        let outcome = json(code).done().outcome();
        if outcome["status"] != "ok" || outcome["result"] != *result || outcome["stdout"] != *stdout {
            failures.push(format!("{name}: {outcome:#}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

const LOOP: &str = "for i in 0..3 { println!(\"{}\", i); }";
const COUNTED: &str = "0\n1\n2\n";

#[test]
fn statements_end_in_every_way_that_models_write() {
    let code = |end: &str| format!("{LOOP} {end}");
    let ends = [
        ("a value", "42", json!(42)),
        ("Ok", "Ok(42)", json!(42)),
        ("return Ok", "return Ok(42)", json!(42)),
        ("return Ok;", "return Ok(42);", json!(42)),
        ("a semicolon", "let _ = 42;", Value::Null),
        ("unit", "()", Value::Null),
        ("Ok of unit", "Ok(())", Value::Null),
        ("a comment", "42\n// done", json!(42)),
        ("a comment at once", "42 // done", json!(42)),
        ("a block comment", "42 /* done */", json!(42)),
        ("a question mark", "Ok::<_, std::fmt::Error>(42)?", json!(42)),
        ("if and else", "if args.get(\"x\").is_none() { 42 } else { 0 }", json!(42)),
        ("a match of results", "match 1 { 1 => Ok(42), _ => Err(anyhow!(\"no\")) }", json!(42)),
        ("an early return", "if true { return Ok(42); } Ok(0)", json!(42)),
        ("an option", "Some(42)", json!(42)),
        ("none", "None::<i32>", Value::Null),
        ("a tuple", "(42, \"x\", [1.5])", json!([42, "x", [1.5]])),
        ("json!", "json!({ \"answer\": 42 })", json!({ "answer": 42 })),
    ];
    let codes: Vec<_> = ends.iter().map(|(name, end, result)| (*name, code(end), result.clone())).collect();
    let forms: Vec<_> =
        codes.iter().map(|(name, code, result)| (*name, &**code, result.clone(), COUNTED)).collect();
    all(&forms);
}

#[test]
fn a_result_is_found_where_its_form_hides_it() {
    let hidden = |value: &str| {
        format!(
            "struct Page;\nimpl Page {{ fn text(&self) -> Result<u32> {{ {value} }} }}\n\
             impl std::ops::Add<u32> for Page {{ type Output = Result<u32>; fn add(self, by: u32) -> Result<u32> {{ Ok(by) }} }}\n{LOOP} "
        )
    };
    let method = hidden("Ok(42)") + "Page.text()";
    let operator = hidden("Ok(0)") + "Page + 42";
    all(&[("a method", &method, json!(42), COUNTED), ("an operator", &operator, json!(42), COUNTED)]);
    let failing = hidden("Err(anyhow!(\"no text\"))") + "Page.text()";
    let outcome = json(&failing).expect("runtime_error", 1);
    assert_eq!(outcome["error"]["message"], "no text", "{outcome:#}");
}

#[test]
fn markdown_and_whole_files_are_accepted() {
    let run = format!("async fn run() -> Result<i32> {{ {LOOP} Ok(42) }}");
    let fenced = format!("```rust\n{LOOP}\n42\n```");
    let prose = format!("Here is the code:\n\n```rust\n{LOOP}\n42\n```\nIt counts to *two*.\n");
    let plain_fence = format!("```\n{LOOP}\n42\n```\n");
    let fenced_file = format!("```rust\n{run}\n```");
    let sync = format!("fn run() -> Result<i32, std::fmt::Error> {{ {LOOP} Ok(42) }}");
    let value = format!("async fn run() -> i32 {{ {LOOP} 42 }}");
    let main = format!("fn main() {{ {LOOP} }}");
    let main_result = format!("fn main() -> Result<(), Box<dyn std::error::Error>> {{ {LOOP} Ok(()) }}");
    let tokio = format!("#[tokio::main]\nasync fn main() -> Result<i32> {{ {LOOP} Ok(42) }}");
    let flavour = format!("#[tokio::main(flavor = \"current_thread\")] async fn main() {{ {LOOP} }}");
    let helper = format!(
        "use std::fmt::Write as _;\nfn six() -> i32 {{ 6 }}\nasync fn run() -> Result<i32> {{ let mut text = String::new(); write!(text, \"{{}}\", six())?; {LOOP} Ok(text.parse::<i32>()? * 7) }}"
    );
    let inner = format!("#![allow(dead_code)]\n//! About it.\n{LOOP} 42");
    let inner_file = format!("#![allow(unused)]\n{run}");
    all(&[
        ("run", &run, json!(42), COUNTED),
        ("a fence", &fenced, json!(42), COUNTED),
        ("a fence in prose", &prose, json!(42), COUNTED),
        ("a fence without a language", &plain_fence, json!(42), COUNTED),
        ("a fenced file", &fenced_file, json!(42), COUNTED),
        ("a synchronous run", &sync, json!(42), COUNTED),
        ("a run without Result", &value, json!(42), COUNTED),
        ("main", &main, Value::Null, COUNTED),
        ("main with Result", &main_result, Value::Null, COUNTED),
        ("#[tokio::main]", &tokio, json!(42), COUNTED),
        ("#[tokio::main] with arguments", &flavour, Value::Null, COUNTED),
        ("helpers next to run", &helper, json!(42), COUNTED),
        ("inner attributes", &inner, json!(42), COUNTED),
        ("inner attributes of a file", &inner_file, json!(42), COUNTED),
    ]);
}

#[test]
fn items_and_macros_between_statements_work() {
    all(&[
        (
            "use, struct and fn",
            "let one = 1;\nuse std::cmp::max;\n#[derive(Serialize)]\nstruct Pair { a: i32, b: i32 }\nlet two = double(one);\nfn double(x: i32) -> i32 { x * 2 }\nPair { a: max(one, two), b: 3 }",
            json!({ "a": 2, "b": 3 }),
            "",
        ),
        (
            "tokio::join!",
            "let (a, b) = tokio::join!(demo::echo(\"a\"), async { 2 });\nformat!(\"{}{b}\", a?.text())",
            json!("a2"),
            "",
        ),
        ("futures::join!", "let (a, b) = futures::join!(async { 1 }, async { 2 });\na + b", json!(3), ""),
        (
            "? on several errors",
            "let a: i32 = \"1\".parse()?;\nlet b: f64 = \"2.5\".parse()?;\nlet c = std::str::from_utf8(&[51])?;\nlet d: Value = serde_json::from_str(c)?;\nlet e = demo::echo(\"5\").await?.text().parse::<i32>().context(\"no number\")?;\njson!([a, b, d, e])",
            json!([1, 2.5, 3, 5]),
            "",
        ),
        ("an async block", "let work = async { Ok::<i32, ToolError>(6) };\nwork.await? * 7", json!(42), ""),
        ("names like ours", "let __tail = 1; let tail = 2; let run = 3; __tail + tail + run", json!(6), ""),
        ("no ASCII", "let größe = \"Grüße, 世界 🦀\"; größe.chars().count()", json!(11), ""),
        ("carriage returns", "let a = 40;\r\nlet b = 2;\r\na + b\r\n", json!(42), ""),
    ]);
}

#[test]
fn a_run_with_arguments_reads_them() {
    let outcome =
        json("async fn run(args: Args) -> Result<String> { Ok(args.require(\"name\")?.to_uppercase()) }")
            .arguments(&["--arg", "name=ada"])
            .expect("ok", 0);
    assert_eq!(outcome["result"], "ADA");
    let missing = json("args.require(\"name\")?.len()").expect("runtime_error", 1);
    assert_snapshot!(normal(&missing["error"]["message"]), @r#"the argument "name" was not given"#);
}

#[test]
fn a_result_is_unwrapped_by_its_type() {
    let mut shown = Vec::new();
    for code in [
        "demo::fail().await",
        "let failed = demo::fail().await;\nfailed",
        "demo::fail().await?",
        "Err::<i32, _>(demo::fail().await.unwrap_err())",
    ] {
        let outcome = json(code).expect("runtime_error", 1);
        assert_eq!(outcome["result"], Value::Null, "{code}");
        assert_eq!(outcome["error"]["kind"], "tool", "{code}");
        shown.push(normal(&outcome["error"]["message"]));
        assert_eq!(outcome["error"]["evidence"]["tool"]["kind"], "failed", "{code}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    demo.fail failed: this tool always fails
    demo.fail failed: this tool always fails
    demo.fail failed: this tool always fails
    demo.fail failed: this tool always fails
    ");
    let outcome = json("fn read() -> Result<i32, String> { Err(\"not today\".into()) }\nread()")
        .expect("runtime_error", 1);
    assert_eq!(outcome["error"]["message"], "not today");
    assert_eq!(outcome["error"]["kind"], "error");
}

#[test]
fn text_output_shows_output_and_result() {
    let done = plain(&format!("{LOOP} 42")).done().exits(0);
    assert_eq!(done.stdout, "0\n1\n2\n42\n");
    let done = plain("print!(\"no line end\"); \"text\"").done().exits(0);
    assert_eq!(done.stdout, "no line end\ntext\n");
    let done = plain("eprintln!(\"aside\"); json!({ \"a\": [1] })").done().exits(0);
    assert_snapshot!(normal(&done.stderr), @"aside");
    assert_eq!(done.stdout, "{\"a\":[1]}\n");
    let printed = plain("demo::fail().message(\"out of stock\").await").done().exits(1);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)
    the snippet failed: demo.fail failed: out of stock; 1 tool call was made
    ");
    let done =
        plain("let x: i32 = \"a\"; x").done().exits(3).says(&["error[E0308]", "1:14", "does not compile"]);
    assert_eq!(done.stdout, "");
}

/// As in a crate of `codegen --out`, where cargo finds the modules in the package `tools`.
#[test]
fn modules_may_be_written_as_members_of_tools() {
    for code in [
        "tools::demo::echo(\"a\").await?.text()",
        "use tools::demo;\ndemo::echo(\"a\").await?.text()",
        "use tools::*;\ndemo::echo(\"a\").await?.text()",
        "use tools::{demo::echo};\necho(\"a\").await?.text()",
        "use tools::demo::echo;\nasync fn run() -> Result<String> { Ok(echo(\"a\").await?.text()) }",
    ] {
        assert_eq!(json(code).result(), "a", "{code}");
    }
}

//! The outcome as JSON, and the options of `run`.

use std::fs;
use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::cache::{json, plain};
use end_to_end::harness::{Run, assert_says};
use end_to_end::page::normal;
use end_to_end::serving::DEMO;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

const FIELDS: [&str; 18] = [
    "cached",
    "calls",
    "calls_refused",
    "calls_total",
    "content",
    "cpu_ms",
    "diagnostics",
    "error",
    "fixes",
    "manifest",
    "optimized",
    "phases_ms",
    "result",
    "sandbox",
    "status",
    "stderr",
    "stdout",
    "truncated",
];

#[track_caller]
fn assert_fields(outcome: &Value) {
    assert_eq!(keys(outcome), FIELDS);
    let phases = keys(&outcome["phases_ms"]);
    assert_eq!(phases, ["bindings", "compile", "connect", "parse", "permission", "run", "total"]);
    let parts = phases.iter().filter(|phase| **phase != "total");
    let longest = parts.map(|phase| outcome["phases_ms"][*phase].as_f64().unwrap()).fold(0.0, f64::max);
    assert!(outcome["phases_ms"]["total"].as_f64().unwrap() >= longest, "{outcome:#}");
    assert_eq!(keys(&outcome["truncated"])[..], ["stderr", "stdout"]);
    assert_eq!(keys(&outcome["sandbox"])[..], ["layers", "refused", "tier"]);
    let layers = outcome["sandbox"]["layers"].as_array().unwrap();
    assert!(outcome["status"] == "compile_error" || layers.contains(&json!("seccomp")), "{outcome:#}");
}

#[test]
fn a_successful_outcome_has_exactly_the_documented_fields() {
    let code = "let page = demo::list_orders().limit(2).await?;\nfor order in &page.orders { println!(\"{}\", order.id); }\neprintln!(\"done\");\ndemo::echo(\"a\").await?;\nemit(\"a part\");\npage.orders.len()";
    let outcome = json(code).expect("ok", 0);
    assert_fields(&outcome);
    assert_eq!(outcome["result"], 2);
    assert_eq!(outcome["stdout"], "o-1001\no-1002\n");
    assert_eq!(outcome["stderr"], "done\n");
    assert_eq!(outcome["content"], json!([{ "type": "text", "text": "a part" }]));
    assert_eq!(outcome["manifest"], json!(["demo.echo", "demo.list_orders"]));
    assert_eq!(outcome["calls_total"], 2);
    let calls = outcome["calls"].as_array().unwrap();
    assert_eq!(keys(&calls[0])[..], ["bytes", "ms", "ok", "server", "tool"]);
    assert_eq!(
        (&calls[0]["server"], &calls[0]["tool"], &calls[0]["ok"]),
        (&json!("demo"), &json!("list_orders"), &json!(true))
    );
    assert_eq!(calls[1]["tool"], "echo");
    assert!(calls[0]["bytes"].as_u64().unwrap() > 100 && calls[0]["ms"].as_f64().unwrap() > 0.0, "{calls:?}");
    assert_eq!(
        (&outcome["error"], &outcome["diagnostics"], &outcome["fixes"]),
        (&Value::Null, &json!([]), &json!([]))
    );
}

#[test]
fn failed_outcomes_have_the_same_fields() {
    let wrong = json("let x: i32 = \"a\"; x").expect("compile_error", 3);
    assert_fields(&wrong);
    let diagnostic = &wrong["diagnostics"][0];
    assert_eq!(keys(diagnostic)[..], ["code", "column", "hint", "level", "line", "message", "rendered"]);
    assert_eq!((&diagnostic["level"], &diagnostic["line"]), (&json!("error"), &json!(1)));
    assert_eq!(keys(&wrong["error"])[..], ["evidence", "kind", "message"]);

    let failed = json("println!(\"kept\"); demo::echo(\"a\").await?; demo::fail().await?; 1")
        .expect("runtime_error", 1);
    assert_fields(&failed);
    assert_eq!(failed["stdout"], "kept\n");
    assert_eq!(failed["calls"][1]["ok"], false);
    assert_fields(&json("let x = ;").expect("compile_error", 3));
    assert_fields(&json("loop {}").arguments(&["--timeout", "1"]).expect("timeout", 4));
}

#[test]
fn check_compiles_and_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    let config = format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server] }}\n  counted: {{ command: {:?}, args: [changing-tools, {sessions:?}] }}\n",
        end_to_end::harness::FAULT_SERVER
    );
    let count = || fs::read(&sessions).unwrap().len();
    let code = "println!(\"ran\"); demo::slow(60.0).await?; counted::changing().message(\"x\").await?.text()";
    for _ in 0..2 {
        let outcome = json(code).argument("--check").config(&config).expect("ok", 0);
        assert_eq!(outcome["manifest"], json!(["counted.changing", "demo.slow"]));
        assert_eq!((&outcome["stdout"], &outcome["result"]), (&json!(""), &Value::Null));
        assert_eq!((&outcome["calls_total"], &outcome["phases_ms"]["run"]), (&json!(0), &json!(0.0)));
        assert_eq!(count(), 1, "expected one session for its tools and none for the check");
    }
    let unreachable = "if args.get(\"never\").is_some() { demo::fail().await?; }\nfn unused() { let _ = demo::create_note(\"a\", \"b\"); }\n1";
    let outcome = json(unreachable).argument("--check").expect("ok", 0);
    assert_eq!(outcome["manifest"], json!(["demo.fail"]), "unreachable code is in the manifest");
    json("let x: i32 = \"a\"; x").argument("--check").expect("compile_error", 3);
    let done = plain("demo::echo(\"x\").await?.text()").argument("--check").done().exits(0);
    assert_eq!(done.stdout, "demo.echo\n");
}

#[test]
fn the_manifest_is_exact() {
    let code = "use demo::*;\nuse demo as shop;\nmacro_rules! call { ($name:ident) => { shop::$name(\"x\") } }\nlet a = call!(echo).await?.text();\nlet b = search_products(\"lamp\").await?.products.len();\n(a, b)";
    let outcome = json(code).expect("ok", 0);
    assert_eq!(outcome["manifest"], json!(["demo.echo", "demo.search_products"]));
    assert_eq!(outcome["result"], json!(["x", 3]));
    let outcome = json("// demo is not used\nlet text = \"demo::echo\"; text").expect("ok", 0);
    assert_eq!(outcome["manifest"], json!([]));
}

#[test]
fn arguments_files_and_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    fs::write(&file, "let n: i32 = args.require(\"n\")?.parse()?;\nprintln!(\"{:?} {:?}\", args.get(\"text\"), args.get(\"none\"));\nn * 2").unwrap();
    let run = |file: &str| {
        Run::new(shared()).working_folder(folder.path()).arguments(&[
            "run",
            file,
            "--quiet",
            "--arg",
            "n=21",
            "--arg",
            "text=a=b, \"ü\"",
            "--arg",
            "empty=",
        ])
    };
    for name in [file.to_str().unwrap(), "snippet.rs", "./snippet.rs"] {
        let done = run(name).done().exits(0);
        assert_eq!(done.stdout, "Some(\"a=b, \\\"ü\\\"\") None\n42\n");
        assert_eq!(done.stderr, "", "quiet");
    }
    let loud = plain("1").done().exits(0);
    assert_eq!(loud.stdout, "1\n");
    let loud = plain("demo::echo(\"hello\").await?.text()").done().exits(0);
    assert_snapshot!(normal(&json!(loud.stderr)), @r"
    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)
    ");
    let printed = Run::new(shared()).arguments(&["run", "no-such-file.rs"]).done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: the snippet can't be read: there is no file no-such-file.rs
    help: check the path; `toolsmith run -` reads the snippet from standard input
    ");
    assert_snapshot!(normal(&Run::new(shared()).arguments(&["run", "/"]).done().exits(2).stderr), @r"
    toolsmith: the snippet can't be read: / is a folder
    help: name the file of a snippet in it
    ");
    let printed = Run::new(shared()).arguments(&["run", "-"]).input(b"let a = \"\xff\";").done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @r"
    toolsmith: the snippet is not UTF-8: byte 9 is not part of a character
    help: save the file as UTF-8
    ");
}

#[test]
fn every_example_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut examples = 0;
    for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "rs") {
            examples += 1;
            let done = Run::new(shared()).arguments(&["run", file.to_str().unwrap()]).done().exits(0);
            assert!(!done.stdout.is_empty(), "{done:#?}");
            let quickstart = folder.join("quickstart.yaml");
            let named = ["run", "--quiet", file.to_str().unwrap(), "--config", quickstart.to_str().unwrap()];
            let plain_run = Run::new(shared()).arguments(&named).done().exits(0);
            assert_eq!(plain_run.stdout, done.stdout);
        }
    }
    assert!(examples >= 3, "{examples} examples");
}

#[test]
fn limits_are_reported_in_readable_units_with_their_key() {
    let limited = format!("{DEMO}codeMode: {{ sandbox: {{ output: 64KiB, memory: 256MiB, cpu: 1 }} }}\n");
    for (code, status, says) in [
        (
            "loop { println!(\"{}\", \"x\".repeat(1000)); }",
            "output_limit",
            ["more than 64 KiB", "codeMode.sandbox.output"],
        ),
        ("vec![1u8; 1 << 30].len()", "memory_limit", ["it needed 1 GiB more", "codeMode.sandbox.memory"]),
        ("loop {}", "timeout", ["1 s of processor time", "codeMode.sandbox.cpu"]),
    ] {
        let outcome: Value = serde_json::from_str(&json(code).config(&limited).done().stdout).unwrap();
        assert_eq!(outcome["status"], status, "{outcome:#}");
        assert_says(&outcome["error"]["message"], &says);
    }
    let outcome =
        json("sleep(Duration::from_secs(600)).await").arguments(&["--timeout", "2"]).expect("timeout", 4);
    assert_snapshot!(normal(&outcome["error"]["message"]), @r"
    it was stopped after 2 s, while running; do less at once, or raise the time limit: --timeout, codeMode.sandbox.wallClock, or the timeout of execute_code (at most codeMode.maxTimeout)
    ");
}

#[test]
fn null_is_a_result_and_unit_is_none() {
    for (code, stdout) in [
        ("None::<u32>", "null\n"),
        ("serde_json::Value::Null", "null\n"),
        ("Ok::<Option<u32>, anyhow::Error>(None)", "null\n"),
        ("()", ""),
        ("Ok::<(), anyhow::Error>(())", ""),
        ("demo::echo(\"a\").await?;", ""),
        ("fn main() {\n    println!(\"printed\");\n}", "printed\n"),
        ("async fn main() -> Result<()> {\n    Ok(())\n}", ""),
    ] {
        assert_eq!(plain(code).done().stdout, stdout, "{code}");
    }
}

//! The ways a snippet can end: normally, with an error, at a limit.

use end_to_end::cache::{json, plain};
use end_to_end::harness::{FOREVER, assert_says};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::Value;

/// A generous time limit for snippets that should end long before.
const LONG: [&str; 2] = ["--timeout", "40"];

#[test]
fn a_too_large_program_is_an_outcome() {
    let code = "static LARGE: [u8; 80 << 20] = [1; 80 << 20];\nLARGE[std::hint::black_box(7)]";
    let outcome = json(code).expect("compile_error", 3);
    assert_snapshot!(normal(&outcome["error"]["message"]), @"the program would be larger than 64 MiB");
    assert_snapshot!(normal(&outcome["diagnostics"][0]["hint"]), @r"
    a large `static` is part of the program; create large values at run time
    ");
}

#[test]
fn exit_codes_of_the_snippet_have_a_meaning() {
    let outcome = json("println!(\"before\"); std::process::exit(3)").expect("runtime_error", 1);
    assert_eq!(outcome["error"]["kind"], "exit");
    assert_eq!(outcome["error"]["evidence"]["code"], 3);
    assert_eq!(outcome["stdout"], "before\n");

    let outcome = json("demo::echo(\"x\").await?; std::process::exit(0)").expect("ok", 0);
    assert_eq!(outcome["result"], Value::Null);
    assert_eq!(outcome["calls_total"], 1);

    let outcome = json("fn leave() { std::process::exit(7) }\nleave(); 42").expect("runtime_error", 1);
    assert_eq!(outcome["error"]["evidence"]["code"], 7);
}

#[test]
fn errors_of_the_snippet_are_runtime_errors() {
    let cases = [
        "Err::<(), _>(anyhow!(\"no stock\").context(\"counting\"))",
        "bail!(\"gave up after {} tries\", 3)",
        "let x: i32 = \"abc\".parse()?; x",
        "return Err(anyhow!(\"early\"));",
        "async fn run() -> Result<(), String> { Err(\"plain\".to_string()) }",
        "fn main() -> Result<(), Box<dyn std::error::Error>> { Err(\"boxed\".into()) }",
        "HashMap::from([(vec![1], 2)])",
    ];
    let mut shown = Vec::new();
    for code in cases {
        let outcome = json(code).expect("runtime_error", 1);
        assert_eq!(outcome["error"]["kind"], "error", "{code}");
        shown.push(normal(&outcome["error"]["message"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    counting: no stock
    gave up after 3 tries
    invalid digit found in string
    early
    plain
    boxed
    the snippet's result cannot be turned into JSON: key must be a string
    ");
}

#[test]
fn a_panic_names_line_and_message() {
    let cases = [
        ("panic!(\"boom\")", (1, 1)),
        ("let a = 1;\nlet list: Vec<i32> = vec![];\nlist[a]", (3, 5)),
        ("let x: Option<i32> = None;\n    x.unwrap()", (2, 7)),
        ("let a = args.iter().count() as i32;\n1 / a", (2, 1)),
        ("let a = 1;\nassert_eq!(a, 2, \"größer\");", (2, 1)),
        ("fn main() {\n    unreachable!(\"never\")\n}", (2, 5)),
        ("let a = 1;\nstd::thread::spawn(|| panic!(\"elsewhere\")).join().unwrap();", (2, 51)),
        ("let a = 1;\nlet b: i32 = std::panic::panic_any(5); a + b", (2, 14)),
    ];
    let mut shown = Vec::new();
    for (code, (line, column)) in cases {
        let outcome = json(code).expect("panic", 1);
        assert_eq!(outcome["error"]["kind"], "panic", "{code}");
        shown.push(normal(&outcome["error"]["message"]));
        let evidence = &outcome["error"]["evidence"];
        assert_eq!(
            (&evidence["line"], &evidence["column"]),
            (&line.into(), &column.into()),
            "{code}: {evidence}"
        );
        shown.push(normal(&outcome["stderr"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    boom
    thread 'main' panicked at line 1, column 1:
    boom

    index out of bounds: the len is 0 but the index is 1
    thread 'main' panicked at line 3, column 5:
    index out of bounds: the len is 0 but the index is 1

    called `Option::unwrap()` on a `None` value
    thread 'main' panicked at line 2, column 7:
    called `Option::unwrap()` on a `None` value

    attempt to divide by zero
    thread 'main' panicked at line 2, column 1:
    attempt to divide by zero

    assertion `left == right` failed: größer
      left: 1
     right: 2
    thread 'main' panicked at line 2, column 1:
    assertion `left == right` failed: größer
      left: 1
     right: 2

    internal error: entered unreachable code: never
    thread 'main' panicked at line 2, column 5:
    internal error: entered unreachable code: never

    called `Result::unwrap()` on an `Err` value: Any { .. }
    thread 'unnamed' panicked at line 2, column 23:
    elsewhere
    thread 'main' panicked at line 2, column 51:
    called `Result::unwrap()` on an `Err` value: Any { .. }

    a panic without a message
    thread 'main' panicked at line 2, column 14:
    a panic without a message
    ");
    let outcome =
        json("let caught = std::panic::catch_unwind(|| panic!(\"caught\")).is_err(); caught").expect("ok", 0);
    assert_eq!(outcome["result"], true);
    assert_snapshot!(normal(&plain("\n\npanic!(\"boom\")").done().exits(1).stderr), @r"
    thread 'main' panicked at line 3, column 1:
    boom
    the snippet panicked: boom (line 3, column 1)
    ");
}

#[test]
fn wall_clock_and_cpu_time_are_limited() {
    for code in [
        "loop {}",
        "loop { tokio::time::sleep(Duration::from_secs(1)).await; }",
        "std::thread::sleep(Duration::from_secs(600));",
    ] {
        let outcome = json(&format!("println!(\"before\"); {code}"))
            .arguments(&["--timeout", "2"])
            .expect("timeout", 4);
        assert_eq!(outcome["error"]["kind"], "wall_clock", "{code}");
        assert_eq!(outcome["error"]["evidence"]["seconds"], 2.0);
        assert_eq!(outcome["error"]["evidence"]["phase"], "running");
        assert_eq!(outcome["stdout"], "before\n");
    }
    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\ncodeMode: { sandbox: { cpu: 1 } }\n";
    for code in [
        "let mut x = 1u64; loop { x = x.wrapping_mul(3); std::hint::black_box(x); }",
        "std::thread::spawn(|| loop {}); loop {}",
    ] {
        let outcome = json(code).arguments(&LONG).config(config).expect("timeout", 4);
        assert_eq!(outcome["error"]["kind"], "cpu", "{code}");
        assert_eq!(outcome["error"]["evidence"]["seconds"], 1);
    }
    let waits = json("demo::slow(1.5).await?; tokio::time::sleep(Duration::from_millis(100)).await; 1");
    assert_eq!(waits.config(config).result(), 1);
    let compiling = json(FOREVER).arguments(&["--timeout", "2"]).expect("timeout", 4);
    assert_eq!(compiling["error"]["evidence"]["phase"], "compiling");
    plain("loop {}").arguments(&["--timeout", "1.5"]).done().exits(4).says(&[
        "time limit",
        "1.5 s",
        "running",
    ]);
}

#[test]
fn memory_and_stack_are_limited() {
    let four_gigabytes = [
        "let bytes = vec![1u8; 4 << 30]; bytes.len()",
        "let mut parts = Vec::new(); for _ in 0..4096 { parts.push(vec![1u8; 1 << 20]); } parts.len()",
        "let mut text = String::from(\"x\"); loop { let copy = text.clone(); text.push_str(&copy); }",
    ];
    for code in four_gigabytes {
        let outcome = json(code).arguments(&LONG).expect("memory_limit", 5);
        assert_eq!(outcome["error"]["kind"], "memory", "{code}");
        assert_eq!(outcome["error"]["evidence"]["bytes"], 512 << 20, "{code}");
    }
    let recursions = [
        "fn down(n: u64) -> u64 { if n == u64::MAX { 0 } else { down(n + 1) + 1 } }\ndown(0)",
        "fn main() { fn down(n: u64) -> u64 { std::hint::black_box(down(n + 1) + 1) }\ndown(0); }",
        "std::thread::spawn(|| { fn down(n: u64) -> u64 { std::hint::black_box(down(n + 1) + 1) }\ndown(0) }).join().unwrap()",
        "let deep = (0..1_000_000).fold(Value::Null, |inner, _| json!([inner])); drop(deep);",
    ];
    for code in recursions {
        let outcome = json(code).arguments(&LONG).expect("memory_limit", 5);
        assert_eq!(outcome["error"]["kind"], "stack_overflow", "{code}");
    }
    let small = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\ncodeMode: { sandbox: { memory: 64MiB } }\n";
    let outcome = json("vec![1u8; 60 << 20].len()").config(small).expect("memory_limit", 5);
    assert_eq!(outcome["error"]["evidence"]["bytes"], 64 << 20);
    assert_eq!(json("vec![1u8; 10 << 20].len()").config(small).result(), 10 << 20);
}

#[test]
fn output_is_limited() {
    let ten_gigabytes = "let line = \"x\".repeat(1 << 16); for _ in 0..163_840 { println!(\"{line}\"); }";
    let outcome = json(ten_gigabytes).arguments(&LONG).expect("output_limit", 5);
    assert_eq!(outcome["error"]["kind"], "output");
    assert_eq!(outcome["truncated"]["stdout"], true);
    assert_eq!(outcome["stdout"].as_str().unwrap().len(), 8 << 20);

    let to_stderr = ten_gigabytes.replace("println", "eprintln");
    let outcome = json(&to_stderr).arguments(&LONG).expect("output_limit", 5);
    assert_eq!(outcome["truncated"]["stderr"], true);

    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server] }\ncodeMode: { sandbox: { output: 10 B } }\n";
    let outcome = json("println!(\"0123456789\"); 1").config(config).expect("output_limit", 5);
    assert_eq!(outcome["stdout"], "0123456789");
    assert_eq!(outcome["error"]["evidence"]["bytes"], 10);
    let outcome = json("print!(\"0123456789\"); 1").config(config).expect("ok", 0);
    assert_eq!(outcome["stdout"], "0123456789");

    let result = json("\"x\".repeat(40 << 20)").arguments(&LONG).expect("runtime_error", 1);
    assert_says(&result["error"]["message"], &["limit", "return a part"]);
    let emitted = json("loop { emit(\"x\".repeat(1 << 20)); }").arguments(&LONG).expect("output_limit", 5);
    assert_eq!(emitted["error"]["kind"], "content");
    assert!(emitted["content"].as_array().unwrap().len() <= 16);
}

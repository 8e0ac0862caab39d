//! Snippets that fail, as users read it at the terminal and models in an answer of `execute_code`.

use end_to_end::cache::plain;
use end_to_end::page::Page;
use end_to_end::serving::{DEMO, Serve, execute};
use serde_json::{Value, json};

/// Titles and snippets.
const COMPILE_ERRORS: [(&str, &str); 22] = [
    ("an unknown tool", "demo::list_order().await?"),
    ("a tool that resembles none", "demo::delete_everything().await?"),
    ("an unknown module", "dmeo::list_orders().await?"),
    ("an unknown crate", "let x = reqwest::get(\"a\").await?;\n1"),
    ("a missing argument", "demo::get_customer().await?"),
    ("too many arguments", "demo::list_orders(10).await?"),
    ("an unknown setter", "demo::create_note(\"a\", \"b\").tag(\"x\").await?"),
    ("a wrong type", "let n: u32 = \"text\";\nn"),
    ("a result that is not the value", "let n: u32 = demo::list_orders().await?;\nn"),
    ("an unknown field", "let page = demo::list_orders().await?;\npage.order.len()"),
    ("a variable that was moved", "let a = vec![1];\nlet b = a;\nlet c = a;\n(b, c)"),
    ("a value that cannot be JSON", "struct A { x: i32 }\nA { x: 1 }"),
    ("named arguments", "demo::list_orders(limit: 10).await?"),
    ("no await", "match 1 { 1 => demo::echo(\"a\"), _ => demo::echo(\"b\") }"),
    (
        "two errors",
        "let page = demo::list_orders().await?;\nlet a = page.order.len();\nlet b = page.next;\na",
    ),
    ("a syntax error", "let a = ;\na"),
    ("an open bracket", "let a = (1;\na"),
    ("nothing", ""),
    ("only a comment", "// nothing"),
    ("text", "I will now list the orders."),
    ("two blocks", "```rust\n1\n```\nand\n```rust\n2\n```"),
    ("no entry", "fn helper() -> i32 { 1 }"),
];

/// Snippets that compile.
const RUNTIME_ERRORS: [(&str, &str); 17] = [
    ("a tool fails", "demo::fail().await?.text()"),
    (
        "a tool fails after output",
        "println!(\"before\");\nlet page = demo::list_orders().limit(1).await?;\ndemo::fail().await?;\npage.orders.len()",
    ),
    ("an error of its own", "bail!(\"no orders of {}\", \"c-01\")"),
    ("an error with context", "demo::fail().await.context(\"asking for help\")?;\n1"),
    ("a wrong argument", "demo::list_orders().limit(-5).await?.orders.len()"),
    ("JSON of another shape", "demo::json_response().await?.json::<Vec<i32>>()?.len()"),
    ("a panic", "let items = vec![1, 2];\nlet n = items.len() + 5;\nitems[n]"),
    ("a panic with a message", "panic!(\"no luck\")"),
    ("an unwrapped error", "demo::fail().await.unwrap().text()"),
    ("integer overflow", "let a: i32 = std::hint::black_box(i32::MAX);\na + 1"),
    ("memory", "let bytes = vec![1u8; 4 << 30];\nbytes.len()"),
    (
        "deep recursion",
        "fn deep(n: u64) -> u64 { if n == u64::MAX { 0 } else { 1 + std::hint::black_box(deep(n + 1)) } }\ndeep(0)",
    ),
    ("a file", "std::fs::read_to_string(\"/etc/passwd\")?"),
    ("a folder", "std::fs::write(\"out.txt\", \"text\")?;\n1"),
    ("the network", "std::net::TcpStream::connect(\"127.0.0.1:80\")?;\n1"),
    ("a process", "std::process::Command::new(\"ls\").status()?;\n1"),
    ("an exit", "std::process::exit(3)"),
];

/// The text blocks of an answer.
pub(super) fn texts(answer: &Value) -> String {
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    let texts = content.iter().map(|part| part["text"].as_str().unwrap_or("[no text]"));
    texts.collect::<Vec<_>>().join("\n[next block]\n")
}

/// One page for users and one for models.
fn pages(users: &'static str, models: &'static str, snippets: &[(&str, &str)]) {
    let (mut terminal, mut answers) = (Page::new(users), Page::new(models));
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    for (id, (title, code)) in (1..).zip(snippets) {
        let title = format!("{title}\n\n{}", indented(code));
        terminal.run(&title, plain(code).config_alone(DEMO));
        answers.add(&title, &texts(&server.ask(id, "tools/call", &execute(code))));
    }
    terminal.check();
    answers.check();
}

fn indented(code: &str) -> String {
    code.lines().map(|line| format!("    {line}\n")).collect::<String>().trim_end().to_owned()
}

#[test]
fn compile_errors() {
    pages("errors-compile", "answers-compile-errors", &COMPILE_ERRORS);
}

#[test]
fn runtime_errors() {
    pages("errors-runtime", "answers-runtime-errors", &RUNTIME_ERRORS);
}

#[test]
fn limits_and_denials() {
    let mut page = Page::new("errors-limits");
    let trusted = |code: &str| plain(code).config_alone(DEMO);
    let limited = |code: &str| trusted(code).arguments(&["--timeout", "1"]);
    page.run("an endless loop", limited("println!(\"on\");\nloop {}"));
    page.run("a slow tool", limited("demo::slow(30).await?;\n1"));
    let demo =
        |more: &str| format!("mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server]{more} }}\n");
    let output = demo("") + "codeMode: { sandbox: { output: 100 } }\n";
    page.run("too much output", plain("loop { println!(\"too much output\"); }").config(&output));
    let echo = "demo::echo(\"x\").await?.text()";
    page.run("no terminal to ask on", plain(echo).config_alone(&demo("")));
    page.run(
        "two tools, no terminal",
        plain("demo::echo(\"x\").await?;\ndemo::fail().await?;").config_alone(&demo("")),
    );
    page.run("a server that is denied", plain(echo).config(&demo(", permission: deny")));
    page.run("a tool that is denied", plain(echo).config(&demo(", permissions: { echo: deny }")));
    page.run("a tool that is disabled", plain(echo).config(&demo(", disabledTools: [echo]")));
    let globally = demo("") + "globalSettings: { deny: [demo.echo] }\n";
    page.run("a tool that globalSettings.deny excludes", plain(echo).config(&globally));
    page.check();
}

#[test]
fn successes() {
    let mut page = Page::new("results");
    let trusted = |code: &str| plain(code).config_alone(DEMO);
    let echo = "demo::echo(\"x\").await?.text()";
    page.run("without a configuration", plain(echo));
    page.run("a check", trusted(echo).argument("--check"));
    page.run("a correction", trusted("let a = vec![1];\nlet b = a;\nlet c = a;\n(b, c)"));
    page.run("a call that is not awaited", trusted("demo::echo(\"x\");\n1"));
    page.run("output and a result", trusted("println!(\"printed\");\ndemo::get_customer(\"c-01\").await?"));
    page.run("emitted content", trusted("emit(\"a note\");\nemit(demo::image().await?);"));
    page.run("a missing argument", trusted("args.get(\"file\").context(\"no file\")?.to_string()"));
    page.check();
}

#[test]
fn answers_of_models() {
    let mut page = Page::new("answers");
    let gone = "  gone: { command: /nowhere/gone-mcp, trust: true }\n  asks: { command: toolsmith, args: [demo-server] }\n";
    let mut server = Serve::new(&format!(
        "{DEMO}{gone}codeMode: {{ maxTimeout: 30 }}\nserve: {{ output: 4KiB, listWait: 50 }}\n"
    ))
    .start();
    server.shake_hands();
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let run = |code: &str| call("execute_code", json!({ "code": code }));
    let requests = [
        ("a value", run("6 * 7")),
        ("no value", run("demo::echo(\"x\").await?;")),
        (
            "output and a value",
            run(
                "println!(\"printed\");\neprintln!(\"to standard error\");\ndemo::list_orders().limit(1).await?",
            ),
        ),
        ("emitted content", run("emit(\"a note\");\nemit(demo::image().await?);")),
        ("much output", run("println!(\"{}\", \"much \".repeat(1000));\n1")),
        ("a correction", run("demo::echo(\"x\").text()")),
        (
            "a check",
            call("execute_code", json!({ "code": "demo::echo(\"x\").await?.text()", "check_only": true })),
        ),
        ("a lowered time limit", call("execute_code", json!({ "code": "1", "timeout": 90.5 }))),
        ("a time limit", call("execute_code", json!({ "code": "println!(\"on\");\nloop {}", "timeout": 1 }))),
        ("no permission", run("asks::echo(\"x\").await?.text()")),
        ("an unavailable server", run("gone::echo(\"x\").await?.text()")),
        ("an error while a server is unavailable", run("let n: u32 = \"text\";\nn")),
        ("no code", call("execute_code", json!({}))),
        ("code of another type", call("execute_code", json!({ "code": 7 }))),
        ("an unknown argument", call("execute_code", json!({ "code": "1", "snippet": "2" }))),
        ("an unknown tool", call("run_code", json!({ "code": "1" }))),
        ("search", call("search_tools", json!({ "query": "orders" }))),
        ("search without a match", call("search_tools", json!({ "query": "xylophone" }))),
        ("search at an unknown server", call("search_tools", json!({ "query": "orders", "server": "dmeo" }))),
        ("search for nothing", call("search_tools", json!({}))),
        ("describe", call("describe_tools", json!({ "tools": ["demo::list_orders", "demo.echo"] }))),
        (
            "describe unknown tools",
            call("describe_tools", json!({ "tools": ["demo::list_order", "nothing", "gone::echo"] })),
        ),
        ("describe nothing", call("describe_tools", json!({ "tools": [] }))),
    ];
    for (id, (title, request)) in (1..).zip(requests) {
        let answer = server.ask(id, "tools/call", &request);
        let text = match answer.get("error") {
            Some(error) => {
                format!("[protocol error {}] {}", error["code"], error["message"].as_str().unwrap())
            }
            None => texts(&answer),
        };
        page.add(title, &text);
    }
    page.check();
}

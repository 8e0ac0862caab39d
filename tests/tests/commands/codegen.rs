//! `toolsmith codegen`: its output formats, and the standalone crate.

use std::fs;
use std::path::Path;
use std::process::Command;

use end_to_end::cache::shared;
use end_to_end::harness::{COLD_WATCHDOG, FinishedRun, Run, unique};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A saved list of tools: one is partly untyped, one has no output schema.
fn saved() -> Value {
    json!({ "tools": [
        { "name": "place_order", "description": "Place an order.",
          "inputSchema": { "type": "object", "required": ["sku", "quantity"], "properties": {
            "sku": { "type": "string" },
            "quantity": { "type": "integer", "minimum": 1 },
            "address": { "type": "object", "required": ["city"], "properties": {
                "city": { "type": "string" }, "lines": { "type": "array", "items": { "type": "string" } } } },
            "mixed": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
            "free": { "type": "object" },
            "anything": {},
          } },
          "outputSchema": { "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] } },
        { "name": "ping", "inputSchema": { "type": "object", "properties": {} } },
    ] })
}

fn codegen(arguments: &[&str]) -> Run {
    Run::new(shared()).argument("codegen").arguments(arguments)
}

/// `codegen` with the tools above in a file, as the server `shop`.
fn of_saved(folder: &Path, arguments: &[&str]) -> FinishedRun {
    let file = folder.join("tools.json");
    fs::write(&file, saved().to_string()).unwrap();
    codegen(&["--tools", file.to_str().unwrap(), "--server", "shop"]).arguments(arguments).done()
}

#[test]
fn a_saved_list_is_shown_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let shown = |format: &str| of_saved(folder.path(), &["--format", format]).exits(0).stdout;
    let signatures = shown("signatures");
    assert_snapshot!(normal(&signatures), @r"
    mod shop {
    ping() -> ToolResult

    /// Place an order.
    place_order(sku: String, quantity: i64 /* at least 1 */, address?: PlaceOrderAddress, mixed?: Scalar /* string or number */, free?: Value, anything?: Value) -> { id: String }
    PlaceOrderAddress { city: String, lines: Option<Vec<String>> }
    }
    ");
    assert_eq!(signatures, of_saved(folder.path(), &[]).exits(0).stdout);
    let rust = shown("rust");
    assert!(rust.contains("pub struct PlaceOrderInput") && rust.contains("pub fn ping("), "{rust}");
    let description = shown("description");
    assert!(
        description.contains(signatures.lines().nth(1).unwrap().trim().trim_end_matches(" -> ToolResult")),
        "{description}"
    );
    assert_snapshot!(normal(&shown("documentation")), @r"
    shop::ping().await?
    shop::PingInput {}.call().await?
    // Returns a ToolResult: `.text()`, `.json::<T>()?`, `.content`, `.structured` (Option<Value>).

    /// Place an order.
    shop::place_order(sku, quantity).address(…).mixed(…).free(…).anything(…).await?
    shop::PlaceOrderInput { sku, quantity, address, mixed, free, anything }.call().await?
    // Setters (`.name(…)`) are optional; with named fields an optional one is `Some(…)` or `None`.
    // Returns PlaceOrderOutput.

    struct PlaceOrderInput {
        sku: String, // required
        quantity: i64, // required; at least 1
        address: Option<PlaceOrderAddress>, // optional
        mixed: Option<Scalar>, // optional; string or number
        free: Option<Value>, // optional, may be null
        anything: Option<Value>, // optional, may be null
    }

    struct PlaceOrderAddress {
        city: String, // required
        lines: Option<Vec<String>>, // optional
    }

    struct PlaceOrderOutput {
        id: String,
    }

    // Plain JSON (`Value`), because the schema has no equivalent Rust type:
    // input.free: an object without known fields
    ");
    let without = of_saved(folder.path(), &["--description-length", "0"]).exits(0).stdout;
    assert!(!without.contains("Place an order."), "{without}");
}

#[test]
fn the_report_counts_every_position() {
    let folder = tempfile::tempdir().unwrap();
    let done = of_saved(folder.path(), &["--format", "report", "--json"]).exits(0);
    let report: Value = serde_json::from_str(&done.stdout).unwrap();
    let tools = report["tools"].as_array().unwrap();
    assert_eq!(tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["ping", "place_order"]);
    let order = &tools[1];
    // sku, quantity, address, its city, its lines, a line, mixed, free, anything; id.
    assert_eq!((&order["properties"], &order["typed"]), (&json!(10), &json!(9)), "{order}");
    let fallbacks = order["fallbacks"].as_array().unwrap();
    assert_eq!((fallbacks.len(), &fallbacks[0]["path"]), (1, &json!("input.free")), "{order}");
    assert!(fallbacks[0]["reason"].is_string(), "{order}");
    let tokens = |of: &str| order["tokens"][of].as_u64().unwrap();
    assert!(tokens("schema") > tokens("signature") && tokens("signature") > 0, "{order}");
    assert_eq!((&tools[0]["properties"], &tools[0]["typed"]), (&json!(0), &json!(0)));
    let totals = &report["totals"];
    assert_eq!(
        (&totals["properties"], &totals["typed"], &totals["fallbacks"]),
        (&json!(10), &json!(9), &json!(1))
    );
    let table = of_saved(folder.path(), &["--format", "report"]).exits(0).stdout;
    assert_snapshot!(normal(&table), @r"
           typed   schema  signature   lines
      properties   tokens     tokens  of Rust
          0 of 0       16          5      75  shop.ping
         9 of 10      123         64     230  shop.place_order
         9 of 10      139         69     305  all 2 tools
    shop.place_order: input.free: an object without known fields
    ");
}

#[test]
fn configured_servers_are_queried() {
    let done = codegen(&["--demo", "--format", "signatures"]).done().exits(0);
    assert_snapshot!(normal(&done.stdout), @r#"
    mod demo {
    /// Write a note. Notes last as long as the session; their numbers start at 1.
    CreateNoteInput { subject: String /* What the note is about, in a few words. */, text: String /* The note itself. */, tags: Option<Vec<String>> /* Words to find it by; default [] */ }.call() -> { id: i64 /* The note's number: 1 for the first one of a session; at least 0 */, created_at: String /* When it was created, in RFC 3339 format, by the demo's simulated clock. */ }
    create_note(subject, text)

    /// Answer with exactly the text that was sent.
    echo(message: String /* The text to send back. */) -> ToolResult

    /// Always fail, with the given message.
    fail(message?: String /* What the error should say; default "this tool always fails" */) -> ToolResult

    /// Get one customer by id. An unknown id is an error.
    get_customer(id: String /* The customer's id, such as `c-01`. */) -> GetCustomerOutput
    GetCustomerOutput { id: String, name: String, email: String, city: String, vip: bool /* Whether this is a very important customer. */ }

    /// Answer with a small picture and a text.
    image() -> ToolResult

    /// Answer with a JSON document as text: statistics of the shop, and the notes of this session.
    json_response() -> ToolResult

    /// List the shop's orders, oldest first, page by page: pass `next_cursor` of one page as `cursor` of the next.
    list_orders(cursor?: String /* `next_cursor` of the previous page. Omit it for the first page. */, limit?: i64 /* How many orders the page may have; default 20; at least 1; at most 50 */, status?: OrderStatus /* Only orders with this status. */) -> { orders: Vec<Order> /* The orders, oldest first. */, next_cursor: Option<String> /* Pass it as `cursor` to get the next page; absent on the last one. */ }
    enum OrderStatus { Pending, Shipped, Delivered, Cancelled, Other(String) }
    Order { id: String, customer_id: String /* The customer; see `get_customer`. */, status: OrderStatus, total_cents: i64 /* The sum over all items, in cents; at least 0 */, items: Vec<OrderItem>, placed_at: String /* When the order was placed, in RFC 3339 format. */ }
    OrderItem { sku: String /* The product's stock-keeping unit. */, quantity: i64 /* at least 0 */ }

    /// Search the shop's products by a part of their name or stock-keeping unit, optionally up to a price.
    search_products(query: String /* A part of the product's name or stock-keeping unit; case-insensitive; empty… */, max_price_cents?: i64 /* Only products that cost at most this many cents; at least 0 */) -> { products: Vec<Product> /* The products that match, in the order of the catalogue. */ }
    Product { sku: String /* The stock-keeping unit. */, name: String, price_cents: i64 /* The price in cents; at least 0 */, in_stock: bool }

    /// Wait for some seconds, then answer. Ends early if the request is cancelled.
    slow(seconds: f64 /* How long to wait, in seconds; at least 0; at most 3600 */) -> ToolResult
    }
    "#);
    let done = codegen(&["--demo", "--server", "absent"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r#"
    toolsmith: there is no server "absent"
    help: available servers: demo
    "#);
}

/// The crate builds without downloads, and runs with its tools.
#[test]
fn a_standalone_crate_builds_offline_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let shown = out.to_str().unwrap();
    let done = codegen(&["--demo", "--out", shown]).watchdog(COLD_WATCHDOG).done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: wrote /tmp/.tmpXXXXXX/out: edit /tmp/.tmpXXXXXX/out/snippet/src/snippet.rs, check it with `cargo build`, run it with `toolsmith run --crate /tmp/.tmpXXXXXX/out`
    ");
    let run = || Run::new(shared()).arguments(&["run", "--json", "--crate", shown]).result();
    assert_eq!(run(), "no tool is called yet");
    let program = format!(
        "// {}\nasync fn run() -> Result<String> {{\n    Ok(demo::echo(\"from a crate\").await?.text())\n}}\n",
        unique()
    );
    fs::write(out.join("snippet/src/snippet.rs"), &program).unwrap();
    let home = folder.path().join("cargo");
    let mut build = Command::new(env!("CARGO"));
    build
        .args(["build", "--locked", "--offline", "--manifest-path"])
        .arg(out.join("Cargo.toml"))
        .env("CARGO_HOME", &home)
        .env("CARGO_TARGET_DIR", folder.path().join("target"))
        // Debug information only takes time.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env_remove("RUSTFLAGS");
    Run::of(build, shared()).working_folder(&out).watchdog(COLD_WATCHDOG).done().exits(0);
    assert_eq!(run(), "from a crate");
    // Run without its host, it explains what to do.
    let alone = Command::new(folder.path().join("target/debug/snippet"));
    assert_snapshot!(normal(&Run::of(alone, shared()).done().exits(102).stderr), @r"
    this program only runs under `toolsmith run`, which makes its calls: Bad file descriptor (os error 9)
    ");
    // A second export keeps the program.
    codegen(&["--demo", "--out", shown, "--no-vendor"]).done().exits(0);
    assert_eq!(fs::read_to_string(out.join("snippet/src/snippet.rs")).unwrap(), program);
}

#[test]
fn a_folder_or_crate_that_does_not_fit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().to_str().unwrap();
    fs::write(folder.path().join("mine"), "").unwrap();
    assert_snapshot!(normal(&codegen(&["--demo", "--out", shown]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX is neither empty nor a crate written by `codegen --out`
    help: name another folder
    ");
    // A lock file alone does not make a folder a crate.
    fs::write(folder.path().join("toolsmith.lock"), "").unwrap();
    assert_snapshot!(normal(&codegen(&["--demo", "--out", shown]).done().exits(2).stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX is neither empty nor a crate written by `codegen --out`
    help: name another folder
    ");
    fs::remove_file(folder.path().join("toolsmith.lock")).unwrap();
    let none = Run::new(shared()).arguments(&["run", "--crate", shown]).done().exits(2);
    assert_snapshot!(normal(&none.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX is not a crate written by `codegen --out`: it has no toolsmith.lock
    help: write one with `toolsmith codegen --out /tmp/.tmpXXXXXX`
    ");
    // A server in the crate that is not configured.
    let out = folder.path().join("out");
    of_saved(folder.path(), &["--no-vendor", "--out", out.to_str().unwrap()]).exits(0);
    fs::write(
        out.join("snippet/src/snippet.rs"),
        "async fn run() -> Result<String> { Ok(shop::ping().await?.text()) }",
    )
    .unwrap();
    let run = Run::new(shared()).arguments(&["run", "--json", "--crate", out.to_str().unwrap()]);
    let outcome = run.expect("runtime_error", 1);
    assert_snapshot!(normal(&outcome["error"]["message"]), @"the server shop is not configured");
}

/// A tool that changed since the export is rejected with the difference; unused tools may change.
#[test]
fn a_crate_requires_its_tools_to_be_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let shown = out.to_str().unwrap();
    codegen(&["--demo", "--out", shown, "--no-vendor"]).done().exits(0);
    let lock = out.join("toolsmith.lock");
    let tools: Value = serde_json::from_str(&fs::read_to_string(&lock).unwrap()).unwrap();
    let mut tools: Vec<Value> = tools["servers"]["demo"]["tools"]
        .as_object()
        .unwrap()
        .values()
        .map(|tool| tool["tool"].clone())
        .collect();
    let echo = tools.iter_mut().find(|tool| tool["name"] == "echo").unwrap();
    echo["inputSchema"]["properties"]["volume"] = json!({ "type": "integer" });
    let saved = folder.path().join("saved.json");
    fs::write(&saved, json!({ "tools": tools }).to_string()).unwrap();
    codegen(&["--tools", saved.to_str().unwrap(), "--server", "demo", "--out", shown, "--no-vendor"])
        .done()
        .exits(0);
    let run = |program: &str| {
        fs::write(out.join("snippet/src/snippet.rs"), program).unwrap();
        Run::new(shared()).arguments(&["run", "--json", "--crate", shown])
    };
    let outcome = run("async fn run() -> Result<String> { Ok(demo::echo(\"x\").volume(3).await?.text()) }")
        .expect("denied", 6);
    let message = outcome["error"]["message"].as_str().unwrap();
    assert_snapshot!(normal(&message), @r"
    demo.echo was denied: the tool has changed since the program was built: input.volume: removed; write the crate again with `toolsmith codegen --out`
    ");
    let customer = "async fn run() -> Result<String> { Ok(demo::get_customer(\"c-07\").await?.id) }";
    assert_eq!(run(customer).result(), "c-07");
}

#[test]
fn a_difference_names_the_tools() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, tools: &Value| {
        let file = folder.path().join(name);
        fs::write(&file, tools.to_string()).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let old = saved();
    let mut new = old["tools"].clone();
    new[0]["inputSchema"]["properties"]["sku"] = json!({ "type": "integer" });
    new[1]["name"] = json!("pong");
    let (old, new) = (write("old.json", &old), write("new.json", &new));
    let done = codegen(&["--diff", &old, &new, "--json"]).done().exits(0);
    let diff: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!((&diff["added"], &diff["removed"]), (&json!(["pong"]), &json!(["ping"])), "{diff}");
    assert_eq!(diff["changed"][0]["name"], "place_order", "{diff}");
    assert_snapshot!(normal(&diff["changed"][0]["changes"]), @r#"
    [
      "input.sku: type changed from string to integer"
    ]
    "#);
    let text = codegen(&["--diff", &old, &new]).done().exits(0).stdout;
    assert_snapshot!(normal(&text), @r"
    + pong
    - ping
    ~ place_order
        input.sku: type changed from string to integer
    ");
    assert_snapshot!(normal(&codegen(&["--diff", &old, &old]).done().exits(0).stdout), @"no difference");
}

#[test]
fn bad_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.json");
    let shown = file.to_str().unwrap();
    let mut texts = Vec::new();
    for text in ["", "{ \"tools\": 7 }", "{}", "\u{0}", "[[["] {
        fs::write(&file, text).unwrap();
        let done = codegen(&["--tools", shown, "--server", "x"]).done().exits(2);
        texts.push(normal(&done.stderr));
        texts.push(normal(&codegen(&["--diff", shown, shown]).done().exits(2).stderr));
        texts.push(normal(&codegen(&["--lock", shown]).done().exits(2).stderr));
    }
    assert_snapshot!(texts.join("\n"), @r#"
    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: it is not JSON: EOF while parsing a value at line 1 column 0
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: it is not JSON: EOF while parsing a value at line 1 column 0
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: the lock file /tmp/.tmpXXXXXX/bad.json is malformed: EOF while parsing a value at line 1 column 1
    help: restore an older version of it; or delete it, which discards all observations, and create it again with `toolsmith mcp lock`

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: the answer to `tools/list` is not a ListToolsResult: invalid type: integer `7`, expected a sequence at line 1 column 12
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: the answer to `tools/list` is not a ListToolsResult: invalid type: integer `7`, expected a sequence at line 1 column 12
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: the lock file /tmp/.tmpXXXXXX/bad.json is malformed: missing field `version` at line 1 column 14
    help: restore an older version of it; or delete it, which discards all observations, and create it again with `toolsmith mcp lock`

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: the answer to `tools/list` is not a ListToolsResult: missing field `tools` at line 1 column 2
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: the answer to `tools/list` is not a ListToolsResult: missing field `tools` at line 1 column 2
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: the lock file /tmp/.tmpXXXXXX/bad.json is malformed: missing field `version` at line 1 column 2
    help: restore an older version of it; or delete it, which discards all observations, and create it again with `toolsmith mcp lock`

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: it is not JSON: expected value at line 1 column 1
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: it is not JSON: expected value at line 1 column 1
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: the lock file /tmp/.tmpXXXXXX/bad.json is malformed: expected value at line 1 column 1
    help: restore an older version of it; or delete it, which discards all observations, and create it again with `toolsmith mcp lock`

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: it is not JSON: expected value at line 1 column 13
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: /tmp/.tmpXXXXXX/bad.json has no tools: it is not JSON: expected value at line 1 column 13
    help: save a server's `tools/list` result, such as { "tools": [ … ] }

    toolsmith: the lock file /tmp/.tmpXXXXXX/bad.json is malformed: invalid type: sequence, expected u64 at line 1 column 1
    help: restore an older version of it; or delete it, which discards all observations, and create it again with `toolsmith mcp lock`
    "#);
    fs::remove_file(&file).unwrap();
    let done = codegen(&["--tools", shown, "--server", "x"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: /tmp/.tmpXXXXXX/bad.json can't be read: there is no such file
    help: check the path of the file
    ");
    assert_snapshot!(normal(&codegen(&["--lock", shown]).done().exits(2).stderr), @r"
    toolsmith: there is no lock file /tmp/.tmpXXXXXX/bad.json
    ");
    let done = codegen(&["--tools", folder.path().to_str().unwrap(), "--server", "x"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @"toolsmith: /tmp/.tmpXXXXXX is not a file");
    assert_snapshot!(normal(&codegen(&["--tools", shown]).done().exits(2).stderr), @r"
    error: the following required arguments were not provided:
      --server <NAME>

    Usage: toolsmith codegen --server <NAME> --tools <FILE>

    For more information, try '--help'.
    ");
    let done = codegen(&["--tools", shown, "--server", "a b"]).done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    error: invalid value 'a b' for '--server <NAME>': a server's name must have 1 to 64 letters, digits, `_` or `-`

    For more information, try '--help'.
    ");
}

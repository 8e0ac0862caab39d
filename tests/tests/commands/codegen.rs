//! `toolsmith codegen`: its output formats, and the standalone crate.

use std::fs;
use std::path::Path;
use std::process::Command;

use end_to_end::cache::shared;
use end_to_end::harness::{COLD_WATCHDOG, FinishedRun, Run, unique};
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
    assert!(signatures.contains("mod shop {") && signatures.contains("place_order("), "{signatures}");
    assert_eq!(signatures, of_saved(folder.path(), &[]).exits(0).stdout);
    let rust = shown("rust");
    assert!(rust.contains("pub struct PlaceOrderInput") && rust.contains("pub fn ping("), "{rust}");
    let description = shown("description");
    assert!(
        description.contains(signatures.lines().nth(1).unwrap().trim().trim_end_matches(" -> ToolResult")),
        "{description}"
    );
    assert!(shown("documentation").contains("Place an order."));
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
    assert!(table.contains("9 of 10") && table.contains("input.free"), "{table}");
}

#[test]
fn configured_servers_are_queried() {
    let done = codegen(&["--demo", "--format", "signatures"]).done().exits(0);
    assert!(done.stdout.contains("list_orders("), "{done:#?}");
    let done = codegen(&["--demo", "--server", "absent"]).done().exits(2);
    done.says(&["absent"]);
}

/// The crate builds without downloads, and runs with its tools.
#[test]
fn a_standalone_crate_builds_offline_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let shown = out.to_str().unwrap();
    codegen(&["--demo", "--out", shown]).watchdog(COLD_WATCHDOG).done().exits(0).says(&["run --crate"]);
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
        .env_remove("RUSTFLAGS");
    Run::of(build, shared()).working_folder(&out).watchdog(COLD_WATCHDOG).done().exits(0);
    assert_eq!(run(), "from a crate");
    // Run without its host, it explains what to do.
    let alone = Command::new(folder.path().join("target/debug/snippet"));
    Run::of(alone, shared()).done().exits(102).says(&["toolsmith run"]);
    // A second export keeps the program.
    codegen(&["--demo", "--out", shown, "--no-vendor"]).done().exits(0);
    assert_eq!(fs::read_to_string(out.join("snippet/src/snippet.rs")).unwrap(), program);
}

#[test]
fn a_folder_or_crate_that_does_not_fit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let shown = folder.path().to_str().unwrap();
    fs::write(folder.path().join("mine"), "").unwrap();
    codegen(&["--demo", "--out", shown]).done().exits(2).says(&["neither empty nor a crate"]);
    // A lock file alone does not make a folder a crate.
    fs::write(folder.path().join("toolsmith.lock"), "").unwrap();
    codegen(&["--demo", "--out", shown]).done().exits(2).says(&["neither empty nor a crate"]);
    fs::remove_file(folder.path().join("toolsmith.lock")).unwrap();
    let none = Run::new(shared()).arguments(&["run", "--crate", shown]).done().exits(2);
    none.says(&["toolsmith.lock", "codegen --out"]);
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
    assert!(outcome["error"]["message"].as_str().unwrap().contains("not configured"), "{outcome}");
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
    assert!(message.contains("has changed") && message.contains("volume"), "{message}");
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
    assert!(diff["changed"][0]["changes"].to_string().contains("sku"), "{diff}");
    let text = codegen(&["--diff", &old, &new]).done().exits(0).stdout;
    assert!(text.contains("+ pong") && text.contains("- ping") && text.contains("~ place_order"), "{text}");
    assert!(codegen(&["--diff", &old, &old]).done().exits(0).stdout.contains("no difference"));
}

#[test]
fn bad_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.json");
    let shown = file.to_str().unwrap();
    for (text, phrase) in [
        ("", "not JSON"),
        ("{ \"tools\": 7 }", "ListToolsResult"),
        ("{}", "ListToolsResult"),
        ("\u{0}", "not JSON"),
        ("[[[", "not JSON"),
    ] {
        fs::write(&file, text).unwrap();
        codegen(&["--tools", shown, "--server", "x"]).done().exits(2).says(&[
            "bad.json",
            phrase,
            "tools/list",
        ]);
        codegen(&["--diff", shown, shown]).done().exits(2).says(&["bad.json"]);
        codegen(&["--lock", shown]).done().exits(2).says(&["bad.json"]);
    }
    fs::remove_file(&file).unwrap();
    codegen(&["--tools", shown, "--server", "x"]).done().exits(2).says(&["bad.json"]);
    codegen(&["--lock", shown]).done().exits(2).says(&["bad.json"]);
    codegen(&["--tools", folder.path().to_str().unwrap(), "--server", "x"])
        .done()
        .exits(2)
        .says(&["not a file"]);
    codegen(&["--tools", shown]).done().exits(2).says(&["--server"]);
    codegen(&["--tools", shown, "--server", "a b"]).done().exits(2).says(&["letters"]);
}

//! Tools without an output schema: typed after they are observed, but never trusted. Also checks of arguments.

use std::fs;

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, fault_entry, unique};
use end_to_end::page::normal;
use end_to_end::serving::{Serve, execute};
use insta::assert_snapshot;
use serde_json::{Value, json};

const CONFIG: &str = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true }\n";

/// `toolsmith` with its own configuration and lock file.
fn with(folder: &std::path::Path, arguments: &[&str]) -> Run {
    let config = folder.join("tools.yaml");
    if !config.exists() {
        fs::write(&config, CONFIG).unwrap();
    }
    Run::new(shared()).arguments(arguments).arguments(&["--config", config.to_str().unwrap()])
}

fn snippet(folder: &std::path::Path, code: &str) -> Run {
    with(folder, &["run", "--json", "-"]).input(format!("// {}\n{code}", unique()))
}

#[test]
fn an_observed_tool_is_typed() {
    let folder = tempfile::tempdir().unwrap();
    let untyped = "demo::json_response().await?.text().len() > 10";
    assert_eq!(snippet(folder.path(), untyped).result(), true);
    let observed =
        with(folder.path(), &["mcp", "observe", "demo.json_response", "--args", "{}"]).done().exits(0);
    assert_snapshot!(normal(&observed.stdout), @r"
    /// Answer with a JSON document as text: statistics of the shop, and the notes of this session.
    json_response() -> JsonResponseOutput /* observed, not declared */
    JsonResponseOutput { customers: i64, notes: Vec<Value>, orders: i64, products: i64, shop: String }
    ");
    let typed = "let shop = demo::json_response().await?;\nshop.orders + shop.notes.len() as i64";
    assert!(snippet(folder.path(), typed).result().as_i64().unwrap() > 10);
    let lock: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("toolsmith.lock")).unwrap()).unwrap();
    let tool = &lock["servers"]["demo"]["tools"]["json_response"];
    assert_eq!((&lock["version"], &tool["observed"]["samples"]), (&json!(1), &json!(1)), "{lock:#}");
    assert!(tool["hash"].as_str().unwrap().starts_with("blake3:"), "{lock:#}");
    // The types of several samples are merged.
    let repeated =
        with(folder.path(), &["mcp", "observe", "demo.json_response", "--args", "{}", "--args", "{}"]);
    repeated.done().exits(0);
    let lock: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("toolsmith.lock")).unwrap()).unwrap();
    assert_eq!(lock["servers"]["demo"]["tools"]["json_response"]["observed"]["samples"], 3);
    with(folder.path(), &["mcp", "observe", "demo.json_response", "--forget"]).done().exits(0);
    assert_eq!(snippet(folder.path(), untyped).result(), true);
}

/// An observed type is not a guarantee: a different answer is an `Err` that contains it.
#[test]
fn an_answer_that_differs_is_an_error_with_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    with(folder.path(), &["mcp", "observe", "demo.json_response"]).done().exits(0);
    let file = folder.path().join("toolsmith.lock");
    let mut lock: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let schema = &mut lock["servers"]["demo"]["tools"]["json_response"]["observed"]["outputSchema"];
    schema["properties"]["orders"] = json!({ "type": "string" });
    fs::write(&file, lock.to_string()).unwrap();
    let code = "let error = demo::json_response().await.unwrap_err();\n\
                json!([error.kind.to_string(), error.message, error.raw.unwrap()[\"shop\"]])";
    let result = snippet(folder.path(), code).result();
    assert_eq!((&result[0], &result[2]), (&json!("mismatch"), &json!("demo")), "{result}");
    let message = result[1].as_str().unwrap();
    assert_snapshot!(normal(&message), @r"
    at .orders: expected string, got 57. The call was made: this answer is in `ToolError.raw`; `.raw().await?` takes any answer. This type was observed in earlier answers: `toolsmith mcp observe demo.json_response --args ARGUMENTS` with the arguments of this call widens it
    ");
}

/// A declared type that answers do not fit is corrected by them; what fits stays as it is declared.
#[test]
fn a_declared_type_is_corrected_by_answers() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("tools.yaml"),
        format!("mcpServers:\n{}", fault_entry("lab", "values", "    trust: true\n")),
    )
    .unwrap();
    let answer = json!({ "json": "{\"integer\":{\"new_id\":7},\"label\":\"a\"}" }).to_string();
    let code = format!("let out = lab::typed(args.require(\"json\")?).await?;\nout // {}", unique());
    let run = || {
        with(folder.path(), &["run", "--json", "-", "--arg", "json={\"integer\":{\"new_id\":8}}"])
            .input(code.as_str())
    };
    run().expect("runtime_error", 1);
    let observed = with(folder.path(), &["mcp", "observe", "lab.typed", "--args", &answer]).done().exits(0);
    let signature = &observed.stdout;
    assert!(signature.contains("TypedOutput /* declared, corrected by observed answers */"), "{signature}");
    assert!(signature.contains("enum TypedStatus { Pending, Shipped"), "{signature}");
    assert_eq!(run().result(), json!({ "integer": { "new_id": 8 } }));
    // An answer that fits corrects nothing.
    let fitting = json!({ "json": "{\"id\":1}" }).to_string();
    let observed = with(folder.path(), &["mcp", "observe", "lab.raw", "--args", &fitting]).done().exits(0);
    assert!(!observed.stdout.contains("corrected"), "{observed:#?}");
}

/// A signature says that answers have more than their structure.
#[test]
fn content_beside_an_observed_type_is_in_the_signature() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("tools.yaml"),
        format!("mcpServers:\n{}", fault_entry("lab", "values", "    trust: true\n")),
    )
    .unwrap();
    let whole = json!({ "content": [
        { "type": "text", "text": "{\"points\":3}" }, { "type": "image", "data": "AAAA", "mimeType": "image/png" },
    ] });
    let args = json!({ "json": whole.to_string() }).to_string();
    let observed = with(folder.path(), &["mcp", "observe", "lab.whole", "--args", &args]).done().exits(0);
    assert_snapshot!(normal(&observed.stdout), @r"
    /// A tool for values.
    whole(json: String) -> { points: i64 } /* observed, not declared; .raw() also has: image */
    ");
    let code = format!("lab::whole(args.require(\"json\")?).raw().await?.image().is_some() // {}", unique());
    let run = with(folder.path(), &["run", "--json", "-", "--arg", &format!("json={whole}")]).input(code);
    assert_eq!(run.result(), true);
    let lock = fs::read_to_string(folder.path().join("toolsmith.lock")).unwrap();
    let lock: Value = serde_json::from_str(&lock).unwrap();
    assert_eq!(lock["servers"]["lab"]["tools"]["whole"]["observed"]["content"], json!(["image"]), "{lock:#}");
}

/// One line, and only when the bindings are new.
#[test]
fn untyped_parts_are_reported_once() {
    let folder = tempfile::tempdir().unwrap();
    with(folder.path(), &["mcp", "observe", "demo.json_response"]).done().exits(0);
    let file = folder.path().join("toolsmith.lock");
    let mut lock: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let schema = &mut lock["servers"]["demo"]["tools"]["json_response"]["observed"]["outputSchema"];
    *schema = json!({ "title": unique(), "type": "object", "properties": {
        "a": { "$ref": "#/nowhere" }, "b": { "$ref": "#/nowhere/else" },
    } });
    fs::write(&file, lock.to_string()).unwrap();
    let first = snippet(folder.path(), "1").done().exits(0);
    assert_snapshot!(normal(&first.stderr), @r##"
    toolsmith: info: demo: 2 parts of its tools' schemas are not fully typed; the first: json_response at output.a: the reference "#/nowhere" points nowhere in the schema; for all of them, see `toolsmith codegen --format report --server demo`
    "##);
    let description =
        |done: &FinishedRun| done.stderr.lines().filter(|line| line.contains("schemas")).count();
    let second = snippet(folder.path(), "1").done().exits(0);
    assert_eq!((description(&first), description(&second)), (1, 0), "{first:#?} {second:#?}");
    let report = with(folder.path(), &["codegen", "--format", "report", "--server", "demo"]).done().exits(0);
    assert_snapshot!(normal(&report.stdout), @r##"
           typed   schema  signature   lines
      properties   tokens     tokens  of Rust
          6 of 6      220        127     164  demo.create_note
          1 of 1       70         25      85  demo.echo
          1 of 1       72         31      96  demo.fail
          6 of 6      162         72     153  demo.get_customer
          0 of 0       28         15      76  demo.image
          0 of 2       41         44     118  demo.json_response
        15 of 15      452        247     377  demo.list_orders
          8 of 8      265        130     225  demo.search_products
          1 of 1       91         45      88  demo.slow
        38 of 40     1401        736    1382  all 9 tools
    demo.json_response: output.a: the reference "#/nowhere" points nowhere in the schema
    demo.json_response: output.b: the reference "#/nowhere/else" points nowhere in the schema
    "##);
}

/// Configured for a server, and repeated in its answers.
const SECRET: &str = "secret-value-of-the-test";

/// The last line of the text.
const LAST: &str = "(page 1 of 9)";

/// A text longer than the quoted part.
fn long_text() -> String {
    format!("Commit: 1\nKey: {SECRET}\n{}\nleft out\n{LAST}", "x".repeat(400))
}

/// The output of `search_tools` and `describe_tools` for a tool.
fn looked_up(ask: &mut dyn FnMut(&Value) -> Value, tool: &str) -> [String; 2] {
    let (server, name) = tool.split_once('.').unwrap();
    let search = json!({ "name": "search_tools", "arguments": { "query": name, "server": server } });
    let describe = json!({ "name": "describe_tools", "arguments": { "tools": [tool] } });
    [search, describe].map(|call| ask(&call)["result"]["content"][0]["text"].as_str().unwrap().to_owned())
}

/// Checks the quoted text: 300 characters of its lines, the number of omitted lines, the last line, and no secret.
#[track_caller]
fn assert_text_is_quoted(description: &str, tool: &str) {
    let ends = ["Commit: 1\nKey: ***\n".to_owned(), format!("…\n(1 line left out)\n{LAST}")];
    let shown = 300 - ends.iter().map(|end| end.chars().count()).sum::<usize>() - 1;
    let lines = [ends[0].as_str(), &"x".repeat(shown), &ends[1]].concat().replace('\n', "\n//   ");
    let form = format!("// {tool} has answered with text, whose lines are\n//   {lines}");
    assert!(description.contains(&form), "no {form} in {description}");
    assert!(!description.contains(SECRET), "{description}");
}

#[test]
fn a_text_seen_in_a_session_is_quoted_only_in_that_session() {
    let entry = fault_entry("faulty", "sound", &format!("    trust: true\n    env: {{ KEY: {SECRET} }}\n"));
    let server = Serve::http(&format!("mcpServers:\n{entry}serve: {{ descriptionTokens: 1 }}\n")).start();
    let [one, other] = [server.client().shake_hands(), server.client().shake_hands()];
    let mut call = execute("faulty::echo().message(args.require(\"text\")?).await?.text().len()");
    call["arguments"]["args"] = json!({ "text": long_text() });
    let answer = one.ask("tools/call", &call);
    assert_eq!(answer["result"]["isError"], false, "{answer:#}");
    for description in looked_up(&mut |call| one.ask("tools/call", call), "faulty.echo") {
        assert_text_is_quoted(&description, "faulty.echo");
    }
    let mut shown = Vec::new();
    for description in looked_up(&mut |call| other.ask("tools/call", call), "faulty.echo") {
        shown.push(normal(&description));
    }
    assert_snapshot!(shown.join("\n"), @r"
    mod faulty {
    /// A tool of the fault server.
    echo(message?: String)
    }
    // `name?: T` is a setter: `.name(value)`. No `->`: ToolResult. describe_tools returns a tool's full documentation.
    /// A tool of the fault server.
    faulty::echo().message(…).await?
    faulty::EchoInput { message }.call().await?
    // Setters (`.name(…)`) are optional; with named fields an optional one is `Some(…)` or `None`.
    // Returns a ToolResult: `.text()`, `.json::<T>()?`, `.content`, `.structured` (Option<Value>).

    struct EchoInput {
        message: Option<String>, // optional
    }
    ");
}

#[test]
fn an_observed_text_is_quoted_in_every_session() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server], trust: true, env: {{ KEY: {SECRET} }} }}\n"
    );
    fs::write(folder.path().join("tools.yaml"), &config).unwrap();
    let args = json!({ "message": long_text() }).to_string();
    let observe = ["mcp", "observe", "demo.echo", "--args", &args, "--args", "{\"message\":\"other\"}"];
    let observed = with(folder.path(), &observe).done().exits(0);
    assert_snapshot!(normal(&observed.stdout), @r"
    /// Answer with exactly the text that was sent.
    echo(message: String /* The text to send back. */) -> ToolResult
    // demo.echo has answered with text, whose lines are
    //   Commit: 1
    //   Key: ***
    //   xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
    //   (1 line left out)
    //   (page 1 of 9)
    ");
    assert_text_is_quoted(&observed.stdout, "demo.echo");
    let lock = fs::read_to_string(folder.path().join("toolsmith.lock")).unwrap();
    assert_snapshot!(normal(&lock), @r#"
    {
      "servers": {
        "demo": {
          "tools": {
            "echo": {
              "hash": "blake3:[hash]",
              "observed": {
                "samples": 2,
                "text": "Commit: 1\nKey: ***\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…\n(1 line left out)\n(page 1 of 9)"
              },
              "tool": {
                "annotations": {
                  "readOnlyHint": true
                },
                "description": "Answer with exactly the text that was sent.",
                "inputSchema": {
                  "$schema": "https://json-schema.org/draft/2020-12/schema",
                  "additionalProperties": false,
                  "properties": {
                    "message": {
                      "description": "The text to send back.",
                      "type": "string"
                    }
                  },
                  "required": [
                    "message"
                  ],
                  "type": "object"
                },
                "name": "echo"
              }
            }
          }
        }
      },
      "version": 1
    }
    "#);
    let tools: Value = serde_json::from_str(&lock).unwrap();
    assert_eq!(tools["servers"]["demo"]["tools"]["echo"]["observed"]["samples"], 2, "{lock}");
    // The result is still a `ToolResult`.
    assert_eq!(snippet(folder.path(), "demo::echo(\"a\").await?.text()").result(), "a");

    let config = format!("{config}serve: {{ descriptionTokens: 1, listWait: 50 }}\n");
    let mut server = Serve::new(&config).file("toolsmith.lock", &lock).start();
    server.shake_hands();
    let mut id = 0;
    let mut ask = |call: &Value| {
        id += 1;
        server.ask(id, "tools/call", call)
    };
    for description in looked_up(&mut ask, "demo.echo") {
        assert_text_is_quoted(&description, "demo.echo");
    }

    let json = ["mcp", "observe", "demo.echo", "--args", "{\"message\":\"[1]\"}"];
    assert_snapshot!(normal(&with(folder.path(), &json).done().exits(1).stderr), @r"
    toolsmith: demo.echo: the result is JSON, and earlier ones were text
    help: do not observe a tool that returns both; --forget deletes earlier observations
    ");
    assert_eq!(fs::read_to_string(folder.path().join("toolsmith.lock")).unwrap(), lock);
    with(folder.path(), &["mcp", "observe", "demo.echo", "--forget"]).done().exits(0);
    with(folder.path(), &json).done().exits(0);
}

#[test]
fn failed_observations_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let observe = |arguments: &[&str]| with(folder.path(), &["mcp", "observe"]).arguments(arguments).done();
    assert_snapshot!(normal(&observe(&["demo.nothing"]).exits(2).stderr), @r#"
    toolsmith: the server has no tool "nothing"
    help: available tools: create_note, echo, fail, get_customer, image, json_response, list_orders, search_products, slow
    "#);
    assert_snapshot!(normal(&observe(&["absent.echo"]).exits(2).stderr), @r#"
    toolsmith: there is no server "absent"
    help: available servers: demo
    "#);
    assert_snapshot!(normal(&observe(&["echo"]).exits(2).stderr), @r#"
    error: invalid value 'echo' for '<SERVER.TOOL>': "echo" is not SERVER.TOOL; write the server's name, a dot and the tool's name, such as demo.list_orders

    For more information, try '--help'.
    "#);
    let done = observe(&["demo.echo", "--args", "{ \"message\": \"\" }"]).exits(1);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: echo: the result has no text, so there is nothing to observe
    ");
    assert_snapshot!(normal(&observe(&["demo.echo", "--args", "[1]"]).exits(2).stderr), @r#"
    toolsmith: --args "[1]" is not a JSON object: it does not begin with `{`
    help: write `{ "name": value }` in single quotes, or name=TEXT for each argument
    "#);
    assert_snapshot!(normal(&observe(&["demo.echo", "--args", "{"]).exits(2).stderr), @r#"
    toolsmith: --args "{" is not a JSON object: EOF while parsing an object at line 1 column 1
    help: write `{ "name": value }` in single quotes, or name=TEXT for each argument
    "#);
    assert_snapshot!(normal(&observe(&["demo.fail"]).exits(1).stderr), @r"
    toolsmith: fail: the tool failed, so nothing was observed: this tool always fails
    ");
    assert_snapshot!(normal(&observe(&["demo.echo", "--forget"]).exits(2).stderr), @r"
    toolsmith: demo.echo has no observations in /tmp/.tmpXXXXXX/toolsmith.lock
    ");
    assert!(!folder.path().join("toolsmith.lock").exists());
    fs::write(folder.path().join("toolsmith.lock"), "{ torn").unwrap();
    assert_snapshot!(normal(&observe(&["demo.json_response"]).exits(2).stderr), @r"
    toolsmith: the lock file /tmp/.tmpXXXXXX/toolsmith.lock is malformed: key must be a string at line 1 column 3
    help: restore an older version of it; or delete it, which discards all observations, and create it again with `toolsmith mcp lock`
    ");
    assert_snapshot!(normal(&snippet(folder.path(), "1").done().exits(2).stderr), @r"
    toolsmith: the lock file /tmp/.tmpXXXXXX/toolsmith.lock is malformed: key must be a string at line 1 column 3
    help: restore an older version of it; or delete it, which discards all observations, and create it again with `toolsmith mcp lock`
    ");
}

#[test]
fn a_lock_has_all_tools_and_serves_without_servers() {
    let folder = tempfile::tempdir().unwrap();
    let done = with(folder.path(), &["mcp", "lock"]).done().exits(0);
    assert_snapshot!(normal(&done.stdout), @"demo: 9 tools");
    let lock = folder.path().join("toolsmith.lock");
    let shown = lock.to_str().unwrap();
    let first = fs::read(&lock).unwrap();
    with(folder.path(), &["mcp", "lock"]).done().exits(0);
    assert_eq!(fs::read(&lock).unwrap(), first, "the same tools give the same bytes");
    let of_lock = Run::new(shared()).arguments(&["codegen", "--lock", shown]).done().exits(0);
    let of_servers = with(folder.path(), &["codegen"]).done().exits(0);
    assert_eq!(of_lock.stdout, of_servers.stdout);
    let diff = Run::new(shared()).arguments(&["codegen", "--diff", shown, shown]).done().exits(0);
    assert_snapshot!(normal(&diff.stdout), @"no difference");
}

#[test]
fn arguments_are_checked_before_a_call_leaves() {
    let folder = tempfile::tempdir().unwrap();
    let code =
        "let error = demo::slow(4000).await.unwrap_err();\njson!([error.kind.to_string(), error.message])";
    let result = snippet(folder.path(), code).result();
    assert_eq!(result[0], "invalid_params", "{result}");
    assert_snapshot!(normal(&result[1]), @"at .seconds: 4000 is more than the maximum 3600");
    let outcome = snippet(folder.path(), "demo::slow(4000).await?.text()").expect("runtime_error", 1);
    assert_eq!(outcome["error"]["evidence"]["tool"]["kind"], "invalid_params", "{outcome:#}");
    // If the check is off, the server decides.
    let config =
        "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], checkInput: false, trust: true }\n";
    fs::write(folder.path().join("tools.yaml"), config).unwrap();
    assert_eq!(snippet(folder.path(), code).result()[0], "failed");
}

/// For a large server, a snippet compiles only the tools it names; `cache warm` compiles all.
#[test]
fn only_the_named_tools_of_a_large_server_are_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "mcpServers:\n  big_{}: {{ command: toolsmith, args: [demo-server, --copies, \"3\"], trust: true }}\n",
        std::process::id()
    );
    fs::write(folder.path().join("tools.yaml"), config).unwrap();
    let big = format!("big_{}", std::process::id());
    let code = format!(
        "let a = {big}::echo_2(\"a\").await?.text();\nlet b: {big}::GetCustomer1Output = {big}::get_customer_1(\"c-07\").await?;\na + &b.id"
    );
    assert_eq!(snippet(folder.path(), &code).result(), "ac-07");
    with(folder.path(), &["cache", "warm"]).done().exits(0).says(&["36 tools"]);
    assert_eq!(snippet(folder.path(), &format!("{big}::echo_3(\"x\").await?.text()")).result(), "x");
}

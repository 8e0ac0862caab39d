//! Saving and approving programs.

use std::fs;

use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::Place;

const NOTE: &str = "//! Writes a note.\nstruct Args { text: String }\n\
    async fn run(args: Args) -> Result<i64> { Ok(demo::CreateNoteInput { subject: \"s\".into(), text: args.text, tags: None }.call().await?.id) }\n";

/// A home whose configuration has the demo server, and asks about each of its tools once.
fn asking() -> Place {
    let place = Place::new();
    fs::create_dir_all(place.home.path().join("toolsmith")).unwrap();
    let config =
        "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], permissions: { '*': ask } }\n";
    fs::write(place.home.path().join("toolsmith/config.yaml"), config).unwrap();
    place
}

#[test]
fn save_shows_the_text_and_the_tools_and_needs_a_yes() {
    let place = asking();
    let unasked = place.run(&["program", "save", "note"]).input(NOTE).done().exits(2);
    assert_snapshot!(normal(&unasked.stderr), @r"
    toolsmith: there is no terminal to ask on
    help: to save or approve the program without a question, add --yes
    ");
    assert_snapshot!(normal(&unasked.stdout), @r#"
    //! Writes a note.
    struct Args { text: String }
    async fn run(args: Args) -> Result<i64> { Ok(demo::CreateNoteInput { subject: "s".into(), text: args.text, tags: None }.call().await?.id) }
    It can call: demo.create_note
    "#);
    assert!(!place.programs().join("note.rs").exists());
    place.run(&["program", "save", "note", "--yes"]).input(NOTE).done().exits(0);
    assert_eq!(fs::read_to_string(place.programs().join("note.rs")).unwrap(), NOTE);
    // What replaces a program is shown as a difference.
    let other = NOTE.replace("\"s\"", "\"other\"");
    let shown = place.run(&["program", "save", "note", "--yes"]).input(&other).done().exits(0).stdout;
    assert_snapshot!(normal(&shown), @r#"
    line 3:
    - async fn run(args: Args) -> Result<i64> { Ok(demo::CreateNoteInput { subject: "s".into(), text: args.text, tags: None }.call().await?.id) }
    + async fn run(args: Args) -> Result<i64> { Ok(demo::CreateNoteInput { subject: "other".into(), text: args.text, tags: None }.call().await?.id) }
    It can call: demo.create_note
    "#);
    // A broken text replaces nothing.
    let broken = place
        .run(&["program", "save", "note", "--yes"])
        .input(NOTE.replace("create_note", "x").replace("CreateNoteInput", "Gone"));
    assert_snapshot!(normal(&broken.done().exits(3).stderr), @r#"
    the program note does not compile: cannot find struct, variant or union type `Gone` in crate `demo`
    error[E0422]: cannot find struct, variant or union type `Gone` in crate `demo`
     --> 3:52
    3 | async fn run(args: Args) -> Result<i64> { Ok(demo::Gone { subject: "s".into(), text: args.text, tags: None }.call().await?.id) }
      |                                                    ^^^^ not found in `demo`
    help: `demo` has no `Gone`; its tools are `create_note`, `echo`, `fail`, `get_customer`, `image`, `json_response`, `list_orders`, `search_products` and `slow`
    "#);
    assert_eq!(fs::read_to_string(place.programs().join("note.rs")).unwrap(), other);
    let done = place.run(&["program", "save", "note", "--yes"]).input("fn f() {}").done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: -:1:1: there is no `run`: a program has `async fn run(args: Args) -> Result<…>`, or `async fn run() -> Result<…>` if it takes no arguments
    ");
}

/// An approval covers the flows that were shown; with other flows, it is asked for again.
#[test]
fn an_approval_covers_the_flows_of_the_program() {
    let place = Place::new();
    let configure = |flows: &str| {
        let demo = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true }\n";
        fs::create_dir_all(place.home.path().join("toolsmith")).unwrap();
        let text = format!("{demo}flows: {{ {flows} }}\n");
        fs::write(place.home.path().join("toolsmith/config.yaml"), text).unwrap();
    };
    configure("private: [get_customer], external: [echo]");
    place.write(
        "tell",
        "//! Repeats a name.\nasync fn run() -> Result<String> {\n    \
         let name = demo::get_customer(\"c-01\").await?.name;\n    Ok(demo::echo(&name).await?.text().to_owned())\n}\n",
    );
    let run = |code: i32| place.run(&["program", "run", "tell"]).done().exits(code);
    run(6);
    let approved = place.ok(&["program", "approve", "tell", "--yes"]).stdout;
    assert_snapshot!(normal(&approved), @r#"
    //! Repeats a name.
    async fn run() -> Result<String> {
        let name = demo::get_customer("c-01").await?.name;
        Ok(demo::echo(&name).await?.text().to_owned())
    }
    It can call: demo.echo, demo.get_customer
    It can carry, without a question at the call:
      answers of demo.get_customer (private) into demo.echo
    "#);
    run(0);
    configure(
        "untrusted: [get_customer, echo], external: [echo], rules: [{ from: [echo], to: [echo], then: ask }]",
    );
    run(0);
    let unasked = place.run(&["program", "approve", "tell"]).done().exits(2);
    assert!(unasked.stderr.contains("no terminal to ask on"), "{unasked:?}");
    configure("private: [get_customer], external: [echo], privateToExternal: deny");
    run(6);
}

#[test]
fn a_snippet_becomes_the_body_of_a_program() {
    let place = Place::new();
    let snippet = "// Two customers.\nlet all = [\"c-01\", \"c-02\"];\nall.len() + 1";
    let saved =
        place.run(&["program", "save", "two", "--demo", "--yes"]).input(snippet).done().exits(0).stdout;
    assert!(
        saved.starts_with("//! Two customers.\n\nasync fn run() -> Result<serde_json::Value>"),
        "{saved}"
    );
    assert_eq!(place.ok(&["program", "run", "two"]).stdout, "3\n");
    // The last value may be the result of a call, and a fence may be around the snippet.
    let snippet = "```rust\ndemo::get_customer(\"c-01\").await\n```\n";
    place.run(&["program", "save", "ada", "--demo", "--yes"]).input(snippet).done().exits(0);
    let ada = place.json(&["program", "run", "ada", "--demo", "--json"]);
    assert_eq!(ada["result"]["name"], "Ada Lindqvist", "{ada:#}");
    // Arguments must be declared, and the lines of the errors are those of the text that is shown.
    let failed = place.run(&["program", "save", "arg", "--yes"]).input("args.require(\"a\")?.len()");
    assert_snapshot!(normal(&failed.done().exits(3).stderr), @r#"
    the program arg does not compile: cannot find value `args` in this scope
    error[E0425]: cannot find value `args` in this scope
     --> 5:1
    5 | args.require("a")?.len()
      | ^^^^ not found in this scope
    help: consider importing this function
    help: `args` is not in scope: add `use std::env::args;`
    toolsmith: the snippet became the body of `run`, and the lines above are those of the text below; a program has no `args`: declare `struct Args { … }`, take it as `async fn run(args: Args) -> Result<…>`, and return values with `return Ok(…)` of that type

    //! arg

    async fn run() -> Result<serde_json::Value> {
        let result = {
    args.require("a")?.len()
        };
        Ok(serde_json::to_value(result)?)
    }
    "#);
    assert!(!place.programs().join("arg.rs").exists());
    // Other errors are at the snippet's own lines.
    let wrong = place.run(&["program", "save", "wrong", "--yes"]).input("let a = 1;\nlet b: u8 = \"\";\na");
    assert_snapshot!(normal(&wrong.done().exits(3).stderr), @r#"
    error[E0308]: mismatched types
     --> 2:13
    2 | let b: u8 = "";
      |             ^^ expected `u8`, found `&str`
     --> 2:8
    2 | let b: u8 = "";
      |        ^^ expected due to this

    the snippet does not compile: mismatched types
    "#);
    // An error in the syntax is at the snippet's own place.
    let wrong = place.run(&["program", "save", "wrong", "--yes"]).input("let a = 1;\nlet b = (a;\nb");
    assert_snapshot!(normal(&wrong.done().exits(2).stderr), @r"
    toolsmith: -:2:9: this `(` is never closed: expected `)`
    ");
}

#[test]
fn a_program_is_deleted_only_after_a_question() {
    let place = Place::new();
    let unasked = place.run(&["program", "delete", "revenue"]).done().exits(2);
    assert_snapshot!(normal(&unasked.stderr), @r"
    toolsmith: there is no terminal to ask on
    help: to delete the program without a question, add --yes
    ");
    assert!(place.programs().join("revenue.rs").exists());
    place.ok(&["program", "delete", "revenue", "--yes"]);
    assert!(!place.programs().join("revenue.rs").exists());
}

#[test]
fn an_approved_program_calls_its_tools_without_a_question() {
    let place = asking();
    place.write("note", NOTE);
    let run = ["program", "run", "note", "--text", "t"];
    // Nobody can be asked.
    assert_snapshot!(normal(&place.run(&run).done().exits(6).stderr), @r"
    denied: demo.create_note: permission is required, but there is no terminal to ask on
    help: allow it with --allow 'demo.create_note', or with `trust: true` or `permissions` in the server's entry
    ");
    place.ok(&["program", "approve", "note", "--yes"]);
    assert_eq!(place.ok(&run).stdout, "1\n");
    // Approval is of the text, whatever the name of its file.
    place.ok(&["program", "rename", "note", "again"]);
    place.ok(&["program", "run", "again", "--text", "t"]);
    // Another text is another program.
    place.write("again", &NOTE.replace("Writes", "Stores"));
    place.run(&["program", "run", "again", "--text", "t"]).done().exits(6);
    place.write("again", NOTE);
    place.ok(&["program", "run", "again", "--text", "t"]);
    place.ok(&["program", "approve", "again", "--remove"]);
    place.run(&["program", "run", "again", "--text", "t"]).done().exits(6);
}

#[test]
fn an_approval_is_of_tools_on_one_server() {
    let place = asking();
    let text = "async fn run() -> Result<String> { Ok(demo::echo(\"a\").await?.text().to_owned()) }";
    place.write("echo", text);
    place.ok(&["program", "approve", "echo", "--yes"]);
    assert_eq!(place.ok(&["program", "run", "echo"]).stdout, "a\n");
    // Another server under the same name: what it starts with is a part of its identity.
    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], env: { A: b }, permissions: { '*': ask } }\n";
    fs::write(place.home.path().join("toolsmith/config.yaml"), config).unwrap();
    assert_snapshot!(normal(&place.run(&["program", "run", "echo"]).done().exits(6).stderr), @r"
    denied: demo.echo: permission is required, but there is no terminal to ask on
    help: allow it with --allow 'demo.echo', or with `trust: true` or `permissions` in the server's entry
    ");
}

#[test]
fn the_record_of_approvals_is_private_and_checked() {
    let place = asking();
    place.write("note", NOTE);
    place.ok(&["program", "approve", "note", "--yes"]);
    let file = place.home.path().join("toolsmith/approved-programs.json");
    let record: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let approved = record["programs"].as_object().unwrap().values().next().unwrap();
    assert_eq!((&record["version"], &approved["name"]), (&json!(1), &json!("note")));
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    fs::write(&file, "{").unwrap();
    let failed = place.run(&["program", "run", "note", "--text", "t"]).done().exits(2);
    assert_snapshot!(normal(&failed.stderr), @r"
    toolsmith: the record of approved programs /tmp/.tmpXXXXXX/toolsmith/approved-programs.json can't be read: EOF while parsing an object at line 1 column 1
    help: correct or delete it, and approve your programs again: toolsmith program approve NAME
    ");
}

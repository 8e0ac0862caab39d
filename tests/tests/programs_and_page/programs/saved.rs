//! Saving and approving programs.

use std::fs;

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
    let unasked = place.run(&["program", "save", "note"]).input(NOTE).done().exits(2).says(&["add --yes"]);
    assert!(
        unasked.stdout.contains("//! Writes a note.")
            && unasked.stdout.contains("It can call: demo.create_note")
    );
    assert!(!place.programs().join("note.rs").exists());
    place.run(&["program", "save", "note", "--yes"]).input(NOTE).done().exits(0);
    assert_eq!(fs::read_to_string(place.programs().join("note.rs")).unwrap(), NOTE);
    // What replaces a program is shown as a difference.
    let other = NOTE.replace("\"s\"", "\"other\"");
    let shown = place.run(&["program", "save", "note", "--yes"]).input(&other).done().exits(0).stdout;
    assert!(shown.starts_with("line 3:\n- async fn run") && shown.contains("\n+ async fn run"), "{shown}");
    // A broken text replaces nothing.
    let broken = place
        .run(&["program", "save", "note", "--yes"])
        .input(NOTE.replace("create_note", "x").replace("CreateNoteInput", "Gone"));
    broken.done().exits(3).says(&["does not compile", "Gone"]);
    assert_eq!(fs::read_to_string(place.programs().join("note.rs")).unwrap(), other);
    place
        .run(&["program", "save", "note", "--yes"])
        .input("fn f() {}")
        .done()
        .exits(2)
        .says(&["there is no `run`"]);
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
    failed.done().exits(3).says(&[
        " --> 5:1\n5 | args.require(\"a\")?.len()\n",
        "the snippet became the body of `run`",
        "declare `struct Args { … }`",
        "async fn run() -> Result<serde_json::Value> {\n    let result = {\nargs.require(\"a\")?.len()\n",
    ]);
    assert!(!place.programs().join("arg.rs").exists());
    // Other errors are at the snippet's own lines.
    let wrong = place.run(&["program", "save", "wrong", "--yes"]).input("let a = 1;\nlet b: u8 = \"\";\na");
    wrong.done().exits(3).says(&[" --> 2:"]);
    // An error in the syntax is at the snippet's own place.
    let wrong = place.run(&["program", "save", "wrong", "--yes"]).input("let a = 1;\nlet b = (a;\nb");
    wrong.done().exits(2).says(&["2:9"]);
}

#[test]
fn a_program_is_deleted_only_after_a_question() {
    let place = Place::new();
    let unasked = place.run(&["program", "delete", "revenue"]).done().exits(2);
    unasked.says(&["there is no terminal to ask on", "add --yes"]);
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
    place.run(&run).done().exits(6).says(&["demo.create_note"]);
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
    place.run(&["program", "run", "echo"]).done().exits(6).says(&["demo.echo"]);
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
    failed.says(&["the record of approved programs", "approved-programs.json"]);
}

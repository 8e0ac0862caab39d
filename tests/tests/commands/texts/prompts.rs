//! Questions to the user: at the terminal, and as elicitations of MCP clients.

use std::fs;
use std::path::{Path, PathBuf};

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, Run, fault_entry};
use end_to_end::page::{Page, without_escapes};
use end_to_end::serving::{HANDSHAKE, Serve, execute};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with files, in which commands run.
pub(super) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// A command on a terminal.
pub(super) fn on_terminal(folder: &Path, arguments: &[&str]) -> Run {
    let home = folder.join("home");
    Run::on_terminal(shared())
        .arguments(arguments)
        .working_folder(folder)
        .variable("XDG_CONFIG_HOME", home.to_str().unwrap())
        .variable("XDG_STATE_HOME", home.to_str().unwrap())
        // Without the line that shows what is awaited, and for how long.
        .variable("TERM", "dumb")
}

/// Adds a command on a terminal, with the answers that are typed after these prompts.
pub(super) fn asked(page: &mut Page, title: &str, run: Run, answers: &[(&str, &str)]) {
    let started = run.start();
    for (index, (prompt, line)) in answers.iter().enumerate() {
        let before = answers[..index].iter().filter(|(earlier, _)| earlier == prompt).count();
        started.answer(prompt, before + 1, line);
    }
    let mut done = started.done();
    done.stderr = without_escapes(&done.stderr);
    page.ended(title, &done);
}

const PERMISSION: &str = "[n] no: ";

#[test]
fn permissions_at_the_terminal() {
    let mut page = Page::new("prompts-permission");
    let demo =
        |more: &str| format!("mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server]{more} }}\n");
    let run = |code: &str, more: &str| {
        let files = [("snippet.rs", code), ("given.yaml", &*demo(more))];
        let folder = folder(&files);
        (on_terminal(folder.path(), &["run", "snippet.rs", "--config", "given.yaml"]), folder)
    };
    let echo = "demo::echo(\"x\").await?.text()";
    let two = "demo::echo(\"x\").await?;\ndemo::json_response().await?;\n7";
    for (title, code, more, answers) in [
        ("a program with one tool", echo, "", &["y\n"][..]),
        ("a program with two tools", two, "", &["y\n"]),
        ("always", echo, "", &["a\n"]),
        ("no", echo, "", &["n\n"]),
        ("another answer", echo, "", &["maybe\n", "n\n"]),
        ("each call", two, ", permission: ask-each", &["y\n", "n\n"]),
    ] {
        let (run, _folder) = run(code, more);
        let answers: Vec<_> = answers.iter().map(|answer| (PERMISSION, *answer)).collect();
        asked(&mut page, title, run, &answers);
    }
    let folder = folder(&[("given.yaml", &demo(""))]);
    let arguments = "{\"message\":\"direct\"}";
    let call = ["mcp", "call-tool", "--server", "demo", "--tool", "echo", "--args", arguments];
    let call = on_terminal(folder.path(), &call).arguments(&["--config", "given.yaml"]);
    asked(&mut page, "a call by command", call, &[(PERMISSION, "n\n")]);
    page.check();
}

#[test]
fn forms_and_pages_at_the_terminal() {
    let mut page = Page::new("prompts-forms");
    let config =
        format!("mcpServers:\n  faulty: {{ command: {FAULT_SERVER:?}, args: [asks], trust: true }}\n");
    let ask = "[a] answer  [d] decline  [c] cancel: ";
    let visit = "[v] I have visited it  [d] decline  [c] cancel: ";
    let field = "count (whole number, optional) [3]: ";
    let form = "elicitation/create";
    let page_of = "elicitation/create https://agree.example/page?a=1";
    for (title, message, answers) in [
        ("a form", form, &[(ask, "a\n"), (field, "7\n")][..]),
        ("a form, declined", form, &[(ask, "d\n")]),
        ("a form, another answer", form, &[(ask, "x\n"), (ask, "c\n")]),
        ("a wrong value", form, &[(ask, "a\n"), (field, "many\n"), ("such as 3: ", "8\n")]),
        ("a page to visit", page_of, &[(visit, "v\n")]),
    ] {
        let code = format!("faulty::echo().message({message:?}).await?.text()");
        let folder = folder(&[("snippet.rs", &code), ("given.yaml", &config)]);
        let run = on_terminal(folder.path(), &["run", "snippet.rs", "--config", "given.yaml"]);
        asked(&mut page, title, run, answers);
    }
    page.check();
}

#[test]
fn questions_of_commands() {
    let mut page = Page::new("prompts-commands");
    let files = [("toolsmith.yaml", "mcpServers:\n  web: { url: \"https://x.example/mcp\" }\n")];
    let yes_or_no = "[y/N] ";
    for answer in ["n\n", "y\n"] {
        let folder = folder(&files);
        asked(&mut page, "toolsmith trust", on_terminal(folder.path(), &["trust"]), &[(yes_or_no, answer)]);
        let add = ["mcp", "add", "--scope", "user", "b", "--", "toolsmith", "demo-server"];
        let add = on_terminal(folder.path(), &add);
        asked(&mut page, "toolsmith mcp add", add, &[(yes_or_no, answer)]);
    }
    let user = "mcpServers:\n  files: { command: x }\n";
    let folder = folder(&[]);
    let home: PathBuf = folder.path().join("home");
    fs::create_dir_all(home.join("toolsmith")).unwrap();
    fs::write(home.join("toolsmith/config.yaml"), user).unwrap();
    let setup = on_terminal(folder.path(), &["setup", "codex"]).variable("HOME", home.to_str().unwrap());
    asked(&mut page, "toolsmith setup codex", setup, &[(yes_or_no, "y\n"), (yes_or_no, "n\n")]);
    page.check();
}

/// The parameters of a question.
fn readable(question: &Value) -> String {
    serde_json::to_string_pretty(question).unwrap()
}

#[test]
fn elicitations() {
    let mut page = Page::new("prompts-elicitations");
    let config = format!(
        "mcpServers:\n{}{}{}",
        fault_entry("faulty", "sound", "    permission: ask\n"),
        fault_entry("each", "sound", "    permission: ask-each\n"),
        fault_entry("asking", "asks", "    trust: true\n")
    );
    let server = Serve::http(&config).start();
    let session = server.client().shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} })).0;
    for (title, code) in [
        ("a program, in a session", "faulty::echo().message(\"let in\").await?.text()"),
        ("a call, in a session", "each::echo().message(\"let in\").await?.text()"),
        ("a server's form, in a session", "asking::echo().message(\"elicitation/create\").await?.text()"),
    ] {
        let mut answering = session.begin("tools/call", &execute(code));
        let question = answering.until(|message| message["method"] == "elicitation/create");
        page.add(title, &readable(&question["params"]));
        session.answer(&question["id"], &json!({ "action": "decline" }));
        let answer = answering.end();
        page.add(&format!("{title}: declined"), &super::snippets::texts(&answer));
    }
    let stateless = server.client().stateless();
    let code = "faulty::echo().message(\"let in\").await?.text()";
    let answer = stateless.ask("tools/call", &execute(code));
    page.add("a program, without a session", &readable(&answer["result"]["inputRequests"]));
    page.check();
}

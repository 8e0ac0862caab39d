//! The examples of subagents that write tests, document a folder and read a log, each called as a tool.

use std::fs;
use std::path::Path;

use end_to_end::harness::{FinishedRun, Run};
use end_to_end::models::ModelServer;
use end_to_end::page::normal;
use end_to_end::scripted::model;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Copies an example with its prompt and its schema to a folder, with a scripted model. The demo server takes the place
/// of the server for files, which needs Node.js.
fn lay_out(folder: &Path, name: &str, model: &ModelServer) {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/subagent");
    for part in ["prompts", "schemas"] {
        fs::create_dir_all(folder.join(part)).unwrap();
        for file in fs::read_dir(examples.join(part)).unwrap().map(|file| file.unwrap().path()) {
            fs::copy(&file, folder.join(part).join(file.file_name().unwrap())).unwrap();
        }
    }
    let key = "api_key_env: ANTHROPIC_API_KEY";
    let text = fs::read_to_string(examples.join(format!("{name}.yaml"))).unwrap();
    assert!(text.contains(key), "{text}");
    let text = text
        .replace(key, &format!("{key}, base_url: {:?}", model.base_url()))
        .replace("command: npx", "command: toolsmith")
        .replace(
            "args: [-y, \"@modelcontextprotocol/server-filesystem@2026.8.31\", .]",
            "args: [demo-server]",
        )
        .replace("read_*", "echo");
    assert!(!text.contains("npx"), "{text}");
    fs::write(folder.join("subagent.yaml"), text).unwrap();
    let parent = "mcpServers:\n  it:\n    command: toolsmith\n    args: [mcp, serve, --config, subagent.yaml]\n    \
                  trust: true\n    inheritModelKeys: true\n";
    fs::write(folder.join("parent.yaml"), parent).unwrap();
}

/// Calls the subagent of an example, which follows a script.
fn called(name: &str, tool: &str, more: &[&str], rules: &Value) -> FinishedRun {
    let model = model(rules);
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path(), name, &model);
    fs::write(folder.path().join("app.log"), "1 started\n2 error: disk full\n").unwrap();
    let target = format!("it.{tool}");
    let call = ["mcp", "call", &target, "prompt=Do it.", "--config", "parent.yaml", "--json"];
    Run::new(end_to_end::cache::shared())
        .arguments(&call)
        .arguments(more)
        .working_folder(folder.path())
        .variable("XDG_STATE_HOME", folder.path().to_str().unwrap())
        .variable("ANTHROPIC_API_KEY", "secret-key")
        .done()
        .exits(0)
}

/// A step in which the model runs a snippet.
fn snippet(code: &str) -> Value {
    json!({ "when": { "no_result": true }, "answers": [{ "calls": [{
        "name": "execute_code", "arguments": { "code": code },
    }] }] })
}

fn final_answer(answer: &Value) -> Value {
    json!({ "answers": [{ "calls": [{ "name": "final_answer", "arguments": answer }] }] })
}

fn data(done: &FinishedRun) -> Value {
    let printed: Value = serde_json::from_str(&done.stdout).unwrap();
    printed["data"].clone()
}

#[test]
fn the_tester_reads_with_a_snippet_and_returns_its_tests() {
    let tests = json!({ "file": "tests/a.rs", "tests": [{ "name": "adds", "covers": "sums" }] });
    let code = "files::echo(\"fn add()\").await?.text()";
    let done = called("tester", "write_tests", &[], &json!([snippet(code), final_answer(&tests)]));
    assert_eq!(data(&done), tests, "{done:#?}");
}

#[test]
fn the_documenter_can_only_read() {
    let denied = json!({
        "when": { "result": "denied" },
        "answers": [{ "text": "# The folder\n\nIt could not be changed." }],
    });
    let code = "files::create_note(\"a\", \"b\").await?.id";
    let done = called("documenter", "document_folder", &[], &json!([snippet(code), denied]));
    assert_snapshot!(normal(&done.stdout), @r##"
    {"success":true,"output":"# The folder\n\nIt could not be changed.","data":null,"error":null,"content":[{"type":"text","text":"# The folder\n\nIt could not be changed."}]}
    "##);
}

#[test]
fn the_reader_of_logs_gets_the_log_with_the_task() {
    let problems = json!({ "problems": [{ "line": 2, "count": 1, "message": "the disk is full" }] });
    let step = json!({
        "when": { "first_user": "error: disk full" },
        "answers": [{ "calls": [{ "name": "final_answer", "arguments": problems }] }],
    });
    let done = called("log_reader", "read_log", &["inputs:=[\"app.log\"]"], &json!([step]));
    assert_eq!(data(&done), problems, "{done:#?}");
}

//! The example: a snippet has fifty files reviewed concurrently by a subagent with structured answers.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use end_to_end::harness::Run;
use end_to_end::page::normal;
use end_to_end::scripted::model;
use insta::assert_snapshot;
use serde_json::{Value, json};

/// The number of files.
const FILES: usize = 50;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/subagent");
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Copies the example to a folder, with scripted models instead of the provider's, and creates files to review.
fn lay_out(folder: &Path, base_url: &str) -> String {
    let there = folder.join("examples/subagent");
    for name in ["parent.yaml", "reviewer.yaml", "coder.yaml", "review_all.rs"] {
        fs::create_dir_all(&there).unwrap();
        let text = example(name).replace(
            "api_key_env: ANTHROPIC_API_KEY",
            &format!("api_key_env: ANTHROPIC_API_KEY, base_url: {base_url:?}"),
        );
        fs::write(there.join(name), text).unwrap();
    }
    for name in ["prompts/reviewer.md", "prompts/coder.md", "schemas/review.json"] {
        fs::create_dir_all(there.join(name).parent().unwrap()).unwrap();
        fs::write(there.join(name), example(name)).unwrap();
    }
    let files = (0..FILES).map(|number| {
        let name = format!("file{number}.txt");
        fs::write(folder.join(&name), format!("text {number}\n")).unwrap();
        name
    });
    files.collect::<Vec<_>>().join(" ")
}

/// A command in the example's folder, with its own state folder.
fn at(folder: &Path, arguments: &[&str]) -> Run {
    Run::new(end_to_end::cache::shared())
        .arguments(arguments)
        .working_folder(folder)
        .variable("XDG_STATE_HOME", folder.to_str().unwrap())
        .variable("ANTHROPIC_API_KEY", "secret-key")
}

#[test]
fn fifty_concurrent_reviews_are_reported_and_stored() {
    // No request is answered before all fifty have arrived, which proves that they run concurrently.
    let finding = json!({ "line": 1, "severity": "high", "message": "wrong in {{word:Review}}" });
    let answer = json!({ "verdict": "wrong", "findings": [finding] });
    // Each subagent calls one of its tools first.
    let look = json!({
        "when": { "first_user": "Review file", "offers": "final_answer", "no_result": true },
        "answers": [{ "thinking": "hm", "calls": [{ "name": "mcp_resources_list", "arguments": {} }] }],
        "together": FILES,
    });
    let review = json!({
        "when": { "first_user": "Review file", "result_of": "mcp_resources_list" },
        "answers": [{ "calls": [{ "name": "final_answer", "arguments": answer }] }],
        "together": FILES,
    });
    let model = model(&json!([look, review]));
    let folder = tempfile::tempdir().unwrap();
    let files = lay_out(folder.path(), &model.base_url());
    let run = |arguments: &[&str]| at(folder.path(), arguments).done();
    let arg = format!("files={files}");
    let (snippet, parent) = ("examples/subagent/review_all.rs", "examples/subagent/parent.yaml");
    let done = run(&["run", snippet, "--config", parent, "--arg", &arg, "--json"]);
    let count_of = |what: &str| done.stderr.lines().filter(|line| line.contains(what)).count();
    assert_eq!(count_of("] begins: Review file"), FILES, "{}", done.stderr);
    assert_eq!(count_of("] mcp_resources_list answers"), FILES, "{}", done.stderr);
    assert_eq!(count_of("] is done ("), FILES, "{}", done.stderr);
    let outcome = done.expect("ok", 0);
    assert_eq!(outcome["result"]["reviewed"], FILES, "{outcome:#}");
    assert_eq!(outcome["result"]["failed"], json!([]), "{outcome:#}");
    assert_eq!(outcome["result"]["serious"][7], "file7.txt:1: wrong in file7.txt.", "{outcome:#}");
    assert_eq!(outcome["calls_total"], FILES);

    let kept = run(&["conversation", "list", "--subagents", "--limit", "1000", "--json"]).exits(0).stdout;
    let runs: std::collections::BTreeSet<&str> =
        kept.split('"').filter(|text| text.starts_with("subagent:review_file:")).collect();
    assert_eq!(runs.len(), FILES, "{kept}");
}

#[test]
fn conversations_of_an_agent_and_fifty_subagents_are_separate() {
    let answer = json!({ "verdict": "good", "findings": [] });
    let snippet = example("review_all.rs");
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..FILES).map(|number| format!("file{number}.txt")).collect();
    let arguments = json!({ "code": snippet, "args": { "files": names.join(" ") } });
    let model = model(&json!([
        {
            "when": { "first_user": "Review file" }, "together": FILES,
            "answers": [{ "calls": [{ "name": "final_answer", "arguments": answer }] }],
        },
        {
            "when": { "no_result": true },
            "answers": [{ "calls": [{ "name": "execute_code", "arguments": arguments }] }],
        },
        { "when": { "result": "\"reviewed\":50" }, "answers": [{ "text": "All fifty are good." }] },
    ]));
    lay_out(folder.path(), &model.base_url());
    let run = |arguments: &[&str]| at(folder.path(), arguments).done();
    let answer = run(&["ask", "Are all files good?", "--config", "examples/subagent/parent.yaml"]).exits(0);
    assert_snapshot!(normal(&answer.stdout), @"All fifty are good.");
    let list = |more: &[&str]| {
        let listed = run(&[&["conversation", "list", "--limit", "1000", "--json"], more].concat()).exits(0);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        listed.as_array().unwrap().clone()
    };
    let (all, below) = (list(&[]), list(&["--subagents"]));
    assert_eq!((all.len(), below.len()), (FILES + 1, FILES), "{all:#?}");
}

#[test]
fn subagent_events_are_reported_at_the_root_in_order() {
    let steps = json!([
        { "when": { "no_result": true }, "answers": [{ "thinking": "let me count", "calls": [{
            "name": "execute_code", "arguments": { "code": "shop::list_orders().await?.orders.len()" },
        }] }] },
        { "answers": [{ "text": "There are orders.", "usage": { "input": 30, "output": 7 } }] },
    ]);
    let model = model(&steps);
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path(), &model.base_url());
    let code = "coder::ask_the_shop(\"How many orders?\").await?.text()";
    let arguments = ["run", "-", "--config", "examples/subagent/parent.yaml", "--json"];
    let done = at(folder.path(), &arguments).input(code).done();
    let stderr = done.stderr.clone();
    assert_eq!(done.expect("ok", 0)["result"], "There are orders.");
    let count_of: Vec<&str> = stderr.lines().filter(|line| line.starts_with("[ask_the_shop ")).collect();
    assert_snapshot!(normal(&count_of.join("\n")), @r"
    [ask_the_shop [id]] begins: How many orders?
    [ask_the_shop [id]] thinks: let me count
    [ask_the_shop [id]] calls execute_code: shop::list_orders().await?.orders.len()
    [ask_the_shop [id]] execute_code answers: 20
    [ask_the_shop [id]] is done (40 tokens read, 12 written): There are orders.
    ");
}

#[test]
fn lost_events_are_counted_on_standard_error() {
    let model = model(&json!([{ "answers": [{ "text": "There are orders." }] }]));
    let folder = tempfile::tempdir().unwrap();
    lay_out(folder.path(), &model.base_url());
    // The kernel accepts connections, and nothing answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://token@{}/events", silent.local_addr().unwrap());
    let arguments = ["run", "-v", "-", "--config", "examples/subagent/parent.yaml", "--json"];
    let run = at(folder.path(), &arguments).variable("TOOLSMITH_SUBAGENT_LOGGING_ADDRESS", &address);
    let done = run.input("coder::ask_the_shop(\"How many orders?\").await?.text()").done();
    let stderr = done.stderr.clone();
    assert_eq!(done.expect("ok", 0)["result"], "There are orders.");
    assert!(stderr.contains("coder: toolsmith: warning: lost 2 events of this subagent"), "{stderr}");
}

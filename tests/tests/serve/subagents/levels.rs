//! Subagents that call subagents, three levels deep.

use end_to_end::cache::shared;
use end_to_end::harness::{Run, fault_entry};
use end_to_end::models::ModelServer;
use end_to_end::scripted::model;
use end_to_end::serving::{Serve, Server};
use serde_json::{Value, json};

/// The script of all levels: each model calls the next subagent, and repeats its answer.
fn script() -> Value {
    let level = |number: usize| {
        let next = number + 1;
        let call =
            json!({ "name": format!("level{next}"), "arguments": { "prompt": format!("go to {next}") } });
        [
            json!({ "when": { "model": format!("m{number}"), "no_result": true }, "answers": [{ "calls": [call] }] }),
            json!({ "when": { "model": format!("m{number}") }, "answers": [{ "text": format!("{number}: {{{{result}}}}") }] }),
        ]
    };
    let last = json!({ "when": { "model": "m3" }, "answers": [{ "text": "3: the bottom" }] });
    Value::Array([level(1), level(2)].concat().into_iter().chain([last]).collect())
}

/// The file of a subagent; `next` is the entry of the subagent below it.
fn subagent(model: &ModelServer, number: usize, next: &str) -> String {
    format!(
        "models:\n  - {{ ref: m, id: m{number}, type: openai, base_url: {:?} }}\n\
         subagent: {{ name: level{number}, description: It is on level {number}. }}\n\
         agent: {{ maxDepth: 3 }}\nmcpServers:\n{}{next}",
        model.base_url(),
        fault_entry("faulty", "sound", "")
    )
}

/// The entry of a subagent that is started over pipes.
fn over_pipes(number: usize) -> String {
    format!(
        "  next{number}: {{ command: toolsmith, args: [mcp, serve, -v, --config, ./level{number}.yaml], trust: true, \
         codeMode: false, requestTimeout: 60 }}\n"
    )
}

/// The entry of a subagent that listens at an address.
fn over_http(number: usize, server: &Server) -> String {
    format!(
        "  next{number}: {{ url: {:?}, trust: true, codeMode: false, requestTimeout: 60 }}\n",
        server.address()
    )
}

#[test]
fn three_levels_over_pipes_report_to_the_root_and_the_fourth_does_not_start() {
    let model = model(&script());
    let folder = tempfile::tempdir().unwrap();
    for number in 1..=4 {
        let next = if number < 4 { over_pipes(number + 1) } else { String::new() };
        let text = subagent(&model, number, &next);
        std::fs::write(folder.path().join(format!("level{number}.yaml")), text).unwrap();
    }
    let root = format!("mcpServers:\n{}", over_pipes(1));
    std::fs::write(folder.path().join("root.yaml"), root).unwrap();
    let run = Run::new(shared()).working_folder(folder.path());
    let run = run.variable("XDG_STATE_HOME", folder.path().to_str().unwrap());
    let done = run
        .arguments(&["mcp", "call", "-v", "next1.level1", "prompt=go to 1", "--config", "root.yaml"])
        .done()
        .exits(0);
    assert_eq!(done.stdout.trim(), "1: 2: 3: the bottom", "{done:#?}");
    for number in 1..=3 {
        let of_level = |what: &str| {
            done.stderr
                .lines()
                .any(|line| line.starts_with(&format!("[level{number} ")) && line.contains(what))
        };
        assert!(of_level("begins") && of_level("is done ("), "{number}: {done:#?}");
    }
    // The last one is too deep, which the process above it logs.
    done.says(&["the server next4 is unavailable: ", "4 processes of Toolsmith are above"]);
}

#[test]
fn three_levels_over_http_count_their_depth_and_the_last_refuses_at_its_limit() {
    let model = model(&script());
    for (limit, is_allowed) in [(3, true), (2, false)] {
        let start = |number: usize, next: &str| {
            let text = subagent(&model, number, next);
            let text =
                if number == 3 { text.replace("maxDepth: 3", &format!("maxDepth: {limit}")) } else { text };
            Serve::subagent(&text).arguments(&["--http", "127.0.0.1:0", "--allow", "*"]).start()
        };
        let third = start(3, "");
        let second = start(2, &over_http(3, &third));
        let first = start(1, &over_http(2, &second));
        let root = format!("mcpServers:\n{}", over_http(1, &first));
        let run = Run::new(shared()).arguments(&["mcp", "call", "next1.level1", "prompt=go to 1"]);
        let done = run.config_alone(&root).done().exits(0);
        if is_allowed {
            assert_eq!(done.stdout.trim(), "1: 2: 3: the bottom", "{done:#?}");
        } else {
            assert!(done.stdout.contains("1: 2: ") && done.stdout.contains("agent.maxDepth"), "{done:#?}");
        }
    }
}

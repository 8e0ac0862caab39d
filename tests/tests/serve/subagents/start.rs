//! Errors that prevent a subagent from being served are reported before any protocol output.

use std::path::Path;

use end_to_end::harness::Run;
use end_to_end::scripted::{described, model};
use serde_json::json;

fn run(config: &str) -> Run {
    let empty = Path::new("/nowhere");
    Run::new(end_to_end::cache::shared())
        .arguments(&["mcp", "serve"])
        .config_alone(config)
        .variable("SCRIPTED_KEY", "secret-key")
        .variable("XDG_STATE_HOME", &empty.display().to_string())
}

#[track_caller]
fn refused(run: Run, phrases: &[&str]) {
    let done = run.done().exits(2).says(phrases);
    assert_eq!(done.stdout, "");
}

#[test]
fn missing_settings_are_reported_at_start() {
    let model = model(&json!([]));
    let complete = described(&model, "", "agent: { conversations: false }\n");
    let without = |part: &str, other: &str| complete.replace(part, other);
    refused(
        run(&without(
            "subagent: { name: helper, description: It helps. }\n",
            "mcpServers: { x: { command: x } }\n",
        )),
        &["describes no subagent"],
    );
    refused(run(&complete).variable("SCRIPTED_KEY", ""), &["SCRIPTED_KEY", "is not set"]);
    refused(run(&format!("{complete}defaults: {{ model: other }}\n")), &["\"other\"", "names no model"]);
    refused(run(&format!("{complete}defaults: {{ systemPromptPath: absent.md }}\n")), &["absent.md"]);
    let with_schema = |file: &str| without("It helps.", &format!("It helps., outputSchemaPath: {file}"));
    refused(run(&with_schema("absent.json")), &["absent.json"]);
    let nothing = Run::new(end_to_end::cache::shared()).arguments(&["mcp", "serve"]);
    refused(nothing, &["--config AGENT.yaml"]);
}

#[test]
fn invalid_files_are_rejected_at_start() {
    let model = model(&json!([]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    let path = file.display().to_string();
    let schema =
        described(&model, &format!(", outputSchemaPath: {path:?}"), "agent: { conversations: false }\n");
    let wrong = [
        ("{", "is not JSON"),
        (r#"{ "type": "array" }"#, "\"object\""),
        (r#"{ "type": "object", "properties": 7 }"#, "not a valid JSON Schema"),
    ];
    for (text, why) in wrong {
        std::fs::write(&file, text).unwrap();
        refused(run(&schema), &[path.as_str(), why]);
    }
    std::fs::write(&file, "You are {{who}}").unwrap();
    let more = format!("agent: {{ conversations: false }}\ndefaults: {{ systemPromptPath: {path:?} }}\n");
    refused(run(&described(&model, "", &more)), &["{{who}}", "{{folder}}", "{{instructions}}"]);
}

#[test]
fn a_too_deeply_nested_subagent_is_rejected() {
    let model = model(&json!([]));
    let config = described(&model, "", "agent: { conversations: false, maxDepth: 2 }\n");
    let below = |depth: &str| run(&config).variable("TOOLSMITH_DEPTH", depth);
    refused(below("3"), &["3 processes of Toolsmith are above", "the limit is 2", "agent.maxDepth"]);
    refused(below("many"), &["TOOLSMITH_DEPTH"]);
    // Its input is empty, so it exits at once.
    below("2").done().exits(0);
}

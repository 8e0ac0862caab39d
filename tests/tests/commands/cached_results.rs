//! The cache of results: which calls it answers, for whom, and how that is shown. And the limits of direct answers.

use std::path::Path;

use end_to_end::cache::json;
use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, Run, unique};
use end_to_end::serving::{Client, HANDSHAKE, Serve, execute, outcome_of};
use serde_json::{Value, json};

/// A server that counts its calls in a file, with all its tools listed, and further top-level lines.
fn config(count: &Path, entry: &str, more: &str) -> String {
    format!(
        "mcpServers:\n  web:\n    command: {FAULT_SERVER:?}\n    args: [counts, {count:?}]\n    trust: true\n{entry}\
         cache: {{ tools: [\"web.*\"] }}\n{more}"
    )
}

/// The records of calls without their durations.
fn calls(outcome: &Value) -> Vec<(Value, Value, bool)> {
    let calls = outcome["calls"].as_array().unwrap();
    calls
        .iter()
        .map(|call| (call["tool"].clone(), call["cached"].clone(), call["age_ms"].is_number()))
        .collect()
}

#[test]
fn repeated_calls_of_a_read_only_tool_are_answered_from_the_cache_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let code = format!(
        "// {}\nlet mut all = Vec::new();\nfor _ in 0..2 {{\n    all.push(web::get_count().await?.text());\n    \
         all.push(web::get_count().message(\"other\").await?.text());\n    \
         all.push(web::next_count().await?.text());\n}}\nall",
        unique()
    );
    let done = json(&code).config(&config(&count, "", "")).done();
    let warnings = done.stderr.matches("results of web.next_count are not cached").count();
    assert_eq!(warnings, 1, "{done:#?}");
    let outcome = done.expect("ok", 0);
    assert_eq!(outcome["result"], json!(["1", "2", "3", "1", "2", "4"]), "{outcome:#}");
    let (get, next) = (json!("get_count"), json!("next_count"));
    let made = |tool: &Value| (tool.clone(), Value::Null, false);
    let cached = (get.clone(), json!(true), true);
    let all = [made(&get), made(&get), made(&next), cached.clone(), cached, made(&next)];
    assert_eq!(calls(&outcome), all, "{outcome:#}");
}

#[test]
fn failures_and_unlisted_tools_are_not_cached() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let code = format!(
        "// {}\nfor _ in 0..2 {{\n    let failed = web::get_count().message(\"fail\").await;\n    \
         assert!(failed.is_err());\n}}\nweb::get_count().await?.text()",
        unique()
    );
    assert_eq!(json(&code).config(&config(&count, "", "")).result(), "3");
    let unlisted = config(&count, "", "").replace("web.*", "other.*");
    let code = format!("// {}\nweb::get_count().await?;\nweb::get_count().await?.text()", unique());
    assert_eq!(json(&code).config(&unlisted).result(), "5");
}

#[track_caller]
fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer:#}"))
}

#[test]
fn a_client_of_serve_shares_results_with_itself_alone() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let more = "codeMode: { excludedTools: [get_count] }\nserve: { audit: { file: audit.jsonl } }\n";
    let server = Serve::http(&config(&count, "", more)).start();
    let direct = json!({ "name": "get_count", "arguments": { "message": "a" } });
    let call = |client: &Client| text(&client.ask("tools/call", &direct)).to_owned();
    let (one, two) = (server.client().shake_hands(), server.client().shake_hands());
    assert_eq!([call(&one), call(&one), call(&two), call(&one), call(&two)], ["1", "1", "2", "1", "2"]);
    let log = std::fs::read_to_string(server.path("audit.jsonl")).unwrap();
    let ends: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let cached = ends.iter().filter(|line| line["event"] == "call_end" && line["cached"] == true);
    assert_eq!(cached.filter(|line| line["age_ms"].is_number()).count(), 3, "{log}");
}

#[test]
fn executions_of_a_client_share_results() {
    let folder = tempfile::tempdir().unwrap();
    let server = Serve::http(&config(&folder.path().join("count"), "", "")).start();
    let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({}));
    let call = execute("web::get_count().await?.text()");
    for cached in [Value::Null, json!(true)] {
        let answer = client.ask("tools/call", &call);
        let outcome = outcome_of(&answer);
        assert_eq!(
            (&outcome["result"], &outcome["calls"][0]["cached"]),
            (&json!("1"), &cached),
            "{answer:#}"
        );
    }
}

/// A pin or a permission applies to a cached answer as to any call.
#[test]
fn a_cached_answer_needs_permission() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let direct = config(&count, "    codeMode: false\n", "");
    let server = Serve::http(&direct).start();
    let client = server.client().shake_hands();
    let call = json!({ "name": "get_count", "arguments": {} });
    assert_eq!(text(&client.ask("tools/call", &call)), "1");
    server.configure(&direct.replace("trust: true", "permission: deny"));
    server.wait_for_log("the configuration was read again");
    let refused = client.ask("tools/call", &call);
    assert!(!refused.to_string().contains("\"text\":\"1\""), "{refused:#}");
}

#[test]
fn a_large_answer_of_a_direct_tool_is_cut_and_the_whole_is_a_resource() {
    let direct = format!(
        "mcpServers:\n  faulty:\n    command: {FAULT_SERVER:?}\n    args: [sound]\n    trust: true\n    codeMode: false\nserve: {{ output: 2KiB }}\n"
    );
    let server = Serve::http(&direct).start();
    let client = server.client().shake_hands();
    let message = format!("begin{}end", "x".repeat(10_000));
    let call = json!({ "name": "echo", "arguments": { "message": message } });
    let answer = client.ask("tools/call", &call);
    let shown = text(&answer);
    assert!(shown.starts_with("beginx") && shown.ends_with("xend") && shown.len() < 2_500, "{shown}");
    let link = &answer["result"]["content"][1];
    assert_eq!(
        (&link["type"], &link["size"]),
        (&json!("resource_link"), &json!(message.len())),
        "{answer:#}"
    );
    let whole = client.ask("resources/read", &json!({ "uri": link["uri"] }));
    assert_eq!(whole["result"]["contents"][0]["text"], message);
    let other = server.client().shake_hands().ask("resources/read", &json!({ "uri": link["uri"] }));
    assert!(other["error"].is_object(), "{other:#}");
}

#[test]
fn a_dead_session_is_replaced_before_the_next_call() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    let config = format!(
        "mcpServers:\n  faulty:\n    command: {FAULT_SERVER:?}\n    args: [silent-ping, {sessions:?}]\n    trust: true\n    \
         codeMode: false\n    pingInterval: 0.05\n    requestTimeout: 0.5\n"
    );
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    server.wait_until("the second session", || std::fs::read(&sessions).is_ok_and(|count| count.len() == 2));
    let call = json!({ "name": "echo", "arguments": { "message": "again" } });
    assert_eq!(text(&server.ask(2, "tools/call", &call)), "again");
}

#[test]
fn zero_stands_for_no_time_limit() {
    let config = format!(
        "mcpServers:\n  faulty:\n    command: {FAULT_SERVER:?}\n    args: [sound]\n    timeout: 0\n    requestTimeout: 0\n    \
         toolTimeouts: {{ echo: 0 }}\n    permission: allow\n"
    );
    let call = ["mcp", "call", "faulty.echo", "message=hello"];
    let done = Run::new(shared()).arguments(&call).config_alone(&config).done().exits(0);
    assert_eq!(done.stdout.trim(), "hello");
    let servers =
        Run::new(shared()).arguments(&["mcp", "list-servers", "--json"]).config_alone(&config).done();
    let servers: Value = serde_json::from_str(&servers.exits(0).stdout).unwrap();
    assert_eq!((&servers[0]["timeout"], &servers[0]["requestTimeout"]), (&json!(0.0), &json!(0.0)));
}

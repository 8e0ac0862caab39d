//! A subagent's tools: snippets, direct calls, permission, and the metadata for its servers.

use end_to_end::harness::{FAULT_SERVER, fault_entry};
use end_to_end::page::normal;
use end_to_end::scripted::{described, model, task};
use end_to_end::serving::{DEMO, Serve};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{serving, text};

/// A model that calls a tool and then reports its result.
fn calling(tool: &str, arguments: &Value) -> Value {
    json!([
        { "when": { "no_result": true }, "answers": [{ "calls": [{ "name": tool, "arguments": arguments }] }] },
        { "answers": [{ "text": "it says: {{result}}" }] },
    ])
}

#[test]
fn a_snippet_of_the_subagent_calls_its_tools() {
    let code = "let mut all = Vec::new(); for n in 0..3 { all.push(demo::echo(format!(\"no {n}\")).await?.text()); } all.join(\", \")";
    let model = model(&calling("execute_code", &json!({ "code": code })));
    let mut server = serving(&model, "", DEMO);
    let answer = server.ask(1, "tools/call", &task("go"));
    assert_snapshot!(normal(&text(&answer)), @"it says: no 0, no 1, no 2");
    let asked = &model.requests()[0]["body"];
    assert_snapshot!(normal(&asked["messages"][0]), @r#"
    {
      "role": "system",
      "content": "Complete the tasks you are given with the available tools. Do what is asked, then report the result briefly.\n\nWorking folder: /tmp/.tmpXXXXXX\nDate: 2026-01-01\n\nInstructions of the server demo:\nA small shop with orders, customers, products and notes. The data is the same in every session; notes last as long as the session."
    }
    "#);
}

#[test]
fn without_code_mode_there_are_direct_tools_only() {
    let model = model(&calling("echo", &json!({ "message": "straight" })));
    let mut server = serving(&model, "", &format!("{DEMO}codeMode: {{ enabled: false }}\n"));
    let answer = server.ask(1, "tools/call", &task("go"));
    assert_eq!(text(&answer), "it says: straight");
    let tools = model.requests()[0]["body"]["tools"].to_string();
    assert!(tools.contains("\"echo\"") && !tools.contains("execute_code"), "{tools}");
}

#[test]
fn an_error_of_a_tool_is_a_result_for_the_model() {
    let model = model(&calling("fail", &json!({ "message": "out of order" })));
    let mut server = serving(&model, "", &format!("{DEMO}codeMode: {{ enabled: false }}\n"));
    let answer = server.ask(1, "tools/call", &task("go"));
    assert_snapshot!(normal(&text(&answer)), @"it says: Error: out of order");
    assert!(answer["result"]["isError"] == false, "{answer:#}");
}

#[test]
fn the_client_is_asked_for_permission_if_it_supports_it() {
    let model = model(&calling("echo", &json!({ "message": "permitted" })));
    let more = format!("codeMode: {{ enabled: false }}\nmcpServers:\n{}", fault_entry("faulty", "sound", ""));
    let mut mute = serving(&model, "", &more);
    let answer = mute.ask(1, "tools/call", &task("go"));
    assert_snapshot!(normal(&text(&answer)), @r#"
    it says: Error: denied: faulty.echo: permission is required, but the user can't be asked through this client
    help: to allow it without a question, add to the configuration:
    mcpServers:
      faulty: { permissions: { "echo": allow } }
    help: or start the server with --allow 'faulty.echo'
    help: or start it with --ui --allow-actions, and answer its questions on a page in your browser
    "#);
    let server = Serve::subagent(&described(&model, "", &more)).arguments(&["--http", "127.0.0.1:0"]).start();
    let client = server.client().stateless();
    let asked = client.ask("tools/call", &task("go"));
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked:#}");
    let (name, _) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let mut retry = task("go");
    retry["requestState"] = result["requestState"].clone();
    retry["inputResponses"] = json!({ name: { "action": "accept", "content": { "answer": "once" } } });
    let answer = client.ask("tools/call", &retry);
    assert_eq!(text(&answer), "it says: permitted");
}

#[test]
fn servers_receive_their_depth_and_the_calling_run() {
    let config = |mode: &str| {
        format!(
            "codeMode: {{ enabled: false }}\nmcpServers:\n{}",
            fault_entry("meta", mode, "    trust: true\n")
        )
    };
    let asking = model(&calling("echo", &json!({ "message": "TOOLSMITH_DEPTH" })));
    let described = described(&asking, "", &config("environment"));
    let mut server = Serve::subagent(&described).variable("TOOLSMITH_DEPTH", "2").start();
    server.shake_hands();
    assert_eq!(text(&server.ask(1, "tools/call", &task("go"))), "it says: 3");

    let asking = model(&calling("echo", &json!({ "message": "" })));
    let mut server = serving(&asking, "", &config("metadata"));
    let answer = server.ask(1, "tools/call", &task("go"));
    let run = answer["result"]["_meta"]["io.toolsmith/run"]["id"].as_str().unwrap();
    let received = json!({ "io.toolsmith/parentRun": run, "progressToken": 1 });
    assert_eq!(text(&answer), format!("it says: {received}"));
}

#[test]
fn servers_called_from_snippets_receive_the_calling_run() {
    let code = "meta::echo().message(\"\").await?.text()";
    let asking = model(&calling("execute_code", &json!({ "code": code })));
    let more = format!("mcpServers:\n{}", fault_entry("meta", "metadata", "    trust: true\n"));
    let mut server = serving(&asking, "", &more);
    let answer = server.ask(1, "tools/call", &task("go"));
    let run = answer["result"]["_meta"]["io.toolsmith/run"]["id"].as_str().unwrap();
    let received = json!({ "io.toolsmith/parentRun": run, "progressToken": 1 });
    assert_eq!(text(&answer), format!("it says: {received}"));
}

/// The provider's library parses the model's arguments once and keeps the last of repeated members.
#[test]
fn only_one_reading_of_repeated_members_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let model = model(&calling("any", &json!(r#"{"path":"/etc/DANGEROUS","path":"/tmp/safe"}"#)));
    let recorder = format!(
        "codeMode: {{ enabled: false }}\nmcpServers:\n  rec: {{ command: {FAULT_SERVER:?}, args: [records-lines, {record:?}], trust: true }}\n"
    );
    let mut server = serving(&model, "", &recorder);
    let answer = server.ask(1, "tools/call", &task("go"));
    assert_eq!(text(&answer), "it says: done");
    let sent = std::fs::read_to_string(&record).unwrap();
    assert_snapshot!(normal(&sent), @r#"
    {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"io.toolsmith/process":{"name":"[hash]","configuration":"[hash]"}},"extensions":{"io.modelcontextprotocol/tasks":{}}},"clientInfo":{"name":"toolsmith","title":"Toolsmith","version":"[version]"}}}
    {"jsonrpc":"2.0","method":"notifications/initialized"}
    {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":0}}}
    {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"experimental":{"io.toolsmith/process":{"name":"[hash]","configuration":"[hash]"}},"extensions":{"io.modelcontextprotocol/tasks":{}}},"clientInfo":{"name":"toolsmith","title":"Toolsmith","version":"[version]"}}}
    {"jsonrpc":"2.0","method":"notifications/initialized"}
    {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":0}}}
    {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"io.toolsmith/parentRun":"[id]","progressToken":1},"name":"any","arguments":{"path":"/tmp/safe"}}}
    "#);
}

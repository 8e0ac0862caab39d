//! `toolsmith mcp list-servers`, `status`, `info`, `test`, `list-tools` and `call-tool`.

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, fault_entry};
use serde_json::{Value, json};

fn mcp(config: &str, arguments: &[&str]) -> FinishedRun {
    Run::new(shared()).argument("mcp").arguments(arguments).config_alone(config).done()
}

fn value(done: &FinishedRun) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
}

fn two() -> String {
    format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server], disabledTools: [slow], permissions: {{ echo: allow, fail: deny }} }}\n{}",
        fault_entry("broken", "exits-at-once", "")
    )
}

#[test]
fn servers_are_listed_without_starting_one() {
    let done = mcp(&two(), &["list-servers"]).exits(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(lines[0].contains("ID") && lines[1].contains("broken") && lines[2].contains("demo"), "{done:#?}");
    let servers = value(&mcp(&two(), &["list-servers", "--json"]).exits(0));
    let facts = ["id", "transport", "enabled", "timeout"].map(|key| servers[1][key].clone());
    assert_eq!(facts, [json!("demo"), json!("stdio"), json!(true), json!(60.0)], "{servers:#}");
    assert!(servers[1]["source"].as_str().unwrap().contains("given.yaml"), "{servers:#}");
}

#[test]
fn the_state_of_each_server_is_reported_and_one_ready_server_is_enough() {
    let done = mcp(&two(), &["status"]).exits(0).says(&["broken", "exited with status"]);
    let demo = done.stdout.lines().find(|line| line.contains("demo")).unwrap();
    assert!(demo.contains("ready") && demo.contains('9'), "{done:#?}");
    let states = value(&mcp(&two(), &["status", "--json"]).exits(0));
    assert_eq!((&states[0]["state"], &states[1]["state"]), (&json!("error"), &json!("ready")));
    assert!(states[0]["error"].as_str().unwrap().contains("exited with status"), "{states:#}");
    let broken = format!("mcpServers:\n{}", fault_entry("broken", "exits-at-once", ""));
    mcp(&broken, &["status"]).exits(7);
    mcp(&broken, &["status", "broken"]).exits(7).says(&["exited with status"]);
    mcp(&broken, &["list-tools"]).exits(7).says(&["exited with status"]);
    mcp(&broken, &["test", "broken"]).exits(7).says(&["exited with status"]);
}

#[test]
fn info_shows_the_servers_own_description() {
    let done = mcp(&two(), &["info", "demo"]).exits(0);
    for phrase in ["toolsmith-demo", "2025-11-25", "A small shop", "demo-server", "ready"] {
        assert!(done.stdout.contains(phrase), "{phrase} in {done:#?}");
    }
    let facts = value(&mcp(&two(), &["info", "demo", "--json"]).exits(0));
    // `slow` is disabled.
    assert_eq!((&facts["tools"], &facts["listedTools"]), (&json!(8), &json!(9)));
    assert_eq!(facts["serverInfo"]["name"], "toolsmith-demo");
    assert!(done.stdout.contains("8 of 9"), "{done:#?}");
    assert!(mcp(&two(), &["test", "demo"]).exits(0).stdout.contains("demo: ok, 8 of 9 tools"));
    mcp(&two(), &["info", "absent"]).exits(2).says(&["absent", "broken, demo"]);
}

#[test]
fn tools_are_listed_with_their_permission_and_parameters() {
    let done = mcp(&two(), &["list-tools"]).exits(0).says(&["broken"]);
    assert!(
        done.stdout.contains("9 tools, 8 admitted, 1 left out (filter: disabledTools: slow)"),
        "{done:#?}"
    );
    let row = |name: &str| done.stdout.lines().find(|line| line.trim().starts_with(name)).unwrap().to_owned();
    assert!(row("echo").contains("allow") && row("echo").contains("message*: string"), "{done:#?}");
    assert!(row("fail").contains("deny") && row("image").contains("ask"), "{done:#?}");
    assert!(!done.stdout.lines().any(|line| line.trim().starts_with("slow")), "{done:#?}");
    let names = |arguments: &[&str]| {
        let listed = value(&mcp(&two(), &[&["list-tools", "demo", "--json"], arguments].concat()).exits(0));
        let tools = listed["servers"][0]["tools"].as_array().unwrap().clone();
        (tools.len(), tools.iter().any(|tool| tool["name"] == "slow" && tool["place"] == "filtered"))
    };
    assert_eq!(
        (names(&[]), names(&["--show-all"]), names(&["--show-filtered"])),
        ((8, false), (9, true), (1, true))
    );
}

#[test]
fn a_called_tool_is_subject_to_the_permissions() {
    let call = |tool: &str, more: &[&str]| {
        let arguments = [&["call-tool", "--server", "demo", "--tool", tool], more].concat();
        mcp(&two(), &arguments)
    };
    let done = call("echo", &["--args", "{\"message\":\"hello\"}"]).exits(0);
    assert_eq!(done.stdout, "hello\n");
    let done = value(&call("echo", &["--args", "{\"message\":\"hello\"}", "--json"]).exits(0));
    let expected = json!({ "success": true, "output": "hello", "data": null, "error": null,
        "content": [{ "type": "text", "text": "hello" }] });
    assert_eq!(done, expected);
    call("json_response", &[]).exits(6).says(&["--allow 'demo.json_response'"]);
    let done = call("list_orders", &["--allow", "demo.*", "--json"]).exits(0);
    assert!(value(&done)["data"]["orders"].is_array(), "{done:#?}");
    let done = value(&call("json_response", &["--json"]).exits(6));
    assert_eq!((&done["success"], &done["content"]), (&json!(false), &json!([])));
    // `--allow` does not override denials and filters.
    call("fail", &["--allow", "*"]).exits(6).says(&["the configuration denies"]);
    call("slow", &["--allow", "*", "--args", "{\"seconds\":0}"]).exits(6).says(&["the configuration denies"]);
    call("nothing", &["--allow", "*"]).exits(2).says(&["nothing", "echo"]);
    call("echo", &["--args", "[]"]).exits(2).says(&["--args"]);
    call("echo", &["--args", "{}"]).exits(2).says(&["message"]);
    let failing = two().replace("fail: deny", "fail: allow");
    let call = ["call-tool", "--server", "demo", "--tool", "fail"];
    mcp(&failing, &call).exits(1).says(&["always fails"]);
    let failed = value(&mcp(&failing, &[&call[..], &["--json"]].concat()).exits(1));
    assert_eq!((&failed["success"], &failed["error"]), (&json!(false), &json!("this tool always fails")));
}

#[test]
fn an_unavailable_server_is_reported_and_output_is_printed_unchanged() {
    let silent = format!("mcpServers:\n{}", fault_entry("faulty", "silent-list", "    requestTimeout: 1\n"));
    let call = ["call-tool", "--server", "faulty", "--tool", "echo"];
    mcp(&silent, &call).exits(7).says(&["faulty", "tools/list", "1 s"]);
    let arguments = ["call-tool", "--server", "demo", "--tool", "echo", "--args"];
    let colored = [&arguments[..], &[r#"{"message":"a\u001b[2Jb"}"#]].concat();
    // A pipe gets it unchanged; for terminals, see `escapes`.
    assert_eq!(mcp(&two(), &colored).exits(0).stdout, "a\u{1b}[2Jb\n");
    let as_json = mcp(&two(), &[&colored[..], &["--json"]].concat()).exits(0);
    assert_eq!(value(&as_json)["output"], "a\u{1b}[2Jb");
    // `--json` prints JSON for errors too.
    let wrong = ["call-tool", "--json", "--server", "absent", "--tool", "echo"];
    assert_eq!(value(&mcp(&two(), &wrong).exits(2))["success"], false);
    let long = format!("nonsense {}", "x".repeat(100_000));
    let done = mcp(&two(), &[&arguments[..], &[long.as_str()]].concat()).exits(2).says(&["--args"]);
    assert!(done.stderr.len() < 500, "{done:#?}");
}

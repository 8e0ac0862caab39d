//! Direct tools, prompts and resources that `serve` offers in addition to snippets.

use serde_json::{Value, json};

use crate::cache::shared;
use crate::harness::{Run, fault_entry};
use crate::serving::{Serve, Server};

/// Servers by name, mode and further lines of their entries.
fn serving(servers: &[(&str, &str, &str)]) -> Server {
    let entries: String = servers.iter().map(|(name, mode, more)| fault_entry(name, mode, more)).collect();
    let mut server = Serve::new(&format!("mcpServers:\n{entries}serve: {{ listWait: 50 }}\n")).start();
    server.shake_hands();
    server
}

const DIRECT: &str = "    codeMode: false\n    trust: true\n";

fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": { "message": "here" } })
}

#[test]
fn a_direct_tool_names_its_server_and_so_does_its_error() {
    let mut server = serving(&[("straight", "rpc-error", DIRECT)]);
    let listed = server.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let echo = tools.iter().find(|tool| tool["name"] == "echo").unwrap();
    assert!(echo["description"].as_str().unwrap().ends_with("(server: straight)"), "{echo}");
    let refused = server.ask(2, "tools/call", &call("echo"));
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("straight: no such"), "{refused:#}");
    assert_eq!(refused["error"]["code"], -32602);
}

#[test]
fn the_first_call_after_a_crash_restarts_the_server() {
    let mut server = serving(&[("straight", "sound", DIRECT)]);
    for id in 1..4 {
        let answer = server.ask(id, "tools/call", &call("echo"));
        assert_eq!(answer["result"]["content"][0]["text"], "here", "{answer:#}");
        let tree = server.tree();
        tree.kill("fault-server");
        tree.is_gone();
    }
}

#[test]
fn a_malformed_direct_tool_does_not_affect_the_others() {
    let mut server = serving(&[("odd", "odd-schemas", DIRECT)]);
    let listed = server.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let direct: Vec<&Value> = tools.iter().filter(|tool| tool["name"] != "execute_code").collect();
    let names: Vec<&str> = direct.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["empty_list", "first", "last", "no_type"], "{listed:#}");
    for tool in direct {
        let schema = &tool["inputSchema"];
        let has_form = schema["type"] == "object"
            && (schema["properties"].is_object() || schema["properties"].is_null());
        assert!(has_form, "{tool:#}");
    }
    server.wait_for_log("the direct tool odd.list is left out");
    server.wait_for_log("the direct tool odd.array is left out");
    let answer = server.ask(2, "tools/call", &call("no_type"));
    assert_eq!(answer["result"]["content"][0]["text"], "here", "{answer:#}");
}

#[test]
fn prompts_and_resources_of_servers_in_code_mode_are_offered() {
    let mut server = serving(&[("shelf", "library", "    trust: true\n"), ("locked", "library", "")]);
    let mut offers = |method: &str, member: &str, phrase: &str| {
        let listed = server.ask(100, method, &json!({}));
        assert!(listed["result"][member].to_string().contains(phrase), "{listed:#}");
    };
    offers("prompts/list", "prompts", "review@");
    offers("resources/list", "resources", "book://text");
    offers("resources/templates/list", "resourceTemplates", "shelf://");
    let filled = json!({ "name": "review@shelf", "arguments": { "book": "Emma" } });
    let prompt = server.ask(1, "prompts/get", &filled);
    assert_eq!(prompt["result"]["messages"][0]["content"]["text"], "Review Emma.", "{prompt:#}");
    let address =
        |name: &str| json!({ "uri": format!("toolsmith://servers/{name}/resource?uri=book%3A%2F%2Ftext") });
    let read = server.ask(2, "resources/read", &address("shelf"));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().starts_with("first line"), "{read:#}");
    // This client does not support elicitation.
    let refused = server.ask(3, "resources/read", &address("locked"));
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("denied:"), "{refused:#}");
}

#[test]
fn a_server_whose_tools_cannot_be_listed_is_in_error() {
    let status = |words: &[&str]| {
        let run = Run::new(shared()).arguments(words).fault("refuses-list", "").argument("--json");
        serde_json::from_str::<Value>(&run.done().exits(7).stdout).unwrap()
    };
    let row = &status(&["mcp", "status"])[0];
    assert_eq!((&row["state"], &row["tools"]), (&json!("error"), &Value::Null), "{row:#}");
    assert!(row["error"].as_str().unwrap().contains("the index is broken"), "{row:#}");
    let mut server = serving(&[("broken", "refuses-list", "")]);
    let called = server.ask(1, "tools/call", &crate::serving::execute("broken::echo(\"a\").await?"));
    assert!(called.to_string().contains("`broken` can't be used now"), "{called:#}");
    assert!(called.to_string().contains("the index is broken"), "{called:#}");
}

//! Direct tools, prompts and resources that `serve` offers in addition to snippets.

use end_to_end::cache::shared;
use end_to_end::harness::{Run, fault_entry};
use end_to_end::page::normal;
use end_to_end::serving::{Serve, Server};
use insta::assert_snapshot;
use serde_json::{Value, json};

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

fn names_of(listed: &Value) -> Vec<&str> {
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).filter(|name| !RESERVED.contains(name)).collect()
}

/// The tools that code mode has itself.
const RESERVED: [&str; 3] = ["execute_code", "search_tools", "describe_tools"];

/// Neither models see a tool that is only for apps, nor their snippets.
#[test]
fn tools_for_apps_are_kept_from_models() {
    let mut shown = Vec::new();
    for mode in ["    trust: true\n", DIRECT] {
        let mut server = serving(&[("shop", "for-apps", mode)]);
        let listed = server.ask(1, "tools/list", &json!({}));
        let direct = if mode == DIRECT { vec!["find_cart", "open_cart"] } else { Vec::new() };
        assert_eq!(names_of(&listed), direct, "{listed:#}");
        let text = listed.to_string();
        assert!(!text.contains("submit_order") && !text.contains("refresh"), "{listed:#}");
        let refused = server.ask(2, "tools/call", &call("submit_order"));
        let why = "the tool \"submit_order\" of shop can't be called: its server offers it only to the apps of its user \
                   interface (`_meta.ui.visibility` does not name `model`)";
        assert_eq!(refused["error"]["message"], why, "{refused:#}");
        let found = json!({ "name": "search_tools", "arguments": { "query": "submit order" } });
        let found = server.ask(3, "tools/call", &found);
        assert!(!found["result"].to_string().contains("submit_order"), "{found:#}");
        let described = json!({ "name": "describe_tools", "arguments": { "tools": ["shop.submit_order"] } });
        let described = server.ask(4, "tools/call", &described).to_string();
        shown.push(normal(&described));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"// \"shop.submit_order\": its server offers it only to the apps of its user interface (`_meta.ui.visibility` does not name `model`)"}],"isError":false}}
    {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"// \"shop.submit_order\": its server offers it only to the apps of its user interface (`_meta.ui.visibility` does not name `model`)"}],"isError":false}}
    "#);
}

#[test]
fn a_snippet_with_a_tool_for_apps_is_told_why_it_cannot_call_it() {
    let config = format!("mcpServers:\n{}", fault_entry("shop", "for-apps", "    trust: true\n"));
    let run = |code: &str| end_to_end::cache::json(code).config(&config);
    run("shop::open_cart().message(\"m\").await?.text()").expect("ok", 0);
    let refused = run("shop::submit_order().message(\"m\").await?.text()").expect("compile_error", 3);
    assert!(refused.to_string().contains("its server offers it only to the apps"), "{refused:#}");
    let listed = Run::new(shared()).arguments(&["mcp", "tools", "shop"]).config(&config).done().exits(0);
    assert_snapshot!(normal(&listed.stdout), @r"
    shop: 4 tools, 4 admitted, 0 left out (filter: all)
     TOOL          PERMISSION  CALLED BY      INPUT            OUTPUT  DESCRIPTION
     open_cart     allow       code mode      message: string  text    A tool of the fault server.
     submit_order  allow       for apps only  message: string  text    A tool of the fault server.
     refresh       allow       for apps only  message: string  text    A tool of the fault server.
     find_cart     allow       code mode      message: string  text    A tool of the fault server.
    ");
}

/// A host of apps keeps such tools from its model itself, and its apps call them.
#[test]
fn tools_for_apps_are_offered_to_clients_that_show_apps() {
    let entry = fault_entry("shop", "for-apps", "    trust: true\n");
    let mut server = Serve::new(&format!("mcpServers:\n{entry}serve: {{ listWait: 50 }}\n")).start();
    let apps = json!({ "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } });
    server.shake_hands_with(&json!({ "extensions": apps }));
    let listed = server.ask(1, "tools/list", &json!({}));
    assert_eq!(names_of(&listed), ["refresh", "submit_order"], "{listed:#}");
    let tools = listed["result"]["tools"].as_array().unwrap();
    let submit = tools.iter().find(|tool| tool["name"] == "submit_order").unwrap();
    let view = "ui://toolsmith/servers/shop/resource?uri=ui%3A%2F%2Fcart";
    assert_eq!(submit["_meta"]["ui"], json!({ "resourceUri": view, "visibility": ["app"] }));
    let answer = server.ask(2, "tools/call", &call("submit_order"));
    assert_eq!(answer["result"]["content"][0]["text"], "here", "{answer:#}");
    // Its snippets are written by a model.
    let snippet = json!({ "name": "execute_code", "arguments": { "code": "shop::submit_order().await?" } });
    let refused = server.ask(3, "tools/call", &snippet);
    assert!(refused.to_string().contains("only to the apps"), "{refused:#}");
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
    assert_snapshot!(normal(&row["error"]), @r"
    its tools can't be listed, so it is used without them: the answer to `tools/list` failed with error -32603: the index is broken
    ");
    let mut server = serving(&[("broken", "refuses-list", "")]);
    let called = server.ask(1, "tools/call", &end_to_end::serving::execute("broken::echo(\"a\").await?"));
    assert!(called.to_string().contains("`broken` can't be used now"), "{called:#}");
    assert!(called.to_string().contains("the index is broken"), "{called:#}");
}

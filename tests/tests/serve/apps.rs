//! MCP Apps (SEP-1865) through `serve`: the views of servers, and the tools of their apps.

use end_to_end::harness::fault_entry;
use end_to_end::page::normal;
use end_to_end::serving::{Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Two servers whose views have one address.
fn serving(more: &str, capabilities: &Value) -> Server {
    let entry = |name: &str, title: &str| fault_entry(name, &format!("views, {title}"), more);
    let entries = entry("chess", "Chess") + &entry("go", "Go");
    let mut server = Serve::new(&format!("mcpServers:\n{entries}serve: {{ listWait: 5000 }}\n")).start();
    server.shake_hands_with(capabilities);
    server
}

const DIRECT: &str = "    codeMode: false\n    trust: true\n";
const TRUSTED: &str = "    trust: true\n";

/// The capabilities of a client with apps.
fn apps() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] } } })
}

/// Lines of compact JSON.
fn lines<'a>(values: impl IntoIterator<Item = &'a Value>) -> String {
    values.into_iter().map(|value| normal(&value.to_string()) + "\n").collect()
}

fn call(name: &str) -> Value {
    json!({ "name": name, "arguments": { "message": "e4" } })
}

#[test]
fn views_of_two_servers_with_one_address_stay_apart() {
    let mut server = serving(DIRECT, &apps());
    let listed = server.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().clone();
    let direct = tools.iter().filter(|tool| tool["_meta"]["ui"].is_object());
    let seen: Vec<Value> = direct.map(|tool| json!([tool["name"], tool["_meta"]])).collect();
    assert_snapshot!(lines(&seen), @r#"
    ["show",{"ui":{"resourceUri":"ui://toolsmith/servers/chess/resource?uri=ui%3A%2F%2Fboard"},"ui/resourceUri":"ui://toolsmith/servers/chess/resource?uri=ui%3A%2F%2Fboard"}]
    ["show@go",{"ui":{"resourceUri":"ui://toolsmith/servers/go/resource?uri=ui%3A%2F%2Fboard"},"ui/resourceUri":"ui://toolsmith/servers/go/resource?uri=ui%3A%2F%2Fboard"}]
    ["press",{"ui":{"resourceUri":"ui://toolsmith/servers/chess/resource?uri=ui%3A%2F%2Fboard","visibility":["app"]}}]
    ["press@go",{"ui":{"resourceUri":"ui://toolsmith/servers/go/resource?uri=ui%3A%2F%2Fboard","visibility":["app"]}}]
    "#);
    let resources = server.ask(2, "resources/list", &json!({}));
    assert_snapshot!(lines(resources["result"]["resources"].as_array().unwrap()), @r#"
    {"uri":"ui://toolsmith/servers/chess/resource?uri=ui%3A%2F%2Fboard","name":"board","mimeType":"text/html;profile=mcp-app"}
    {"uri":"ui://toolsmith/servers/go/resource?uri=ui%3A%2F%2Fboard","name":"board","mimeType":"text/html;profile=mcp-app"}
    "#);
    let views = tools.iter().filter(|tool| tool["name"].as_str().unwrap().starts_with("show"));
    let views: Vec<Value> = views.map(|tool| json!({ "uri": tool["_meta"]["ui"]["resourceUri"] })).collect();
    let read: Vec<Value> =
        views.iter().map(|view| server.ask(3, "resources/read", view)["result"].clone()).collect();
    assert_snapshot!(lines(&read), @r#"
    {"contents":[{"uri":"ui://toolsmith/servers/chess/resource?uri=ui%3A%2F%2Fboard","mimeType":"text/html;profile=mcp-app","text":"<!DOCTYPE html><title>Chess</title>","_meta":{"ui":{"csp":{"connectDomains":["https://api.example"]},"permissions":{"camera":{}},"domain":"board.example","prefersBorder":true}}}]}
    {"contents":[{"uri":"ui://toolsmith/servers/go/resource?uri=ui%3A%2F%2Fboard","mimeType":"text/html;profile=mcp-app","text":"<!DOCTYPE html><title>Go</title>","_meta":{"ui":{"csp":{"connectDomains":["https://api.example"]},"permissions":{"camera":{}},"domain":"board.example","prefersBorder":true}}}]}
    "#);
    let answer = server.ask(4, "tools/call", &call("show@go"));
    assert_snapshot!(lines([&answer["result"]]), @r#"{"content":[{"type":"text","text":"e4"},{"type":"resource_link","uri":"ui://toolsmith/servers/go/resource?uri=ui%3A%2F%2Fboard","name":"board"}],"structuredContent":{"said":"e4"},"_meta":{"example/moves":3}}"#);
}

/// An app knows only the names of its server, and a call does not say which app it is from.
#[test]
fn an_app_calls_the_tools_of_its_server_unless_another_server_has_the_same() {
    let mut both = serving(DIRECT, &apps());
    let refused = both.ask(1, "tools/call", &call("press"));
    let qualified = both.ask(2, "tools/call", &call("press@go"));
    let entry = fault_entry("chess", "views, Chess", DIRECT);
    let config = format!("directNames: prefix\nmcpServers:\n{entry}serve: {{ listWait: 5000 }}\n");
    let mut one = Serve::new(&config).start();
    one.shake_hands_with(&apps());
    let called = one.ask(3, "tools/call", &call("press"));
    let (qualified, called) = (&qualified["result"], &called["result"]);
    let seen = [&refused["error"], &qualified["structuredContent"], &called["structuredContent"]];
    assert_snapshot!(lines(seen), @r#"
    {"code":-32602,"message":"\"press\" can't be called: the servers chess, go have tools of this name, and a call does not say which app it is from: leave out all but one (`disabledTools`)"}
    {"said":"e4"}
    {"said":"e4"}
    "#);
}

/// Such a client gets the server's tools for clients without views.
#[test]
fn a_client_without_apps_sees_no_views_and_calls_no_tools_of_apps() {
    let mut server = serving(DIRECT, &json!({}));
    let listed = server.ask(1, "tools/list", &json!({}));
    assert!(!listed.to_string().contains("ui://"), "{listed:#}");
    let refused = server.ask(2, "tools/call", &call("press"));
    assert_snapshot!(lines([&refused["error"]]), @r#"{"code":-32602,"message":"unknown tool \"press\"; call the tools of servers from a snippet with execute_code"}"#);
}

/// The client reads the view without a question: the snippet was allowed to call its tool.
#[test]
fn a_snippet_hands_on_the_view_of_an_answer() {
    let code = "let answer = go::show().message(\"e4\").raw().await?;\nemit(answer.view());\nanswer.text()";
    let mut shown = Vec::new();
    for capabilities in [apps(), json!({})] {
        let mut server = serving(TRUSTED, &capabilities);
        let answer = server.ask(1, "tools/call", &execute(code));
        assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
        shown.push(json!(answer["result"]["content"]));
    }
    assert_snapshot!(lines(&shown), @r#"
    [{"type":"text","text":"result: e4\n\nemitted: resource_link text/html;profile=mcp-app ui://toolsmith/servers/go/resource?uri=ui%3A%2F%2Fboard"},{"type":"resource_link","_meta":{"io.toolsmith/view":{"server":"go","tool":"show","arguments":{"message":"e4"},"result":{"content":[{"type":"text","text":"e4"},{"type":"resource_link","name":"board","uri":"ui://board"}],"structuredContent":{"said":"e4"},"_meta":{"example/moves":3}}}},"name":"show","description":"the view of go.show","mimeType":"text/html;profile=mcp-app","uri":"ui://toolsmith/servers/go/resource?uri=ui%3A%2F%2Fboard"}]
    [{"type":"text","text":"e4"},{"type":"text","text":"the answer has no view"}]
    "#);
    let mut server = serving("    permission: ask\n", &apps());
    let address = &shown[0][1]["uri"];
    let read = server.ask(2, "resources/read", &json!({ "uri": address }));
    assert_snapshot!(lines([&read["result"]["contents"][0]["text"]]), @r#""<!DOCTYPE html><title>Go</title>""#);
    // Models and snippets do not call the tools of apps, even for a client with apps.
    let refused = server.ask(3, "tools/call", &execute("go::press().message(\"e4\").await?"));
    let found =
        server.ask(4, "tools/call", &json!({ "name": "search_tools", "arguments": { "query": "press" } }));
    assert_snapshot!(lines([&refused["result"]["content"], &found["result"]["content"]]), @r#"
    [{"type":"text","text":"error[E0425]: cannot find function `press` in crate `go`\n --> 1:5\n1 | go::press().message(\"e4\").await?\n  |     ^^^^^ not found in `go`\nhelp: `go::press` can't be called: its server offers it only to the apps of its user interface (`_meta.ui.visibility` does not name `model`)\n\nthe snippet does not compile: cannot find function `press` in crate `go`"}]
    [{"type":"text","text":"No tool matches any of these words. Try others, or an empty query with a `server`: chess, go"}]
    "#);
}

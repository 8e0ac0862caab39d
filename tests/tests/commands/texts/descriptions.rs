//! The texts that a client and its model read before the first call.

use end_to_end::page::Page;
use end_to_end::serving::{DEMO, HANDSHAKE, Serve, Server};
use serde_json::{Value, json};

/// A client of which nothing is known.
const UNKNOWN: [&str; 2] = ["tests", "1"];

/// Adds the instructions and every tool of a server, as this client gets them.
fn add(page: &mut Page, title: &str, server: &mut Server, [name, version]: [&str; 2]) {
    let client = json!({ "name": name, "version": version });
    let parameters = json!({ "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client });
    let started = server.ask(0, "initialize", &parameters);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let instructions = started["result"]["instructions"].as_str().unwrap_or("[none]");
    page.add(&format!("{title}: instructions"), instructions);
    let listed = server.ask(1, "tools/list", &json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let description = tool["description"].as_str().unwrap_or("[none]");
        let rest: Value = ["title", "inputSchema", "outputSchema", "annotations", "_meta"]
            .iter()
            .filter(|name| !tool[**name].is_null())
            .map(|name| ((*name).to_owned(), tool[*name].clone()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let rest = serde_json::to_string_pretty(&rest).unwrap();
        page.add(
            &format!("{title}: {}", tool["name"].as_str().unwrap()),
            &format!("{description}\n\n{rest}"),
        );
    }
}

#[test]
fn descriptions() {
    let mut page = Page::new("descriptions");
    // Long enough for all servers, however busy the machine is.
    let mut serve_to = |client: [&str; 2], title: &str, servers: &str, more: &str| {
        let config = format!("mcpServers:\n{servers}serve: {{ listWait: 50{more} }}\n");
        add(&mut page, title, &mut Serve::new(&config).start(), client);
    };
    let demo = &DEMO["mcpServers:\n".len()..];
    let gone = "  gone: { command: /nowhere/gone-mcp }\n";
    serve_to(["codex-mcp-client", "0.171.0"], "Codex", demo, "");
    serve_to(["claude-code", "2.1.332"], "Claude Code", demo, "");
    serve_to(["claude-code", "2.1.295"], "an older Claude Code", demo, "");
    serve_to(["goose-cli", "1.37.0"], "goose", demo, ", descriptionTokens: 1");
    let mut serve = |title: &str, servers: &str, more: &str| serve_to(UNKNOWN, title, servers, more);
    serve("the demo server", demo, "");
    serve("without room for tools", demo, ", descriptionTokens: 1");
    serve("an unavailable server", &format!("{demo}{gone}"), ", descriptionTokens: 1");
    serve("no server that is available", gone, "");
    let direct = "  demo: { command: toolsmith, args: [demo-server], codeMode: false, enabledTools: [echo, create_note] }\n";
    serve("direct tools", direct, "");
    let only_direct = format!("{direct}codeMode: {{ enabled: false }}\n");
    serve_to(["codex-mcp-client", "0.171.0"], "direct tools for Codex", &only_direct, "");
    page.check();
}

#[test]
fn subagents() {
    let mut page = Page::new("descriptions-subagents");
    let model = end_to_end::scripted::model(&json!([{ "answers": [{ "text": "done" }] }]));
    let config = end_to_end::scripted::described(&model, "", DEMO);
    let mut server = Serve::subagent(&config).start();
    add(&mut page, "a subagent", &mut server, UNKNOWN);
    let answer = server.ask(2, "tools/call", &end_to_end::scripted::task("go"));
    page.add("its answer", &super::snippets::texts(&answer));
    let request = &model.requests()[0]["body"];
    page.add("what its model gets", &serde_json::to_string_pretty(&request["messages"]).unwrap());
    page.check();
}

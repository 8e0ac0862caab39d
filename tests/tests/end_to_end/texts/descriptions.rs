//! What a client and its model read before the first call.

use serde_json::{Value, json};

use super::Page;
use crate::serving::{DEMO, HANDSHAKE, Serve, Server};

/// Adds the instructions and every tool of a server.
fn add(page: &mut Page, title: &str, server: &mut Server) {
    let parameters = json!({ "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "tests", "version": "1" } });
    let started = server.ask(0, "initialize", &parameters);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let instructions = started["result"]["instructions"].as_str().unwrap_or("[none]");
    page.add(&format!("{title}: instructions"), instructions);
    let listed = server.ask(1, "tools/list", &json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let description = tool["description"].as_str().unwrap_or("[none]");
        let rest: Value = ["title", "inputSchema", "annotations"]
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
    add(&mut page, "the demo server", &mut Serve::new(DEMO).start());
    let short = format!("{DEMO}serve: {{ descriptionTokens: 1 }}\n");
    add(&mut page, "without room for tools", &mut Serve::new(&short).start());
    let gone = format!("{DEMO}  gone: {{ command: /nowhere/gone-mcp }}\n");
    add(&mut page, "an unavailable server", &mut Serve::new(&gone).start());
    let none = "mcpServers:\n  gone: { command: /nowhere/gone-mcp }\n";
    add(&mut page, "no server that is available", &mut Serve::new(none).start());
    let direct = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], codeMode: false, enabledTools: [echo, create_note] }\n";
    add(&mut page, "direct tools", &mut Serve::new(direct).start());
    page.check();
}

#[test]
fn subagents() {
    let mut page = Page::new("descriptions-subagents");
    let model = crate::subagents::model(&json!([{ "answers": [{ "text": "done" }] }]));
    let config = crate::subagents::described(&model, "", DEMO);
    let mut server = Serve::subagent(&config).start();
    add(&mut page, "a subagent", &mut server);
    let answer = server.ask(2, "tools/call", &crate::subagents::task("go"));
    page.add("its answer", &super::snippets::texts(&answer));
    let request = &model.requests()[0]["body"];
    page.add("what its model gets", &serde_json::to_string_pretty(&request["messages"]).unwrap());
    page.check();
}

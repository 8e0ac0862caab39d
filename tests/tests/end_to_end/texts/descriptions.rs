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
    // Long enough for all servers, however busy the machine is.
    let mut serve = |title: &str, servers: &str, more: &str| {
        let config = format!("mcpServers:\n{servers}serve: {{ listWait: 50{more} }}\n");
        add(&mut page, title, &mut Serve::new(&config).start());
    };
    let demo = &DEMO["mcpServers:\n".len()..];
    let gone = "  gone: { command: /nowhere/gone-mcp }\n";
    serve("the demo server", demo, "");
    serve("without room for tools", demo, ", descriptionTokens: 1");
    serve("an unavailable server", &format!("{demo}{gone}"), ", descriptionTokens: 1");
    serve("no server that is available", gone, "");
    let direct = "  demo: { command: toolsmith, args: [demo-server], codeMode: false, enabledTools: [echo, create_note] }\n";
    serve("direct tools", direct, "");
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

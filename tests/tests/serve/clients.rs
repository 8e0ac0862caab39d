//! The instructions, descriptions and answers that `toolsmith serve` sends to known clients.

use std::thread;
use std::time::Duration;

use end_to_end::harness::{fault_entry, unique};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Gate, HANDSHAKE, STATELESS, Serve, Server, execute};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A server over pipes, and what it told the client with this name and version.
fn told(config: &str, name: &str, version: &str) -> (Server, Value) {
    let mut server = Serve::new(config).start();
    let client = json!({ "name": name, "version": version });
    let parameters = json!({ "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": client });
    let started = server.ask(0, "initialize", &parameters);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    (server, started["result"].clone())
}

/// The tools, once all servers have answered.
fn tools(server: &mut Server) -> Vec<Value> {
    let listed = server.ask(1, "tools/list", &json!({}));
    listed["result"]["tools"].as_array().unwrap().clone()
}

fn waiting(more: &str) -> String {
    format!("{DEMO}serve: {{ listWait: 50{more} }}\n")
}

#[test]
fn descriptions_fit_the_client_and_are_shown_without_a_search() {
    let configured = ", descriptionTokens: 20000";
    for (name, version, more, most) in [
        ("claude-code", "2.1.332", "", 4_096),
        ("claude-code", "2.1.200", configured, 2_048),
        ("unknown", "1", "", 4_000),
        ("unknown", "1", configured, usize::MAX),
        ("codex-mcp-client", "0.171.0", "", usize::MAX),
    ] {
        let (mut server, _) = told(&waiting(more), name, version);
        let tools = tools(&mut server);
        let description = tools[0]["description"].as_str().unwrap();
        assert!(description.encode_utf16().count() <= most, "{name} {version}: {description}");
        let is_whole = description.contains("enum OrderStatus");
        assert_eq!(tools.len(), if most > 4_500 { 1 } else { 3 }, "{name} {version}: {tools:#?}");
        assert!(is_whole || most < 4_000, "{name} {version}: {description}");
        assert!(tools.iter().all(|tool| tool["_meta"]["anthropic/alwaysLoad"] == true), "{tools:#?}");
    }
}

#[test]
fn codex_is_led_from_its_own_code_to_the_tools() {
    let instructions = |config: &str| {
        let (_server, started) = told(config, "codex-mcp-client", "0.171.0");
        let text: String = started["instructions"].as_str().unwrap().chars().take(247).collect();
        text
    };
    let text = instructions(DEMO);
    assert_snapshot!(normal(&text), @r"
    execute_code: one Rust snippet over all MCP servers (loops, joins, pages). In `exec`: const t = ALL_TOOLS.find(t => /__execute_code$/.test(t.name)); read t.description once, then (await tools[t.name]({code})).content[0].text.
    ");
    let text = instructions(&format!("{DEMO}codeMode: {{ enabled: false }}\n"));
    assert_snapshot!(normal(&text), @r#"
    Tools of several MCP servers. In `exec`: ALL_TOOLS.filter(t => t.description.includes("(server: ")) lists them with their types; await tools[t.name](args) returns { content, structuredContent }.
    "#);
}

#[test]
fn a_client_that_lists_once_gets_the_tools_of_a_slow_server() {
    let has_all = || {
        let gate = Gate::new();
        let config = format!("mcpServers:\n{}", gate.late("slow"));
        let (mut server, _) = told(&config, "codex-mcp-client", "0.171.0");
        server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
        // Longer than the answer to other clients waits.
        thread::sleep(Duration::from_millis(1_500));
        gate.open();
        let listed = server.receive("the tools", |message| message["id"] == 1);
        listed["result"]["tools"][0]["description"].as_str().unwrap().contains("mod slow {")
    };
    // On a busy machine, the server may start later than the answer waits.
    assert!((0..5).any(|_| has_all()));
}

#[test]
fn a_configured_wait_is_used_for_clients_that_list_once_too() {
    let gate = Gate::new();
    let config = format!("mcpServers:\n{}serve: {{ listWait: 0.1 }}\n", gate.late("slow"));
    let (mut server, _) = told(&config, "codex-mcp-client", "0.171.0");
    let tools = tools(&mut server);
    assert!(tools[0]["description"].as_str().unwrap().contains("`slow`: still starting"), "{tools:#?}");
}

/// The result of a snippet that prints, emits an image and a text, and then ends with this.
fn result(server: &mut Server, end: &str) -> Value {
    let code = format!(
        "println!(\"printed\"); emit(Content::image(\"iVBORw0KGgo=\", \"image/png\")); emit(\"emitted\"); {end}"
    );
    server.ask(2, "tools/call", &execute(&code))["result"].clone()
}

#[test]
fn errors_have_no_outcome_for_clients_that_print_the_whole_result() {
    let mut shown = Vec::new();
    for name in ["gemini-cli-mcp-client", "qwen-cli-mcp-client-toolsmith"] {
        let (mut server, _) = told(DEMO, name, "0.61.0");
        let failed = result(&mut server, "let none: Option<u8> = None; none.unwrap()");
        assert_eq!((&failed["isError"], failed.get("_meta")), (&json!(true), None), "{failed:#}");
        let text = failed["content"][0]["text"].as_str().unwrap();
        shown.push(normal(&text));
        assert!(result(&mut server, "1")["_meta"].is_object(), "a good result keeps the outcome");
    }
    assert_snapshot!(shown.join("\n"), @r"
    printed

    emitted: image image/png, 8 bytes

    the snippet panicked: called `Option::unwrap()` on a `None` value (line 1, column 124)
    printed

    emitted: image image/png, 8 bytes

    the snippet panicked: called `Option::unwrap()` on a `None` value (line 1, column 124)
    ");
}

#[test]
fn texts_are_one_part_for_a_client_that_joins_them() {
    let (mut server, _) = told(DEMO, "copilot-cli", "1.0.102");
    let shown = result(&mut server, "6 * 7");
    let kinds: Vec<&Value> = shown["content"].as_array().unwrap().iter().map(|part| &part["type"]).collect();
    assert_eq!(kinds, ["text", "image"], "{shown:#}");
    let text = shown["content"][0]["text"].as_str().unwrap();
    let place = "[here is image image/png, 8 bytes, which this client does not show]";
    assert!(text.starts_with("printed\n\nresult: 42"), "{text}");
    assert!(text.ends_with(&format!("{place}\n\nemitted")), "{text}");
}

#[test]
fn a_client_that_loses_nothing_gets_structured_content_unless_configured() {
    for (more, is_structured) in [("", true), (", structuredOutcome: false", false)] {
        let (mut server, _) = told(&waiting(more), "goose-cli", "1.37.0");
        let execute = tools(&mut server).remove(0);
        assert_eq!(execute["outputSchema"].is_object(), is_structured, "{execute:#}");
        let shown = result(&mut server, "6 * 7");
        let expected = if is_structured { json!(42) } else { Value::Null };
        assert_eq!(shown["structuredContent"]["result"], expected, "{shown:#}");
    }
}

/// A request of MCP 2026-07-28 over pipes.
fn stateless(server: &mut Server, id: u32, mut parameters: Value) -> Value {
    parameters["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientInfo": { "name": "claude-code", "version": "2.1.332" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    server.ask(id, "tools/call", &parameters)["result"].clone()
}

#[test]
fn the_process_is_the_session_of_a_client_over_pipes() {
    let mut server =
        Serve::new(&format!("mcpServers:\n{}", fault_entry("faulty", "sound", "    permission: ask\n")))
            .start();
    let program = || execute(&format!("// {}\nfaulty::echo().message(\"let in\").await?.text()", unique()));
    let mut call = program();
    let question = stateless(&mut server, 1, call.clone());
    let answers = "/inputRequests/permission/params/requestedSchema/properties/answer/enum";
    assert_eq!(question.pointer(answers), Some(&json!(["once", "session", "no"])), "{question:#}");
    call["requestState"] = question["requestState"].clone();
    call["inputResponses"] =
        json!({ "permission": { "action": "accept", "content": { "answer": "session" } } });
    for (id, call) in [(2, call), (3, program())] {
        let answer = stateless(&mut server, id, call);
        assert_eq!(answer["content"][0]["text"], "let in", "{answer:#}");
    }
}

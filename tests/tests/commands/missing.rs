//! Unavailable servers: they are reported, block nothing, and come back automatically.

use std::os::unix::fs::symlink;
use std::thread;
use std::time::Duration;

use end_to_end::cache::plain;
use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, Run};
use end_to_end::models::ModelServer;
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Gate, Serve, Server, execute};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A server with a missing command.
const NO_COMMAND: &str = "  gone: { command: /nowhere/gone-mcp, trust: true }\n";

/// An untrusted project.
const PROJECT: &str = "mcpServers:\n  evil: { command: /nowhere/evil-mcp }\n";

/// All text blocks of a result.
fn texts(answer: &Value) -> String {
    let content = answer["result"]["content"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    content.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn has(text: &str, phrases: &[&str]) {
    for phrase in phrases {
        assert!(text.contains(phrase), "{phrase} in {text}");
    }
}

/// Waits until the description of `execute_code` contains a phrase, and returns it.
#[track_caller]
fn description(server: &mut Server, phrase: &str) -> String {
    let mut id = 1_000;
    loop {
        let listed = server.ask(id, "tools/list", &json!({}));
        let description = listed["result"]["tools"][0]["description"].as_str().unwrap().to_owned();
        if description.contains(phrase) {
            return description;
        }
        id += 1;
        server.receive(phrase, |message| message["method"] == "notifications/tools/list_changed");
    }
}

#[test]
fn unavailable_servers_are_reported_at_once_and_come_back() {
    let gate = Gate::new();
    let user = format!("{DEMO}{NO_COMMAND}{}", gate.late("slow"));
    let mut server = Serve::layers(&user, PROJECT).start();
    server.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }));
    let started = server.receive("the handshake", |message| message["id"] == 0);
    has(
        started["result"]["instructions"].as_str().unwrap(),
        &["toolsmith.yaml is not trusted yet", "`toolsmith trust`"],
    );
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let message_text = description(&mut server, "`gone`: cannot start");
    has(
        &message_text,
        &["Not available now: `gone`: cannot start", "`slow`: still starting", "`toolsmith trust`"],
    );
    assert!(!message_text.contains("evil"), "{message_text}");

    let wrong = server.ask(2, "tools/call", &execute("let n: u32 = \"text\"; n"));
    has(
        &texts(&wrong),
        &["mismatched types", "`gone`: cannot start", "`slow`: still starting", "`toolsmith trust`"],
    );
    let named = server.ask(3, "tools/call", &execute("gone::echo(\"a\").await?"));
    has(&texts(&named), &["the server of the module `gone` can't be used now: cannot start"]);
    let found =
        server.ask(4, "tools/call", &json!({ "name": "search_tools", "arguments": { "query": "orders" } }));
    has(
        &texts(&found),
        &["list_orders", "`gone`: cannot start", "`slow`: still starting", "`toolsmith trust`"],
    );
    let request = json!({ "name": "describe_tools", "arguments": { "tools": ["gone::echo", "slow::echo"] } });
    has(
        &texts(&server.ask(5, "tools/call", &request)),
        &["can't be used now: cannot start", "still starting"],
    );
    server.receive("the log", |message| {
        message["method"] == "notifications/message"
            && message.to_string().contains("the server gone is unavailable")
    });

    gate.open();
    let answer = server.ask(6, "tools/call", &execute("slow::echo(\"here\").await?.text()"));
    has(&texts(&answer), &["here"]);
    let message_text = description(&mut server, "mod slow");
    assert!(!message_text.contains("`slow`: still"), "{message_text}");
}

#[test]
fn a_look_up_waits_for_the_server_of_what_it_does_not_find() {
    let looked_up = |tool: &str, arguments: &Value| {
        let gate = Gate::new();
        let mut server = Serve::new(&format!("{DEMO}{}", gate.late("slow"))).start();
        server.shake_hands();
        server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments } }));
        // Longer than the answer waits for servers that it does not need.
        thread::sleep(Duration::from_millis(1_500));
        gate.open();
        texts(&server.receive("the answer", |message| message["id"] == 1))
    };
    for (tool, arguments) in [
        ("describe_tools", json!({ "tools": ["slow::echo"] })),
        ("search_tools", json!({ "query": "echo", "server": "slow" })),
    ] {
        // On a busy machine, the server may start later than the answer waits.
        assert!((0..5).any(|_| looked_up(tool, &arguments).contains("echo(")), "{tool}");
    }
}

#[test]
fn an_untrusted_project_is_reported_with_a_named_configuration() {
    let mut server = Serve::new(&format!("{DEMO}{NO_COMMAND}")).file("toolsmith.yaml", PROJECT).start();
    server.shake_hands();
    let message_text = description(&mut server, "`gone`: cannot start");
    has(&message_text, &["toolsmith.yaml is not trusted yet", "`toolsmith trust`"]);
    let wrong = server.ask(1, "tools/call", &execute("let n: u32 = \"text\"; n"));
    has(&texts(&wrong), &["mismatched types", "`gone`: cannot start", "`toolsmith trust`"]);
}

#[test]
fn a_snippet_waits_only_for_the_servers_it_names() {
    let gate = Gate::new();
    let late: String = (0..6).map(|number| gate.late(&format!("slow{number}"))).collect();
    let config = format!("{DEMO}{late}");
    let wrong = "let n: u32 = demo::list_orders().await?; n";
    assert_snapshot!(normal(&plain(wrong).config(&config).done().exits(3).stderr), @r"
    error[E0308]: `?` operator has incompatible types
     --> 1:14
    1 | let n: u32 = demo::list_orders().await?; n
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `u32`, found `ListOrdersOutput`
    note: `?` operator cannot convert from `ListOrdersOutput` to `u32`
    help: demo::list_orders(cursor?: String /* `next_cursor` of the previous page. Omit it for the first page. */, limit?: i64 /* How many orders the page may have; default 20; at least 1; at most 50 */, status?: OrderStatus /* Only orders with this status. */) -> { orders: Vec<Order> /* The orders, oldest first. */, next_cursor: Option<String> /* Pass it as `cursor` to get the next page; absent on the last one. */ }
          enum OrderStatus { Pending, Shipped, Delivered, Cancelled, Other(String) }
          Order { id: String, customer_id: String /* The customer; see `get_customer`. */, status: OrderStatus, total_cents: i64 /* The sum over all items, in cents; at least 0 */, items: Vec<OrderItem>, placed_at: String /* When the order was placed, in RFC 3339 format. */ }
          OrderItem { sku: String /* The product's stock-keeping unit. */, quantity: i64 /* at least 0 */ }

    the snippet does not compile: `?` operator has incompatible types
    ");
    let done = plain(wrong).argument("--check").config(&config).done().exits(3);
    assert_snapshot!(normal(&done.stderr), @r"
    error[E0308]: `?` operator has incompatible types
     --> 1:14
    1 | let n: u32 = demo::list_orders().await?; n
      |              ^^^^^^^^^^^^^^^^^^^^^^^^^^ expected `u32`, found `ListOrdersOutput`
    note: `?` operator cannot convert from `ListOrdersOutput` to `u32`
    help: demo::list_orders(cursor?: String /* `next_cursor` of the previous page. Omit it for the first page. */, limit?: i64 /* How many orders the page may have; default 20; at least 1; at most 50 */, status?: OrderStatus /* Only orders with this status. */) -> { orders: Vec<Order> /* The orders, oldest first. */, next_cursor: Option<String> /* Pass it as `cursor` to get the next page; absent on the last one. */ }
          enum OrderStatus { Pending, Shipped, Delivered, Cancelled, Other(String) }
          Order { id: String, customer_id: String /* The customer; see `get_customer`. */, status: OrderStatus, total_cents: i64 /* The sum over all items, in cents; at least 0 */, items: Vec<OrderItem>, placed_at: String /* When the order was placed, in RFC 3339 format. */ }
          OrderItem { sku: String /* The product's stock-keeping unit. */, quantity: i64 /* at least 0 */ }

    the snippet does not compile: `?` operator has incompatible types
    ");
    plain("demo::list_orders().limit(1).await?.orders.len()").config(&config).done().exits(0);
    let mut server = Serve::new(&format!("{config}serve: {{ listWait: 3600 }}\n")).start();
    server.shake_hands();
    has(&texts(&server.ask(1, "tools/call", &execute(wrong))), &["expected `u32`"]);
    has(
        &texts(&server.ask(2, "tools/call", &execute("demo::list_orders().limit(1).await?.orders.len()"))),
        &["1"],
    );
}

#[test]
fn the_reported_time_includes_waiting_for_servers() {
    let gate = Gate::new();
    let mut server = Serve::new(&format!("mcpServers:\n{}", gate.late("slow"))).start();
    server.shake_hands();
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": execute("slow::echo(\"a\").await?.text()") });
    server.send(&request);
    let started = std::time::Instant::now();
    // Compares only with a time that was certainly spent waiting.
    server.ask(2, "tools/list", &json!({}));
    let waited = started.elapsed();
    gate.open();
    let answer = server.receive("the answer", |message| message["id"] == 1);
    let outcome = outcome(&answer);
    let phases = &outcome["phases_ms"];
    assert!(phases["total"].as_f64().unwrap() >= waited.as_secs_f64() * 1e3, "{waited:?} {phases}");
    assert!(phases["total"].as_f64() >= phases["connect"].as_f64(), "{phases}");
}

/// The outcome of a result.
fn outcome(answer: &Value) -> Value {
    let result = &answer["result"];
    let meta = &result["_meta"]["io.toolsmith/outcome"];
    if meta.is_null() { result["structuredContent"].clone() } else { meta.clone() }
}

#[test]
fn a_server_is_used_once_its_command_exists() {
    let folder = tempfile::tempdir().unwrap();
    let command = folder.path().join("later-mcp");
    let config = format!("{DEMO}  later: {{ command: {command:?}, args: [sound], trust: true }}\n");
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let code = "later::echo(\"back\").await?.text()";
    has(&texts(&server.ask(1, "tools/call", &execute(code))), &["`later` can't be used now: cannot start"]);
    symlink(FAULT_SERVER.path(), &command).unwrap();
    has(&texts(&server.ask(2, "tools/call", &execute(code))), &["back"]);
}

#[test]
fn a_project_is_used_once_it_is_trusted() {
    let project =
        format!("mcpServers:\n  mine: {{ command: {FAULT_SERVER:?}, args: [sound], trust: true }}\n");
    let mut server = Serve::layers("mcpServers: {}\n", &project).start();
    server.shake_hands();
    let code = "mine::echo(\"trusted\").await?.text()";
    has(&texts(&server.ask(1, "tools/call", &execute(code))), &["`toolsmith trust`"]);
    let folder = server.path("toolsmith.yaml").parent().unwrap().to_owned();
    Run::new(shared())
        .arguments(&["trust", "--yes"])
        .working_folder(&folder)
        .variable("XDG_CONFIG_HOME", folder.join("home").to_str().unwrap())
        .variable("XDG_STATE_HOME", folder.join("state").to_str().unwrap())
        .done()
        .exits(0);
    let message_text = description(&mut server, "mod mine");
    assert!(!message_text.contains("toolsmith trust"), "{message_text}");
    let answer = texts(&server.ask(2, "tools/call", &execute(code)));
    assert_snapshot!(normal(&answer), @r#"
    error[E0061]: this function takes 0 arguments but 1 argument was supplied
     --> 1:1
    1 | mine::echo("trusted").await?.text()
      | ^^^^^^^^^^
     --> 1:12
    1 | mine::echo("trusted").await?.text()
      |            ^^^^^^^^^ unexpected argument of type `&'static str`
    help: write `mine::echo()`; optional arguments are set with methods: `.message(…)`
          mine::echo(message?: String) -> ToolResult

    the snippet does not compile: this function takes 0 arguments but 1 argument was supplied
    "#);
}

#[test]
fn a_disabled_tool_is_reported_as_disabled() {
    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true, disabledTools: [list_orders] }\n\
                  globalSettings: { deny: [demo.get_customer] }\n";
    let done = plain("demo::list_orders().await?").config(config).done().exits(3);
    assert_snapshot!(normal(&done.stderr), @r"
    error[E0425]: cannot find function `list_orders` in crate `demo`
     --> 1:7
    1 | demo::list_orders().await?
      |       ^^^^^^^^^^^ not found in `demo`
    help: `demo::list_orders` can't be called: `disabledTools` of the server excludes it

    the snippet does not compile: cannot find function `list_orders` in crate `demo`
    ");
    let done = plain("demo::get_customer(\"a\").await?").config(config).done().exits(3);
    assert_snapshot!(normal(&done.stderr), @r#"
    error[E0425]: cannot find function `get_customer` in crate `demo`
     --> 1:7
    1 | demo::get_customer("a").await?
      |       ^^^^^^^^^^^^ not found in `demo`
    help: `demo::get_customer` can't be called: `globalSettings.deny` of the configuration excludes it

    the snippet does not compile: cannot find function `get_customer` in crate `demo`
    "#);
    let mut server = Serve::new(&format!("{config}serve: {{ listWait: 50 }}\n")).start();
    server.shake_hands();
    let request =
        json!({ "name": "describe_tools", "arguments": { "tools": ["demo::list_orders", "get_customer"] } });
    has(&texts(&server.ask(1, "tools/call", &request)), &["`disabledTools`", "`globalSettings.deny`"]);
    for name in ["list_orders", "get_customer"] {
        let refused = server.ask(2, "tools/call", &json!({ "name": name, "arguments": {} }));
        has(refused["error"]["message"].as_str().unwrap(), &["excludes it"]);
    }
}

/// A model with a key, and only unavailable servers.
fn without_servers(model: &ModelServer) -> String {
    format!(
        "models:\n  - {{ ref: scripted, id: scripted, type: openai, api_key_env: SCRIPTED_KEY, base_url: {:?} }}\n\
         subagent: {{ name: helper, description: It helps. }}\nmcpServers:\n{NO_COMMAND}  lost: {{ command: /nowhere/lost-mcp }}\n",
        model.base_url()
    )
}

fn silent_model() -> ModelServer {
    let rules = json!({ "rules": [{ "answers": [{ "text": "never asked" }] }] });
    ModelServer::start(env!("CARGO_BIN_EXE_model-server"), &rules)
}

#[test]
fn agents_run_without_an_untrusted_project_and_report_it() {
    let mut shown = Vec::new();
    for more in ["", "codeMode: { enabled: false }\n"] {
        let model = end_to_end::scripted::model(&json!([{ "answers": [{ "text": "done" }] }]));
        let folder = tempfile::tempdir().unwrap();
        let config = end_to_end::scripted::described(&model, "", &format!("{DEMO}{more}"));
        std::fs::create_dir_all(folder.path().join("home/toolsmith")).unwrap();
        for (file, text) in
            [("toolsmith.yaml", PROJECT), ("home/toolsmith/config.yaml", &config), ("agent.yaml", &config)]
        {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        let run = |words: &[&str]| {
            Run::new(shared())
                .arguments(words)
                .working_folder(folder.path())
                .variable("XDG_CONFIG_HOME", folder.path().join("home").to_str().unwrap())
                .variable("SCRIPTED_KEY", "secret-key")
        };
        for words in [&["ask", "what?"][..], &["chat"]] {
            let done = run(words).input("what?\n").done().exits(0);
            assert_eq!(done.stderr.matches("toolsmith.yaml is not trusted yet").count(), 1, "{done:#?}");
            assert!(done.stderr.contains("`toolsmith trust`"), "{done:#?}");
        }
        let requests = model.requests();
        assert_eq!(requests.len(), 2, "{requests:#?}");
        for request in requests {
            let text = request.to_string();
            assert_eq!(text.matches("`toolsmith trust`").count(), 1, "{request:#}");
            assert!(!text.contains("evil"), "{request:#}");
        }
        // A subagent has only the servers of its own file, so its model is not informed.
        let serving = run(&["mcp", "serve", "--config", "agent.yaml"]).input("").done().exits(0);
        shown.push(normal(&serving.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: warning: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted yet, and is left out (`toolsmith trust` shows it)

    toolsmith: warning: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted yet, and is left out (`toolsmith trust` shows it)
    ");
}

#[test]
fn an_agent_without_any_server_does_not_start() {
    let model = silent_model();
    let config = without_servers(&model);
    let mut shown = Vec::new();
    for words in [&["ask", "what?"][..], &["chat"]] {
        let run =
            Run::new(shared()).arguments(words).variable("SCRIPTED_KEY", "secret-key").config_alone(&config);
        shown.push(normal(&run.done().exits(7).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: no server is available:
    MCP server `gone`: cannot start: the command `/nowhere/gone-mcp` does not exist, or it is a script whose interpreter is missing; check the path
    MCP server `lost`: cannot start: the command `/nowhere/lost-mcp` does not exist, or it is a script whose interpreter is missing; check the path

    toolsmith: no server is available:
    MCP server `gone`: cannot start: the command `/nowhere/gone-mcp` does not exist, or it is a script whose interpreter is missing; check the path
    MCP server `lost`: cannot start: the command `/nowhere/lost-mcp` does not exist, or it is a script whose interpreter is missing; check the path
    ");
    let mut server = Serve::subagent(&config).start();
    server.shake_hands();
    let answer = server.ask(1, "tools/call", &json!({ "name": "helper", "arguments": { "prompt": "go" } }));
    assert_eq!(answer["result"]["isError"], true, "{answer:#}");
    has(&texts(&answer), &["no server is available", "gone-mcp", "lost-mcp"]);
    assert!(model.requests().is_empty());
}

#[test]
fn an_agents_model_learns_which_servers_are_unavailable() {
    let model = silent_model();
    let config = format!("{}{}", without_servers(&model), &DEMO["mcpServers:\n".len()..]);
    let mut server = Serve::subagent(&config).start();
    server.shake_hands();
    server.ask(1, "tools/call", &json!({ "name": "helper", "arguments": { "prompt": "go" } }));
    let message_text = server.receive("the log", |message| {
        message["method"] == "notifications/message" && message.to_string().contains("Not available now")
    });
    has(&message_text.to_string(), &["`gone`: cannot start", "`lost`: cannot start"]);
    has(&model.requests()[0]["body"]["tools"].to_string(), &["Not available now: `gone`: cannot start"]);
    let direct = format!("{config}codeMode: {{ enabled: false }}\n");
    let run = Run::new(shared()).arguments(&["ask", "what?"]).variable("SCRIPTED_KEY", "secret-key");
    assert_snapshot!(normal(&run.config_alone(&direct).done().exits(0).stderr), @r"
    toolsmith: warning: Not available now: `gone`: cannot start: the command `/nowhere/gone-mcp` does not exist, or it is a script whose interpreter is missing; check the path; `lost`: cannot start: the command `/nowhere/lost-mcp` does not exist, or it is a script whose interpreter is missing; check the path.
    toolsmith: info: 3 servers, 9 tools, 2 unavailable
    toolsmith: resume with: toolsmith ask --resume [conv. id]
    ");
    let request = model.requests();
    has(
        &request.last().unwrap()["body"]["messages"].to_string(),
        &["Not available now: `gone`: cannot start"],
    );
}

//! `toolsmith serve` when its configuration changes.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use end_to_end::harness::{FAULT_SERVER, Run, binary, fault_entry};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, HANDSHAKE, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use reqwest::StatusCode;
use serde_json::{Value, json};

/// A server of this name with a direct tool.
fn direct(name: &str) -> String {
    fault_entry(name, "sound", "    codeMode: false\n    trust: true\n")
}

fn tools(server: &mut Server, id: u32) -> Vec<String> {
    let listed = server.ask(id, "tools/list", &json!({}));
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    listed["result"]["tools"].as_array().unwrap().iter().map(name).collect()
}

#[track_caller]
fn told_of_tools(server: &mut Server) {
    server.receive("the notification", |message| message["method"] == "notifications/tools/list_changed");
}

/// The description of `execute_code`.
fn description(listed: &Value) -> &str {
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed:#}"));
    assert_eq!(tools[0]["name"], "execute_code", "{listed:#}");
    tools[0]["description"].as_str().unwrap()
}

/// Waits until the description of `execute_code` contains a phrase.
#[track_caller]
fn wait_until_described(server: &mut Server, phrase: &str) {
    for id in 1000.. {
        if description(&server.ask(id, "tools/list", &json!({}))).contains(phrase) {
            return;
        }
        told_of_tools(server);
    }
}

/// Types a command in the server's working folder, as its user.
fn type_as_its_user(server: &Server, words: &[&str]) {
    let mut command = Command::new(binary());
    command.args(words);
    let run = Run::of(command, end_to_end::cache::shared()).working_folder(&server.path(""));
    run.variable("XDG_CONFIG_HOME", server.path("home").to_str().unwrap()).done().exits(0);
}

/// The sentence for the model without any server.
const NO_SERVERS: &str = "No MCP servers are configured. Until the user adds servers, snippets can only compute. What \
                          the user can type in a terminal, without a restart: add a server: toolsmith mcp add NAME -- \
                          COMMAND ARGUMENTS…; use the servers of another client: toolsmith adopt CLIENT.";

#[test]
fn without_servers_it_computes_and_takes_up_those_that_are_added() {
    let mut server = Serve::in_folder(&["serve"]).start();
    server.send(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }));
    let started = server.receive("the handshake", |message| message["id"] == 0);
    let instructions = started["result"]["instructions"].as_str().unwrap();
    assert_snapshot!(normal(&instructions), @r"
    If a task needs several tool calls, do all of it in one execute_code snippet, from the first step: it loops, filters and joins, and only what it prints or returns comes back. For just one call, use that tool directly if you can.
    This session begins without MCP servers. The user adds some in a terminal: `toolsmith adopt CLIENT`, or `toolsmith mcp add NAME -- COMMAND ARGUMENTS…`.
    ");
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    server.wait_for_log(
        "toolsmith: warning: no MCP servers are configured\n\
         help: add a server: toolsmith mcp add NAME -- COMMAND ARGUMENTS…\n\
         help: use the servers of another client: toolsmith adopt CLIENT\n\
         help: servers that are added are taken up without a restart\n",
    );
    let listed = server.ask(1, "tools/list", &json!({}));
    assert!(description(&listed).ends_with(NO_SERVERS), "{listed:#}");
    let computed = server.ask(2, "tools/call", &execute("6 * 7"));
    assert_eq!(outcome_of(&computed)["result"], 42, "{computed:#}");
    assert!(!computed.to_string().contains("toolsmith mcp add"), "{computed:#}");
    let named = server.ask(3, "tools/call", &execute("shop::echo(\"a\").await?.text()"));
    assert!(named.to_string().contains(NO_SERVERS), "{named:#}");
    let mismatch = server.ask(5, "tools/call", &execute("let a: u32 = \"\"; a"));
    assert_eq!(outcome_of(&mismatch)["status"], "compile_error", "{mismatch:#}");
    assert!(!mismatch.to_string().contains("toolsmith mcp add"), "{mismatch:#}");
    let add = ["mcp", "add", "shop", "--trust", "--", "toolsmith", "demo-server"];
    type_as_its_user(&server, &add);
    assert!(server.path("home/toolsmith/config.yaml").exists(), "the user's own configuration");
    server.wait_for_log("the configuration was read again (new: shop)");
    wait_until_described(&mut server, "search_products(query");
    let called = server.ask(4, "tools/call", &execute("shop::echo(\"a\").await?.text()"));
    assert_eq!(outcome_of(&called)["result"], "a", "{called:#}");
    type_as_its_user(&server, &["mcp", "remove", "shop"]);
    server.wait_for_log("(removed: shop)");
    wait_until_described(&mut server, NO_SERVERS);
}

#[test]
fn over_http_it_starts_without_servers_and_takes_up_a_projects_file() {
    let server = Serve::in_folder(&["serve", "--http", "127.0.0.1:0"]).start();
    let client = server.client().shake_hands();
    assert!(description(&client.ask("tools/list", &json!({}))).ends_with(NO_SERVERS));
    let computed = client.ask("tools/call", &execute("6 * 7"));
    assert_eq!(outcome_of(&computed)["result"], 42, "{computed:#}");
    // A file that appears has no effect until it is trusted, and the model learns that.
    fs::write(server.path("toolsmith.yaml"), DEMO).unwrap();
    server.wait_until("the note about the file", || {
        description(&client.ask("tools/list", &json!({}))).contains("toolsmith.yaml is not trusted yet")
    });
    type_as_its_user(&server, &["trust", "--yes"]);
    server.wait_for_log("the configuration was read again (new: demo)");
    server.wait_until("the tools", || {
        description(&client.ask("tools/list", &json!({}))).contains("search_products(query")
    });
    let called = client.ask("tools/call", &execute("demo::echo(\"a\").await?.text()"));
    assert_eq!(outcome_of(&called)["result"], "a", "{called:#}");
}

/// MCP that is switched off, or whose servers are all disabled, is no reason to end.
#[test]
fn servers_can_be_switched_off_and_on_while_it_runs() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    for (off, says) in [
        (format!("globalSettings: {{ enabled: false }}\n{DEMO}"), "MCP is switched off"),
        (DEMO.replace("trust: true", "enabled: false"), "has no enabled server"),
    ] {
        server.configure(&off);
        // The log has a line of each round, and the description only the last reason.
        wait_until_described(&mut server, says);
        server.configure(DEMO);
        wait_until_described(&mut server, "search_products(query");
    }
}

#[test]
fn a_wrong_entry_alone_is_named_to_the_model_and_is_no_reason_to_end() {
    let mut server = Serve::new("mcpServers:\n  shop: { comand: x }\n").start();
    server.shake_hands();
    let place = "given.yaml:2; the user corrects it";
    wait_until_described(&mut server, place);
    let mismatch = server.ask(1, "tools/call", &execute("let a: u32 = \"\"; a"));
    assert_eq!(outcome_of(&mismatch)["status"], "compile_error", "{mismatch:#}");
    assert!(!mismatch.to_string().contains("snippets can only compute"), "{mismatch:#}");
    server.configure(DEMO);
    wait_until_described(&mut server, "search_products(query");
    // The same for one that runs.
    server.configure(&DEMO.replace("command", "comand"));
    wait_until_described(&mut server, "given.yaml:");
}

/// Waits until a tool is listed, or no longer listed.
#[track_caller]
fn wait_until_listed(server: &mut Server, tool: &str, is_offered: bool) {
    for id in 1000.. {
        if tools(server, id).iter().any(|name| name == tool) == is_offered {
            return;
        }
        told_of_tools(server);
    }
}

#[test]
fn tool_changes_by_the_configuration_are_notified() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    assert!(!tools(&mut server, 1).contains(&"echo".to_owned()));
    server.configure(&format!("{DEMO}{}", direct("added")));
    told_of_tools(&mut server);
    wait_until_listed(&mut server, "echo", true);
    let call = json!({ "name": "echo", "arguments": { "message": "here" } });
    let answer = server.ask(2, "tools/call", &call);
    assert_eq!(answer["result"]["content"][0]["text"], "here", "{answer:#}");
    server.wait_for_log("the configuration was read again (new: added)");
    server.configure(DEMO);
    told_of_tools(&mut server);
    wait_until_listed(&mut server, "echo", false);
    server.wait_for_log("(removed: added)");
}

#[test]
fn a_broken_configuration_is_reported_and_the_previous_one_stays() {
    let mut server = Serve::new(&format!("{DEMO}{}", direct("first"))).start();
    server.shake_hands();
    wait_until_listed(&mut server, "echo", true);
    server.configure("mcpServers:\n  demo: { comand: toolsmith }\nserve: { grace: soon }\n");
    server.wait_for_log("the configuration is invalid; the previous one stays in effect");
    server.wait_for_log("given.yaml:3:17");
    fs::remove_file(server.path("given.yaml")).unwrap();
    server.wait_for_log("given.yaml can't be read");
    wait_until_listed(&mut server, "echo", true);
    server.configure(DEMO);
    wait_until_listed(&mut server, "echo", false);
}

/// The user allows a call after its server was removed, changed or denied. The program still uses the tools that it was
/// compiled against.
#[test]
fn no_call_is_made_that_the_latest_configuration_does_not_allow() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let faulty = |permission: &str, more: &str| {
        format!(
            "{DEMO}  faulty:\n    command: {FAULT_SERVER:?}\n    args: [records-cancelled, {record:?}]\n    permission: \
             {permission}\n{more}"
        )
    };
    let program = execute("faulty::echo().message(\"x\").await.unwrap_err().to_string()");
    let direct = json!({ "name": "echo", "arguments": { "message": "x" } });
    for (call, more) in [(&program, ""), (&direct, "    codeMode: false\n")] {
        for (later, says) in [
            (DEMO.to_owned(), "no longer configured"),
            (faulty("deny", more), "now denies faulty.echo"),
            (faulty("ask-each", &format!("{more}    env: {{ NEW: \"1\" }}\n")), "has changed since"),
        ] {
            let server = Serve::http(&faulty("ask-each", more)).start();
            let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} }));
            client.ask("tools/list", &json!({}));
            let mut answering = client.begin("tools/call", call);
            let question = answering.until(|message| message["method"] == "elicitation/create");
            server.configure(&later);
            server.wait_for_log("the configuration was read again");
            let content = json!({ "action": "accept", "content": { "answer": "once" } });
            client.answer(&question["id"], &content);
            let answer = answering.end();
            assert!(answer["result"].to_string().contains(says), "{says}: {answer:#}");
        }
    }
    let record = fs::read_to_string(&record).unwrap_or_default();
    assert!(!record.contains("call"), "{record}");
}

/// A direct call in progress is answered, and then the previous server ends.
#[test]
fn direct_calls_in_progress_are_answered_by_the_previous_server() {
    let slow = "  gone: { command: toolsmith, args: [demo-server, --copies, \"1\"], trust: true, codeMode: false }\n";
    let server = Serve::http(&format!("{DEMO}{slow}")).start();
    let client = server.client().shake_hands();
    let call = json!({ "name": "slow", "arguments": { "seconds": 2 } });
    // Until then, the client's session has no session with the server.
    let before = client.ask("tools/call", &json!({ "name": "echo", "arguments": { "text": "x" } }));
    assert!(before["result"].is_object(), "{before:#}");
    let mut answering = client.begin("tools/call", &call);
    server.configure(DEMO);
    server.wait_for_log("(removed: gone)");
    let answer = answering.end();
    assert_eq!(answer["result"]["content"][0]["text"], "waited 2 seconds", "{answer:#}");
    server.wait_until("the end of the server", || !server.has_started("--copies"));
    let now = client.ask("tools/call", &json!({ "name": "slow", "arguments": { "seconds": 0 } }));
    assert!(now["error"].is_object(), "{now:#}");
}

#[test]
fn http_limits_apply_at_once() {
    let config = |sessions: u32, more: &str| format!("{DEMO}serve: {{ maxSessions: {sessions}{more} }}\n");
    let server = Serve::http(&config(1, "")).start();
    let _first = server.client().shake_hands();
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } },
    });
    let named = server.client().header("host", "tools.example.com");
    assert_eq!(server.client().post(hello.to_string()).status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(named.post(hello.to_string()).status, StatusCode::FORBIDDEN);
    server.configure(&config(2, ", hosts: [tools.example.com]"));
    server.wait_for_log("the configuration was read again (no other servers)");
    assert_eq!(named.post(hello.to_string()).status, StatusCode::OK);
    assert_eq!(named.post(hello.to_string()).status, StatusCode::SERVICE_UNAVAILABLE);
}

#[test]
fn secrets_added_later_are_masked() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    let command = "echo \"it says $KEY\" >&2; exit 1";
    server.configure(&format!(
        "{DEMO}  leaks: {{ command: sh, args: [-c, {command:?}], env: {{ KEY: secret-value-of-the-test }} }}\n"
    ));
    let message = server.receive("the failure", |message| {
        message["method"] == "notifications/message" && message.to_string().contains("leaks")
    });
    let message = message.to_string();
    assert_snapshot!(normal(&message), @r#"
    {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"toolsmith","data":"the server leaks is unavailable: MCP server `leaks`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 1; last lines on standard error:\n  it says ***"}}
    "#);
    assert!(!server.stderr().contains("secret-value-of-the-test"), "{}", server.stderr());
}

#[test]
fn a_projects_file_is_used_once_it_is_trusted() {
    let mut server =
        Serve::new(DEMO).file("toolsmith.yaml", &format!("mcpServers:\n{}", direct("theirs"))).start();
    server.shake_hands();
    wait_until_listed(&mut server, "echo", false);
    server.wait_for_log("is not trusted yet");
    let trust = |server: &Server| type_as_its_user(server, &["trust", "--yes"]);
    trust(&server);
    wait_until_listed(&mut server, "echo", true);
    // A changed file must be trusted again.
    fs::write(server.path("toolsmith.yaml"), format!("mcpServers:\n{}", direct("others"))).unwrap();
    wait_until_listed(&mut server, "echo", false);
    server.wait_for_log("has changed since it was trusted");
    trust(&server);
    wait_until_listed(&mut server, "echo", true);
}

#[test]
fn the_users_own_file_is_used_when_it_is_created() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    wait_until_listed(&mut server, "echo", false);
    fs::create_dir_all(server.path("home/toolsmith")).unwrap();
    fs::write(server.path("home/toolsmith/config.yaml"), format!("mcpServers:\n{}", direct("own"))).unwrap();
    wait_until_listed(&mut server, "echo", true);
    fs::remove_file(server.path("home/toolsmith/config.yaml")).unwrap();
    wait_until_listed(&mut server, "echo", false);
}

#[test]
fn a_new_lock_file_holds_tools_back_at_once() {
    let mut server = Serve::new(&format!("{DEMO}{}", direct("held"))).start();
    server.shake_hands();
    wait_until_listed(&mut server, "echo", true);
    let lock = |config: &str, folder: &std::path::Path| {
        fs::write(folder.join("given.yaml"), config).unwrap();
        let mut command = Command::new(binary());
        command.args(["mcp", "lock", "--config", "given.yaml"]);
        Run::of(command, end_to_end::cache::shared()).working_folder(folder).done().exits(0);
    };
    let folder = tempfile::tempdir().unwrap();
    // A lock file that pins other tools for the same server.
    let other = fault_entry("held", "two-pages", "");
    lock(&format!("mcpServers:\n{other}"), folder.path());
    fs::copy(folder.path().join("toolsmith.lock"), server.path("toolsmith.lock")).unwrap();
    wait_until_listed(&mut server, "echo", false);
    fs::remove_file(server.path("toolsmith.lock")).unwrap();
    wait_until_listed(&mut server, "echo", true);
    // The user's own lock file applies with every configuration.
    fs::create_dir_all(server.path("home/toolsmith")).unwrap();
    fs::copy(folder.path().join("toolsmith.lock"), server.path("home/toolsmith/toolsmith.lock")).unwrap();
    wait_until_listed(&mut server, "echo", false);
}

/// The last version counts, and the process stays responsive.
#[test]
fn a_constantly_written_file_is_read_occasionally() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    for number in 0..2_000 {
        let text =
            if number % 2 == 0 { "mcpServers: [".to_owned() } else { format!("{DEMO}{}", direct("x")) };
        fs::write(server.path("given.yaml"), text).unwrap();
    }
    let answer = server.ask(1, "tools/call", &execute("6 * 7"));
    assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
    wait_until_listed(&mut server, "echo", true);
}

/// Other programs write other files in the folder all the time. The configuration is written, replaced and linked.
#[test]
fn a_change_in_a_busy_folder_is_read() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    let (given, next, target) = (server.path("given.yaml"), server.path("next"), server.path("target"));
    let other = server.path("other");
    let is_done = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                fs::write(&other, "x").unwrap();
                fs::remove_file(&other).unwrap();
            }
        });
        // The other program ends even if an assertion fails.
        let _end = End(&is_done);
        let with = format!("{DEMO}{}", direct("x"));
        fs::write(&given, &with).unwrap();
        wait_until_listed(&mut server, "echo", true);
        fs::write(&next, DEMO).unwrap();
        fs::rename(&next, &given).unwrap();
        wait_until_listed(&mut server, "echo", false);
        fs::write(&target, &with).unwrap();
        symlink(&target, &next).unwrap();
        fs::rename(&next, &given).unwrap();
        wait_until_listed(&mut server, "echo", true);
        fs::write(&target, DEMO).unwrap();
        wait_until_listed(&mut server, "echo", false);
    });
}

/// Sets a flag when it is dropped.
struct End<'a>(&'a AtomicBool);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn settings_that_need_a_restart_are_reported() {
    let server = Serve::http(DEMO).start();
    server.address();
    server.configure(&format!("{DEMO}serve: {{ audit: {{ file: audit.jsonl }} }}\n"));
    server.wait_for_log("serve.audit takes effect after a restart");
}

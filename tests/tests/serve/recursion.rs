//! Configurations that include themselves: every chain of processes is bounded.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use end_to_end::harness::{Run, binary, fault_entry, programs};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, HANDSHAKE, Serve, Server, execute};
use insta::assert_snapshot;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Number of `toolsmith serve` processes above which the test kills them all.
const LIMIT: usize = 16;

/// Counts `toolsmith serve` processes until dropped, and kills them all above the limit.
struct Counting {
    most: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Counting {
    fn of(server: &Server) -> Self {
        let (most, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (seen, over, id) = (Arc::clone(&most), Arc::clone(&is_over), server.id());
        let thread = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let commands = programs(id);
                let count = commands.iter().filter(|command| command.contains("toolsmith serve")).count() + 1;
                seen.fetch_max(count, Ordering::Relaxed);
                if count > LIMIT {
                    let _ = kill_process(Pid::from_raw(id.cast_signed()).unwrap(), Signal::KILL);
                    return;
                }
            }
        });
        Counting { most, is_over, thread: Some(thread) }
    }

    fn end(mut self) -> usize {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
        self.most.load(Ordering::Relaxed)
    }
}

/// Requests the list of tools, waits until the client or standard error receives these phrases, and returns the peak
/// number of processes.
#[track_caller]
fn peak_until_reported(server: &mut Server, of_client: bool, phrases: &[&str]) -> usize {
    let counting = Counting::of(server);
    server.shake_hands();
    let listed = server.ask(1, "tools/list", &json!({}));
    assert!(listed.to_string().contains("execute_code"), "{listed:#}");
    let has_all = |text: &str| phrases.iter().all(|phrase| text.contains(phrase));
    if of_client {
        server.receive("why a server is not there", |message| {
            message["method"] == "notifications/message" && has_all(&message["params"]["data"].to_string())
        });
    } else {
        server.wait_until("why a server is left out", || has_all(&server.stderr()));
    }
    counting.end()
}

fn entry(name: &str, command: &str, arguments: &[&str]) -> String {
    let line = json!({ "command": command, "args": arguments, "trust": true });
    format!("  {name}: {line}\n")
}

/// The demo server and an entry.
fn with_demo(entry: &str) -> String {
    format!("{DEMO}{entry}")
}

#[test]
fn an_entry_for_the_server_itself_is_rejected() {
    let program = binary().to_str().unwrap();
    for (command, arguments) in [
        ("toolsmith", &["serve", "--config", "given.yaml"][..]),
        (program, &["serve", "--config=./given.yaml"]),
    ] {
        let config = with_demo(&entry("myself", command, arguments));
        let mut server = Serve::new(&config).start();
        let most = peak_until_reported(
            &mut server,
            false,
            &["given.yaml:3:", "myself", "starts this server itself"],
        );
        assert_eq!(most, 1);
    }
    // The user's own file applies to every server.
    let mut server = Serve::new(DEMO).user_file(&with_demo(&entry("myself", program, &["serve"]))).start();
    let most =
        peak_until_reported(&mut server, false, &["config.yaml:3:", "myself", "starts this server itself"]);
    assert_eq!(most, 1);
    // Without other entries, it serves snippets that compute.
    let only = format!("mcpServers:\n{}", entry("myself", "toolsmith", &["serve", "--config", "given.yaml"]));
    let mut server = Serve::new(&only).start();
    let most =
        peak_until_reported(&mut server, false, &["given.yaml:2:", "myself", "starts this server itself"]);
    assert_eq!(most, 1);
}

#[test]
fn a_server_that_starts_itself_through_another_program_is_detected() {
    let program = binary().display();
    let variables = "PATH=\"$PATH\" HOME=\"$HOME\" XDG_CONFIG_HOME=\"$XDG_CONFIG_HOME\"";
    for line in [
        format!("exec {program} serve --config given.yaml"),
        format!("exec env -i {variables} {program} serve --config given.yaml"),
    ] {
        let config = with_demo(&entry("myself", "sh", &["-c", &line]));
        let mut server = Serve::new(&config).start();
        let most = peak_until_reported(&mut server, true, &["myself", "this server has started itself"]);
        assert!(most <= 3, "{most} processes");
    }
}

#[test]
fn servers_that_start_each_other_stop_at_the_limit() {
    let program = binary().display();
    let variables = "PATH=\"$PATH\" HOME=\"$HOME\" XDG_CONFIG_HOME=\"$XDG_CONFIG_HOME\"";
    for before in [String::new(), format!("env -i {variables} ")] {
        let to = |file: &str| {
            let line = format!("exec {before}{program} serve --verbose --config {file}");
            with_demo(&entry("other", "sh", &["-c", &line]))
        };
        let config = format!("{}agent: {{ maxDepth: 2 }}\n", to("second.yaml"));
        let second = format!("{}agent: {{ maxDepth: 2 }}\n", to("given.yaml"));
        let server = Serve::new(&config).file("second.yaml", &second).arguments(&["--verbose"]);
        let mut server = server.start();
        let most = peak_until_reported(
            &mut server,
            false,
            &["3 processes of Toolsmith are above", "agent.maxDepth"],
        );
        assert!(most <= 4, "{most} processes");
    }
}

#[test]
fn every_command_that_starts_servers_is_bounded() {
    let model = end_to_end::scripted::model(&json!([]));
    let config = end_to_end::scripted::described(&model, "", DEMO);
    let mut shown = Vec::new();
    for words in [
        &["run", "-"][..],
        &["serve"],
        &["serve", "--http", "127.0.0.1:0"],
        &["mcp", "serve"],
        &["ask", "hello"],
        &["chat"],
        &["mcp", "list-tools"],
        &["codegen"],
    ] {
        let run = Run::new(end_to_end::cache::shared()).arguments(words).config_alone(&config);
        let run = run.variable("SCRIPTED_KEY", "secret-key").variable("TOOLSMITH_DEPTH", "6");
        let done = run.done().exits(2);
        shown.push(normal(&done.stderr));
        assert_eq!(done.stdout, "", "{words:?}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: 6 processes of Toolsmith are above this one, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth

    toolsmith: 6 processes of Toolsmith are above this one, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth

    toolsmith: 6 processes of Toolsmith are above this one, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth

    toolsmith: 6 processes of Toolsmith are above this one, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth

    toolsmith: 6 processes of Toolsmith are above this one, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth

    toolsmith: 6 processes of Toolsmith are above this one, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth

    toolsmith: 6 processes of Toolsmith are above this one, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth

    toolsmith: 6 processes of Toolsmith are above this one, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth
    ");
    let run = Run::new(end_to_end::cache::shared()).arguments(&["serve"]).config_alone(DEMO);
    assert_snapshot!(normal(&run.variable("TOOLSMITH_DEPTH", "many").done().exits(2).stderr), @r"
    toolsmith: the variable TOOLSMITH_DEPTH is not a number of processes
    help: unset it
    ");
}

#[test]
fn a_server_over_http_detects_itself() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let entry = format!("  myself: {{ url: \"http://{address}/mcp\", trust: true }}\n");
    let server = Serve::new(&with_demo(&entry)).arguments(&["--http", &address.to_string()]).start();
    for client in [server.client().shake_hands(), server.client().stateless()] {
        let listed = client.ask("tools/list", &json!({}));
        assert!(listed.to_string().contains("execute_code"), "{listed:#}");
    }
    server.wait_for_log("this server has started itself");
}

/// The `_meta` that a server receives from a client's call with this `_meta`.
fn forwarded_meta(client: &end_to_end::serving::Client, meta: &Value) -> Value {
    let mut call = execute("meta::echo().message(\"\").await?.text()");
    call["_meta"] = meta.clone();
    client.ask("tools/call", &call)
}

#[test]
fn calls_over_http_count_their_processes() {
    let config = format!("mcpServers:\n{}", fault_entry("meta", "metadata", "    trust: true\n"));
    let server = Serve::http(&config).start();
    let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({}));
    let answer = forwarded_meta(&client, &json!({ "io.toolsmith/depth": 2 }));
    let text = answer["result"]["content"].to_string();
    assert_snapshot!(normal(&text), @r#"[{"type":"text","text":"{\"io.toolsmith/depth\":3,\"progressToken\":1}"}]"#);
    // The depth in the process's own variable is not sent.
    let answer = forwarded_meta(&client, &json!({}));
    assert!(!answer["result"]["content"].to_string().contains("io.toolsmith/depth"), "{answer:#}");
    let mut shown = Vec::new();
    for depth in [json!(6), json!(u64::MAX)] {
        let answer = forwarded_meta(&client, &json!({ "io.toolsmith/depth": depth }));
        assert_eq!(answer["result"]["isError"], true, "{answer:#}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        shown.push(normal(&text));
    }
    assert_snapshot!(shown.join("\n"), @r"
    6 processes of Toolsmith are above this call, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth
    4294967295 processes of Toolsmith are above this call, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth
    ");
    let model = end_to_end::scripted::model(&json!([]));
    let server = Serve::subagent(&end_to_end::scripted::described(&model, "", DEMO))
        .arguments(&["--http", "127.0.0.1:0"])
        .start();
    let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({}));
    let mut call = end_to_end::scripted::task("go");
    call["_meta"] = json!({ "io.toolsmith/depth": 6 });
    let answer = client.ask("tools/call", &call);
    assert_eq!(answer["result"]["isError"], true, "{answer:#}");
    assert_snapshot!(normal(&answer["result"]["content"][0]["text"]), @r"
    6 processes of Toolsmith are above this call, and the limit is 5
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth
    ");
    assert_eq!(model.requests().len(), 0);
}

/// A subagent that has itself as a tool would otherwise never end.
#[test]
fn a_subagent_over_http_that_calls_itself_stops_at_the_limit() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let call = json!({ "name": "helper", "arguments": { "prompt": "go on" } });
    let model = end_to_end::scripted::model(&json!([
        { "when": { "no_result": true }, "answers": [{ "calls": [call] }] },
        { "answers": [{ "text": "it says: {{result}}" }] },
    ]));
    let more = format!(
        "mcpServers:\n  myself: {{ url: \"http://{address}/mcp\", trust: true }}\ncodeMode: {{ enabled: false }}\nagent: {{ maxDepth: 3, conversations: false }}\n"
    );
    let server = Serve::subagent(&end_to_end::scripted::described(&model, "", &more))
        .arguments(&["--http", &address.to_string()])
        .start();
    let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({}));
    let answer = client.ask("tools/call", &end_to_end::scripted::task("go"));
    assert_snapshot!(normal(&answer["result"]["content"][0]["text"]), @r"
    it says: it says: it says: it says: Error: 4 processes of Toolsmith are above this call, and the limit is 3
    help: make sure that no configuration starts itself through its servers, or increase agent.maxDepth
    ");
    // One per level, and one per result.
    assert_eq!(model.requests().len(), 8, "{answer:#}");
}

#[test]
fn the_entry_that_setup_writes_is_not_imported() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| home(Run::new(folder.path()), folder.path()).arguments(arguments);
    run(&["setup", "claude-code", "--scope", "project"]).done().exits(0);
    let file = folder.path().join(".mcp.json");
    let done = run(&["mcp", "import"]).done().exits(2);
    let _ = done.says(&["toolsmith: left out", "it is Toolsmith itself", "no server"]);
    assert!(!folder.path().join(".config/toolsmith/config.yaml").exists());
    let mut servers: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    servers["mcpServers"]["files"] = json!({ "command": "files-mcp" });
    servers["mcpServers"]["smith"] =
        json!({ "command": "/usr/local/bin/toolsmith", "args": ["serve", "--config", "x"] });
    servers["mcpServers"]["helper"] =
        json!({ "command": "toolsmith", "args": ["mcp", "serve", "--config", "agent.yaml"] });
    fs::write(&file, servers.to_string()).unwrap();
    let done = run(&["mcp", "import", "--scope", "user", "--permission", "ask"]).done().exits(0);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: toolsmith: left out: it is Toolsmith itself, which would start itself endlessly
    toolsmith: smith: left out: it is Toolsmith itself, which would start itself endlessly
    toolsmith: added files, helper to /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml
    toolsmith: not confined: files
    help: to confine one: toolsmith mcp sandbox files --learn
    ");
    let written = fs::read_to_string(folder.path().join(".config/toolsmith/config.yaml")).unwrap();
    assert_snapshot!(normal(&written), @r"
    mcpServers:
      files:
        type: stdio
        command: files-mcp
        permission: ask
      helper:
        type: stdio
        command: toolsmith
        args:
          - mcp
          - serve
          - '--config'
          - agent.yaml
        permission: ask
    ");
    let added = run(&["mcp", "add", "myself", "--", binary().to_str().unwrap(), "serve"]);
    assert_snapshot!(normal(&added.done().exits(2).stderr), @r"
    toolsmith: the file is unchanged, because the entry would be invalid:
    /tmp/.tmpXXXXXX/.config/toolsmith/config.yaml:17:14: the command starts this server itself, which would never end; remove the entry, or give it another configuration (--config)
       |
    17 |     command: [target]/toolsmith
       |              ^
    ");
}

fn home(run: Run, folder: &Path) -> Run {
    let run = run.working_folder(folder).variable("HOME", folder.to_str().unwrap());
    run.variable("XDG_CONFIG_HOME", "").variable("CLAUDE_CONFIG_DIR", "")
}

#[test]
fn servers_get_the_folder_variables_and_no_secrets() {
    let names = [
        "TOOLSMITH_CACHE_DIR",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "XDG_CACHE_HOME",
        "XDG_DATA_HOME",
        "TOOLSMITH_DEPTH",
    ];
    let withheld = ["TOOLSMITH_MCP_SERVERS", "TOOLSMITH_SERVE_TOKEN", "SCRIPTED_KEY"];
    let code = format!(
        "let mut all = Vec::new();\nfor name in {:?} {{ all.push(env::echo().message(name).await?.text()); }}\nall",
        [&names[..], &withheld].concat()
    );
    let model = end_to_end::scripted::model(&json!([]));
    let config = end_to_end::scripted::described(
        &model,
        "",
        &format!("mcpServers:\n{}", fault_entry("env", "environment", "")),
    );
    let servers = json!([{ "name": "more", "command": "toolsmith", "args": ["demo-server"] }]).to_string();
    let run = end_to_end::cache::json(&code).config(&config);
    let given = |name: &str| std::env::var(name).unwrap_or_else(|_| "(unset)".to_owned());
    let run = run.variable("XDG_CACHE_HOME", "/cache").variable("XDG_DATA_HOME", "/data");
    let run = run.variable("TOOLSMITH_MCP_SERVERS", &servers).variable("TOOLSMITH_SERVE_TOKEN", "token");
    let answers = run.variable("SCRIPTED_KEY", "key").result();
    let cache = end_to_end::cache::shared().to_str().unwrap();
    let places = json!([cache, given("CARGO_HOME"), given("RUSTUP_HOME"), "/cache", "/data", "1"]);
    let answers = answers.as_array().unwrap();
    assert_eq!(answers[..names.len()], places.as_array().unwrap()[..]);
    assert_eq!(answers[names.len()..], [json!("(unset)"), json!("(unset)"), json!("(unset)")]);
}

//! Servers with all kinds of problems, and sessions that start anew.

use std::fs;

use end_to_end::cache::{json, plain};
use end_to_end::harness::{FAULT_SERVER, fault_entry, unique};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

const ECHO: &str = "faulty::echo().message(\"hello\").await?.text()";

#[test]
fn every_execution_has_its_own_session() {
    let code = "let first = demo::create_note(\"a\", \"b\").await?.id;\nlet second = demo::create_note(\"c\", \"d\").await?.id;\n[first, second]";
    for _ in 0..2 {
        assert_eq!(json(code).result(), json!([1, 2]));
    }
}

#[test]
fn a_server_that_fails_to_start_is_reported() {
    let cases = [
        ("exits-at-once", "", &["faulty", "exited with status 3", "no licence found"][..]),
        ("garbage-forever", "", &["faulty", "not MCP messages"]),
        ("silent-initialize", "    timeout: 1\n", &["faulty", "1 s"]),
        ("silent-list", "    requestTimeout: 1\n", &["faulty", "tools/list", "1 s"]),
        ("refuses", "", &["faulty", "licence expired"]),
        ("malformed-initialize", "", &["faulty", "initialize"]),
    ];
    for (mode, more, phrases) in cases {
        let done = json(ECHO).fault(mode, more).done().exits(7);
        done.has_no_outcome();
        done.says(phrases);
    }
    let config = "mcpServers:\n  ghost: { command: no-such-mcp-server }\n";
    assert_snapshot!(normal(&json("ghost::tool().await?").config(config).done().exits(7).stderr), @r"
    toolsmith: MCP server `ghost`: cannot start: the command `no-such-mcp-server` was not found in the folders of PATH; install it, or give its absolute path as `command`
    ");
}

#[test]
fn other_servers_work_when_one_fails() {
    let mut shown = Vec::new();
    for (mode, more) in
        [("exits-at-once", ""), ("silent-initialize", "    timeout: 1\n"), ("garbage-forever", "")]
    {
        let config =
            format!("mcpServers:\n{}{}", fault_entry("faulty", mode, more), fault_entry("good", "sound", ""));
        let done = json("good::echo().message(\"here\").await?.text()").config(&config).done();
        assert!(!done.stderr.contains("faulty"), "{mode}: an unneeded server was reported: {}", done.stderr);
        assert_eq!(done.expect("ok", 0)["result"], "here");
        let quiet =
            json("good::echo().message(\"here\").await?.text()").argument("--quiet").config(&config).done();
        assert_eq!(quiet.stderr, "", "{mode}");
        let uses_it = json(ECHO).config(&config).expect("compile_error", 3);
        shown.push(normal(&uses_it["error"]["message"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    cannot find module or crate `faulty` in this scope
    cannot find module or crate `faulty` in this scope
    cannot find module or crate `faulty` in this scope
    ");
}

#[test]
fn odd_servers_work() {
    for mode in ["sound", "garbage-first", "string-ids", "chatty-stderr", "grandchild", "stubborn"] {
        assert_eq!(json(ECHO).fault(mode, "").result(), "hello", "{mode}");
    }
    let new = format!("    env: {{ RUN: {:?} }}\n", unique());
    let pages = json("faulty::again().message(\"x\").await?.text()").fault("endless-pages", &new).done();
    assert_eq!(pages.says(&["repeats a cursor"]).expect("ok", 0)["result"], "x");
}

#[test]
fn invalid_output_is_reported_once() {
    let done = json(ECHO).fault("garbage-first", "").done();
    assert_eq!(
        done.stderr.matches("faulty: wrote a line to standard output that is not an MCP message").count(),
        1,
        "{}",
        done.stderr
    );
    assert_eq!(done.expect("ok", 0)["result"], "hello");
}

#[test]
fn a_command_is_shown_in_full_before_its_first_start_only() {
    let new = format!("    env: {{ RUN: {:?} }}\n", unique());
    let shown = format!("faulty is started for the first time: {FAULT_SERVER} sound");
    let counted = |quiet: &[&str]| {
        let done = json(ECHO).arguments(quiet).fault("sound", &new).done().exits(0);
        done.stderr.contains(&shown)
    };
    assert_eq!([counted(&["--quiet"]), counted(&[]), counted(&[])], [false, true, false]);
}

#[test]
fn failures_in_a_call_are_errors_that_can_be_caught() {
    let caught = "match faulty::echo().message(\"x\").await { Ok(answer) => answer.text(), Err(error) => format!(\"{}: {}\", error.kind, error.message) }";
    let cases = [
        ("dies-in-call", ""),
        ("orphan-holds-pipes", ""),
        ("silent-call", "    requestTimeout: 1\n"),
        ("rpc-error", ""),
    ];
    let mut shown = Vec::new();
    for (mode, more) in cases {
        let outcome = json(caught).fault(mode, more).expect("ok", 0);
        let text = outcome["result"].as_str().unwrap();
        shown.push(normal(&text));
        assert_eq!(outcome["calls"][0]["ok"], false, "{mode}");

        let outcome = json(ECHO).fault(mode, more).expect("runtime_error", 1);
        assert_eq!(outcome["error"]["kind"], "tool", "{mode}");
        assert_eq!(outcome["error"]["evidence"]["tool"]["server"], "faulty", "{mode}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    unavailable: MCP server `faulty`: the connection ended while waiting for the answer of tool `echo`; the process exited with status 9; last lines on standard error:
      panic: out of cheese
    unavailable: MCP server `faulty`: the connection ended while waiting for the answer of tool `echo`; the process exited with status 9
    timeout: MCP server `faulty`: the answer of tool `echo` took longer than 1 s; the request was cancelled; raise `requestTimeout` if the tool needs longer
    rejected: MCP server `faulty`: the answer of tool `echo` failed with error -32602: no such tool ([1])
    ");
    let afterwards = "let first = faulty::echo().await.is_err(); let second = faulty::echo().await.is_err(); (first, second, demo::echo(\"alive\").await?.text())";
    let config = format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server] }}\n{}",
        fault_entry("faulty", "dies-in-call", "")
    );
    assert_eq!(json(afterwards).config(&config).result(), json!([true, true, "alive"]));
}

#[test]
fn odd_answers_arrive_unchanged() {
    let code = "let answer = faulty::echo().await?; (answer.content[0].kind().to_owned(), answer.text(), answer.structured)";
    let result = json(code).fault("unknown-content", "").result();
    assert_eq!(result, json!(["hologram", "see above", { "large": 12_345_678_901_234_567_890_u64 }]));
    let sized = |bytes: usize| {
        format!("mcpServers:\n  faulty: {{ command: {FAULT_SERVER:?}, args: [huge-answer, \"{bytes}\"] }}\n")
    };
    assert_eq!(json("faulty::echo().await?.text().len()").config(&sized(10 << 20)).result(), 10 << 20);
    let outcome =
        json("faulty::echo().await?.text().len()").config(&sized(100 << 20)).expect("runtime_error", 1);
    assert_eq!(outcome["error"]["kind"], "tool");
    assert_eq!(
        json("faulty::echo().await?.text().starts_with(\"caf\")").fault("broken-text", "").result(),
        true
    );
    assert_eq!(json("let a = faulty::echo().message(\"a\").await?.text(); let b = faulty::echo().message(\"b\").await?.text(); a + &b").fault("repeats", "").result(), "ab");
}

/// The tool's input gains a required member after the first session.
#[test]
fn changed_tools_are_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let config = |name: &str| {
        let state = folder.path().join(name);
        format!("mcpServers:\n  faulty: {{ command: {FAULT_SERVER:?}, args: [changing-tools, {state:?}] }}\n")
    };
    let optional = "faulty::changing().message(\"old\").await?.text()";
    let required = "faulty::changing(\"new\").await?.text()";

    // Does not match the cached tools, but the current ones.
    assert_eq!(json(optional).config(&config("a")).result(), "old");
    let done = json(required).config(&config("a")).done().says(&["have changed"]);
    assert_eq!(done.expect("ok", 0)["result"], "new");

    // Matches the cached tools, but not the current ones.
    assert_eq!(json(optional).config(&config("b")).result(), "old");
    let outcome = json(optional).config(&config("b")).expect("compile_error", 3);
    assert_eq!(outcome["calls_total"], 0);
}

/// The first session works, later ones fail.
#[test]
fn a_server_that_no_longer_starts_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let config =
        format!("mcpServers:\n  faulty: {{ command: {FAULT_SERVER:?}, args: [sound-once, {state:?}] }}\n");
    assert_eq!(json(ECHO).config(&config).result(), "hello");
    let outcome = json(ECHO).config(&config).expect("runtime_error", 1);
    assert_eq!(outcome["error"]["kind"], "server_unavailable");
    assert_eq!(outcome["error"]["evidence"]["server"], "faulty");
    assert_snapshot!(normal(&outcome["error"]["message"]), @r"
    MCP server `faulty`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
    assert_eq!(json("1").config(&config).result(), 1, "a snippet that does not call it must work");
    json(ECHO).argument("--check").config(&config).expect("ok", 0);
}

#[test]
fn two_servers_offer_the_same_tools_under_any_name() {
    let entries = [
        ("first-shop", "sound"),
        ("Second_Shop", "sound"),
        ("type", "sound"),
        ("3d", "sound"),
        ("std", "sound"),
        ("demo", "sound"),
    ];
    let entries: String = entries.iter().map(|(name, mode)| fault_entry(name, mode, "")).collect();
    let config = format!("mcpServers:\n{entries}");
    let code = "let (a, b) = tokio::join!(first_shop::echo().message(\"1\"), second_shop::echo().message(\"2\"));\n(a?.text(), b?.text(), demo::echo().message(\"3\").await?.text(), std::cmp::max(1, 2))";
    let outcome = json(code).config(&config).expect("ok", 0);
    assert_eq!(outcome["result"], json!(["1", "2", "3", 2]));
    assert_eq!(outcome["manifest"], json!(["Second_Shop.echo", "demo.echo", "first-shop.echo"]));
    let servers: Vec<_> =
        outcome["calls"].as_array().unwrap().iter().map(|call| call["server"].as_str().unwrap()).collect();
    assert_eq!(servers.len(), 3, "{servers:?}");
}

#[test]
fn only_servers_that_are_called_are_started() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    let config = format!(
        "mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server] }}\n  counted: {{ command: {FAULT_SERVER:?}, args: [changing-tools, {sessions:?}] }}\n"
    );
    let count = || fs::read(&sessions).unwrap_or_default().len();
    assert_eq!(json("1").config(&config).result(), 1);
    assert_eq!(count(), 0, "started although its tools are not named");
    assert_eq!(json("demo::echo(\"x\").await?.text()").config(&config).result(), "x");
    assert_eq!(json("2").config(&config).result(), 2);
    assert_eq!(count(), 0, "started although the snippet does not call it");
    assert_eq!(json("counted::changing().message(\"x\").await?.text()").config(&config).result(), "x");
    assert_eq!(count(), 1, "expected one session for its tools and the call");
}

#[test]
fn servers_start_while_the_snippet_is_compiled() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let command = format!("echo >> '{}'; exec '{FAULT_SERVER}' sound", starts.display());
    let config = format!("mcpServers:\n  counted: {{ command: sh, args: [-c, {command:?}] }}\n");
    let count = || fs::read(&starts).unwrap_or_default().len();
    assert_eq!(json("counted::echo().message(\"x\").await?.text()").config(&config).result(), "x");
    assert_eq!(count(), 1);
    // The tools are known, and no other tools could make this compile, so nothing needs a session.
    let failing = "counted::echo().message(\"x\").await?;\ncompile_error!(\"stop\");";
    json(failing).config(&config).expect("compile_error", 3);
    assert_eq!(count(), 2, "not started before the snippet was compiled");
}

#[test]
fn output_goes_where_it_belongs() {
    let done = plain(ECHO).fault("chatty-stderr", "").argument("-v").done().exits(0);
    assert_eq!(done.stdout, "hello\n");
    let lines = done.stderr.lines().filter(|line| line.contains("faulty: log line")).count();
    assert!((100..10_000).contains(&lines), "a part of the 100 000 lines, but {lines}");
    let quiet = plain(ECHO).fault("chatty-stderr", "").argument("--quiet").done().exits(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("hello\n", ""));
}

//! `toolsmith stats`: what is counted, shown and deleted.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run, unique};
use end_to_end::page::normal;
use end_to_end::serving::{Serve, execute};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A server in code mode, and one with direct tools.
fn config(more: &str) -> String {
    format!(
        "mcpServers:\n  code: {{ command: {FAULT_SERVER:?}, args: [sound], trust: true }}\n  \
         direct: {{ command: {FAULT_SERVER:?}, args: [sound], trust: true, codeMode: false }}\n{more}"
    )
}

/// Runs a command with its state in this folder.
fn run(state: &Path, arguments: &[&str], config: Option<&str>, input: &str) -> FinishedRun {
    let run = Run::new(shared()).variable("XDG_STATE_HOME", state.to_str().unwrap()).arguments(arguments);
    match config {
        Some(config) => run.config_alone(config).input(input).done(),
        None => run.input(input).done(),
    }
}

/// Server, tool, calls, failures.
fn counted(state: &Path, more: &[&str]) -> Vec<(String, u64, u64)> {
    let done = run(state, &[&["stats", "--json"], more].concat(), None, "").exits(0);
    let all: Vec<Value> = serde_json::from_str(&done.stdout).unwrap();
    let name = |one: &Value| format!("{}.{}", one["server"].as_str().unwrap(), one["tool"].as_str().unwrap());
    let mut all: Vec<_> = all
        .iter()
        .map(|one| (name(one), one["calls"].as_u64().unwrap(), one["failures"].as_u64().unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn calls_of_runs_commands_and_clients_are_counted_shown_and_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let config = config("history: { enabled: false }\n");
    assert_snapshot!(normal(&run(state, &["stats"], None, "").exits(0).stderr), @r"
    toolsmith: no calls are counted (`globalSettings: { stats: false }` switches counting off)
    ");
    let code = format!("// {}\nfor _ in 0..3 {{ code::echo().message(\"kept-nowhere\").await?; }}", unique());
    run(state, &["run", "-"], Some(&config), &code).exits(0);
    run(state, &["mcp", "call", "code.echo", "message=x"], Some(&config), "").exits(0);
    let mut server = Serve::new(&config).variable("XDG_STATE_HOME", state.to_str().unwrap()).start();
    server.shake_hands();
    let direct = json!({ "name": "echo", "arguments": { "message": "x" } });
    server.ask(2, "tools/call", &direct);
    server.ask(3, "tools/call", &execute("code::echo().message(\"y\").await?;"));
    server.close_input();
    server.end();
    let all = [("code.echo".to_owned(), 5, 0), ("direct.echo".to_owned(), 1, 0)];
    assert_eq!(counted(state, &[]), all);
    assert_eq!(counted(state, &["--server", "direct", "--since", "7d"]), all[1..]);
    let table = run(state, &["stats"], None, "").exits(0).stdout;
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    let columns = ["SERVER", "TOOL", "CALLS", "FAILED", "CACHED", "MEAN", "P50", "P95", "TOTAL", "RESULTS"];
    assert_eq!(lines[0], columns, "{table}");
    assert_eq!(lines[1][..5], ["code", "echo", "5", "0", "0"], "{table}");
    let file = state.join("toolsmith/history.db");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    // Without a history, only the statistics are written.
    assert_snapshot!(normal(&run(state, &["history", "list"], None, "").exits(0).stderr), @r"
    toolsmith: no executions are kept in /tmp/.tmpXXXXXX/toolsmith/history.db yet
    ");
    for entry in fs::read_dir(file.parent().unwrap()).unwrap().flatten() {
        let bytes = fs::read(entry.path()).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains("kept-nowhere"), "arguments are kept");
    }

    assert_snapshot!(normal(&run(state, &["stats", "--reset"], None, "").exits(7).stderr), @r"
    toolsmith: there is no terminal to ask on
    help: to delete the statistics without a question: toolsmith stats --reset --yes
    ");
    let done = run(state, &["stats", "--reset", "--yes", "--server", "code"], None, "").exits(0);
    assert_snapshot!(normal(&done.stderr), @"toolsmith: deleted the statistics of 5 calls");
    assert_eq!(counted(state, &[]), all[1..]);
}

#[test]
fn counting_can_be_switched_off() {
    let folder = tempfile::tempdir().unwrap();
    let off = config("globalSettings: { stats: false }\n");
    run(folder.path(), &["mcp", "call", "code.echo", "message=x"], Some(&off), "").exits(0);
    assert_eq!(counted(folder.path(), &[]), []);
    assert!(!folder.path().join("toolsmith/history.db").exists());
}

#[test]
fn a_damaged_file_costs_a_warning_and_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolsmith/history.db");
    fs::create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, "this is not a database, although it is long enough to be one; ".repeat(10)).unwrap();
    let call = ["mcp", "call", "code.echo", "message=hello"];
    let done = run(folder.path(), &call, Some(&config("")), "").exits(0);
    assert_eq!(done.stdout.trim(), "hello");
    assert_eq!(done.stderr.matches("calls are not counted").count(), 1, "{done:#?}");
    assert_snapshot!(normal(&run(folder.path(), &["stats"], None, "").exits(7).stderr), @r"
    toolsmith: the file of statistics /tmp/.tmpXXXXXX/toolsmith/history.db can't be opened: file is not a database
    help: it is damaged; move it away, and a new one is created
    help: `globalSettings: { stats: false }` in the configuration switches statistics off
    ");
}

//! Nothing is silent for long: the server that is awaited is named, and lists of tools are asked for once.

use std::fs;
use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{FinishedRun, Run, unique};
use end_to_end::page::normal;
use insta::assert_snapshot;

/// A configuration with the demo server as `slow`, which takes more than a second to start. Each start adds a line to
/// `starts`, if it is given.
fn slow(starts: Option<&Path>) -> String {
    let count = starts.map(|file| format!("echo started >> {}; ", file.display())).unwrap_or_default();
    let script = format!("{count}sleep 2; exec toolsmith demo-server");
    format!("mcpServers:\n  slow: {{ command: sh, args: [-c, {script:?}], trust: true }}\n")
}

/// A command that finds `toolsmith` on the search path.
fn run(arguments: &[&str]) -> Run {
    on_path(Run::new(shared()).arguments(arguments))
}

fn on_path(run: Run) -> Run {
    let folder = end_to_end::harness::binary().parent().unwrap().display();
    run.variable("PATH", &format!("{folder}:{}", std::env::var("PATH").unwrap()))
}

/// The number of lines that name the server that is awaited.
fn lines(done: &FinishedRun) -> usize {
    done.stderr.lines().filter(|line| line.starts_with("toolsmith: starting slow (sh), ")).count()
}

#[test]
fn commands_name_the_server_that_they_wait_for() {
    let commands: [&[&str]; 4] = [
        &["run", "-", "--json"],
        &["mcp", "call", "slow.echo", "message=here", "--json"],
        &["mcp", "status", "--json"],
        &["mcp", "tools", "--json"],
    ];
    for command in commands {
        // The text is new, so that the run needs the server.
        let code = format!("slow::echo({:?}).await?.text()", unique());
        let start =
            |more: &[&str]| run(command).arguments(more).input(&code).config(&slow(None)).done().exits(0);
        let done = start(&[]);
        assert!(lines(&done) >= 1, "{done:#?}");
        assert!(!done.stdout.contains("starting slow"), "{done:#?}");
        done.outcome();
        let quiet = start(&["--quiet"]);
        assert_eq!(quiet.stderr, "", "{quiet:#?}");
    }
}

#[test]
fn on_a_terminal_one_line_counts_the_seconds() {
    let run = on_path(Run::on_terminal(shared()).arguments(&["mcp", "call", "slow.slow", "seconds:=2"]));
    let done = run.variable("TERM", "xterm").variable("NO_COLOR", "1").config(&slow(None)).done().exits(0);
    for line in ["\r\x1b[Ktoolsmith: starting slow (sh), ", "\r\x1b[Ktoolsmith: waiting for slow.slow, "] {
        assert!(done.stderr.contains(line), "{line:?}: {done:#?}");
    }
    // The last one is cleared.
    assert!(done.stderr.ends_with("\r\x1b[K"), "{done:#?}");
}

#[test]
fn a_server_is_listed_once_by_whatever_command_is_first() {
    let starts_of = |first: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let (starts, file) = (folder.path().join("starts"), folder.path().join("given.yaml"));
        fs::write(&file, slow(Some(&starts))).unwrap();
        let file = file.to_str().unwrap();
        run(first).arguments(&["--config", file]).done().exits(0);
        let checked =
            run(&["run", "-", "--check", "--config", file]).input("slow::echo(\"a\").await?.text()");
        checked.done().exits(0);
        fs::read_to_string(starts).unwrap().lines().count()
    };
    let commands: [&[&str]; 5] = [
        &["mcp", "status"],
        &["mcp", "test"],
        &["mcp", "info", "slow"],
        &["mcp", "tools"],
        &["mcp", "call", "slow.echo", "message=a"],
    ];
    for command in commands {
        assert_eq!(starts_of(command), 1, "{command:?}");
    }
}

#[test]
fn a_new_server_is_tried_and_then_known() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let starts = folder.path().join("starts");
    let run = |arguments: &[&str]| {
        let run = run(arguments).working_folder(folder.path());
        run.variable("XDG_CONFIG_HOME", home.to_str().unwrap())
    };
    let script = format!("echo started >> {}; exec toolsmith demo-server", starts.display());
    let add = ["mcp", "add", "shop", "--scope", "user", "--trust", "--", "sh", "-c", &script];
    assert_snapshot!(normal(&run(&add).done().exits(0).stderr), @r"
    toolsmith: added shop to /tmp/.tmpXXXXXX/home/toolsmith/config.yaml
    toolsmith: shop answers, with 9 tools
    ");
    run(&["run", "-", "--check"]).input("shop::echo(\"a\").await?.text()").done().exits(0);
    assert_eq!(fs::read_to_string(&starts).unwrap().lines().count(), 1);
    // A server that does not start is added, and the user learns why it does not.
    let add = ["mcp", "add", "gone", "--scope", "user", "--trust", "--", "no-such-mcp-server"];
    assert_snapshot!(normal(&run(&add).done().exits(0).stderr), @r"
    toolsmith: added gone to /tmp/.tmpXXXXXX/home/toolsmith/config.yaml
    toolsmith: warning: MCP server `gone`: cannot start: the command `no-such-mcp-server` was not found in the folders of PATH; install it, or give its absolute path as `command`
    ");
}

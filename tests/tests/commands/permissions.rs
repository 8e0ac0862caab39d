//! Permissions: prompts, runs without a terminal, and the effects of a refusal.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use end_to_end::cache::json;
use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run, assert_says, binary};
use end_to_end::page::normal;
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::json;

/// The end of every prompt.
const QUESTION: &str = "[n] no: ";

fn demo(more: &str) -> String {
    format!("mcpServers:\n  demo: {{ command: toolsmith, args: [demo-server]{more} }}\n")
}

/// A run on a terminal, of a snippet in a file.
fn asked(folder: &Path, code: &str, more: &str) -> Run {
    let file = folder.join("snippet.rs");
    fs::write(&file, code).unwrap();
    Run::on_terminal(shared()).arguments(&["run", "--json", file.to_str().unwrap()]).config_alone(&demo(more))
}

fn answered(run: Run, answers: &[&str]) -> FinishedRun {
    let started = run.start();
    for (index, answer) in answers.iter().enumerate() {
        started.answer(QUESTION, index + 1, answer);
    }
    started.done()
}

#[test]
fn without_a_terminal_the_call_is_denied_with_advice() {
    for more in
        ["", ", permission: ask", ", permission: ask-each", ", permissions: { echo: ask, slow: allow }"]
    {
        let run = json("demo::echo(\"x\").await?; demo::fail().await?;").config_alone(&demo(more));
        let outcome = run.expect("denied", 6);
        assert_eq!(outcome["calls_total"], 0, "{outcome:#}");
        assert_eq!(outcome["error"]["evidence"]["reason"], "no_terminal", "{outcome:#}");
        assert_eq!(outcome["error"]["evidence"]["tools"], json!(["demo.echo", "demo.fail"]), "{outcome:#}");
        let phrases = ["--allow 'demo.echo' --allow 'demo.fail'", "trust: true", "no terminal"];
        assert_says(&outcome["error"]["message"], &phrases);
    }
}

#[test]
fn allowed_tools_cause_no_prompt() {
    let echo = "demo::echo(\"x\").await?.text()";
    for more in [", trust: true", ", permission: allow", ", permissions: { \"ec*\": allow, echo: deny }"] {
        assert_eq!(json(echo).config_alone(&demo(more)).result(), "x", "{more}");
    }
    for allow in ["demo.echo", "demo.*", "*"] {
        for more in ["", ", permission: ask-each"] {
            let run = json(echo).config_alone(&demo(more)).arguments(&["--allow", allow]);
            assert_eq!(run.result(), "x", "{allow}");
        }
    }
    for other in ["echo", "demo.fail", "other.*"] {
        json(echo).config_alone(&demo("")).arguments(&["--allow", other]).expect("denied", 6);
    }
    json(echo).config_alone(&demo(", permission: deny")).arguments(&["--allow", "*"]).expect("denied", 6);
    json("1").config_alone(&demo("")).expect("ok", 0);
    json(echo).config_alone(&demo("")).argument("--check").expect("ok", 0);
}

#[test]
fn one_prompt_covers_all_calls_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let code = "for _ in 0..3 { demo::echo(\"x\").await?; } demo::json_response().await?; 7";
    let done = answered(asked(folder.path(), code, ""), &["y\n"]);
    assert_snapshot!(normal(&done.stderr), @r"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JThe program can call tools that need your permission:
      demo.echo  (the server claims: only reads)
      demo.json_response  (the server claims: only reads)
    Allow it?
    [y] yes, once  [a] always  [n] no: y
    ");
    assert_eq!(done.stderr.matches(QUESTION).count(), 1, "{done:#?}");
    let outcome = done.expect("ok", 0);
    assert_eq!((&outcome["result"], &outcome["calls_total"]), (&json!(7), &json!(4)));
    assert!(outcome["phases_ms"]["permission"].as_f64().unwrap() > 0.0, "{outcome:#}");

    for no in ["n\n", "\x04", "maybe\n"] {
        let answers = if no == "maybe\n" { vec![no; 3] } else { vec![no] };
        let outcome = answered(asked(folder.path(), code, ""), &answers).expect("denied", 6);
        assert_eq!(outcome["error"]["evidence"]["reason"], "refused", "{outcome:#}");
        assert_eq!((&outcome["calls_total"], &outcome["stdout"]), (&json!(0), &json!("")));
    }
}

#[test]
fn every_call_is_shown_with_its_arguments_and_can_be_refused_separately() {
    let folder = tempfile::tempdir().unwrap();
    let code = "let mut all = Vec::new();
        for word in [\"first\", \"second\\u{202e}\\u{1b}[2J\", \"third\", \"fourth\"] {
            all.push(match demo::echo(word).await { Ok(_) => \"ok\".to_owned(), Err(error) => error.to_string() });
        }
        all";
    let done = answered(asked(folder.path(), code, ", permission: ask-each"), &["y\n", "n\n", "s\n"]);
    assert!(!done.stderr.contains('\u{202e}') && !done.stderr.contains("\x1b[2J"), "{done:#?}");
    assert_snapshot!(normal(&done.stderr), @r#"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "first"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: y
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "second\u{202e}\u001b[2J"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: n
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "third"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: s
    "#);
    let outcome = done.expect("ok", 0);
    let results = outcome["result"].as_array().unwrap();
    assert_eq!((&results[0], &results[2], &results[3]), (&json!("ok"), &json!("ok"), &json!("ok")));
    assert_snapshot!(normal(&results[1]), @"demo.echo was denied: the user refused permission");
}

#[test]
fn a_program_is_allowed_for_some_servers_and_refused_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let code = "let one = demo::echo(\"x\").await.is_ok();
        let other = other::echo(\"x\").await.map(|_| ()).map_err(|error| error.to_string());
        let again = other::echo(\"x\").await.is_ok();
        (one, other, again)";
    let other = " }\n  other: { command: toolsmith, args: [demo-server]";
    let done = answered(asked(folder.path(), code, other), &["c\n", "y\n", "n\n"]);
    assert!(done.stderr.contains("[c] choose for each server"), "{done:#?}");
    assert_eq!(done.stderr.matches("Allow it?").count(), 3, "{done:#?}");
    let outcome = done.expect("ok", 0);
    assert_eq!((&outcome["result"][0], &outcome["result"][2]), (&json!(true), &json!(false)), "{outcome:#}");
    assert_snapshot!(normal(&outcome["result"][1]), @r#"
    {
      "Err": "other.echo was denied: the user refused permission"
    }
    "#);
    // If no server is allowed, nothing runs.
    let done = answered(asked(folder.path(), code, other), &["c\n", "n\n", "n\n"]);
    assert_eq!(done.expect("denied", 6)["calls_total"], 0);
}

#[test]
fn always_is_remembered_for_the_unchanged_tool() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().to_str().unwrap();
    let run = |more: &str| {
        asked(folder.path(), "demo::echo(\"x\").await?.text()", more)
            .variable("XDG_CONFIG_HOME", home)
            .variable("XDG_STATE_HOME", home)
            // Without `cwd`, it is a different server in each folder.
            .working_folder(folder.path())
    };
    assert_eq!(answered(run(""), &["a\n"]).expect("ok", 0)["result"], "x");
    let file = folder.path().join("toolsmith/permissions.json");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&file).unwrap().contains("\"echo\""));
    let done = run("").done();
    assert!(!done.stderr.contains(QUESTION), "{done:#?}");
    done.expect("ok", 0);
    // A server with a different entry is a different server; and `ask-each` ignores remembered answers.
    answered(run(", cwd: /"), &["n\n"]).expect("denied", 6);
    answered(run(", permission: ask-each"), &["n\n"]).expect("denied", 6);
    run(", permission: deny").done().expect("denied", 6);
}

#[test]
fn the_user_can_answer_while_standard_input_is_the_snippet() {
    let folder = tempfile::tempdir().unwrap();
    let (config, snippet) = (folder.path().join("given.yaml"), folder.path().join("snippet.rs"));
    fs::write(&config, demo("")).unwrap();
    fs::write(&snippet, "demo::echo(\"from stdin\").await?.text()").unwrap();
    let mut command = Command::new("setsid");
    command.args(["--ctty", "sh", "-c", "exec \"$0\" run --json --config \"$1\" - < \"$2\""]);
    command.arg(binary()).args([config, snippet]);
    let done = answered(Run::of(command, shared()).terminal(), &["yes\n"]);
    assert_eq!(done.expect("ok", 0)["result"], "from stdin");
}

#[test]
fn a_signal_during_a_prompt_is_not_consent() {
    let folder = tempfile::tempdir().unwrap();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let started = asked(folder.path(), "demo::echo(\"x\").await?.text()", "").start();
        started.answer(QUESTION, 1, "");
        started.signal(signal);
        let outcome = started.done().expect("cancelled", 130);
        assert_eq!(outcome["calls_total"], 0, "{outcome:#}");
    }
}

#[test]
fn a_call_by_command_needs_permission_like_a_programs() {
    let call = |arguments: &str| {
        let call = ["mcp", "call-tool", "--server", "demo", "--tool", "echo", "--args", arguments];
        Run::on_terminal(shared()).arguments(&call).config_alone(&demo(""))
    };
    let done = answered(call("{\"message\":\"direct\"}"), &["y\n"]).exits(0);
    assert_snapshot!(normal(&done.stdout), @"direct");
    assert_snapshot!(normal(&done.stderr), @r#"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "direct"
      }
    Allow this call?
    [y] yes, once  [a] always  [n] no: y
    "#);
    let printed = answered(call("{\"message\":\"direct\"}"), &["n\n"]).exits(6);
    assert_snapshot!(normal(&printed.stderr), @r#"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "direct"
      }
    Allow this call?
    [y] yes, once  [a] always  [n] no: n
    toolsmith: permission to call demo.echo was refused
    "#);
    // Invalid arguments cause no prompt.
    let done = call("{\"message\":7}").done().exits(2);
    assert!(!done.stderr.contains(QUESTION), "{done:#?}");
}

#[test]
fn a_crate_needs_permission_like_a_snippet() {
    let folder = tempfile::tempdir().unwrap();
    let (config, out) = (folder.path().join("given.yaml"), folder.path().join("crate"));
    let more = format!("mcpServers:\n  faulty: {{ command: {FAULT_SERVER:?}, args: [sound] }}\n");
    fs::write(&config, more).unwrap();
    let (config, out) = (config.to_str().unwrap(), out.to_str().unwrap());
    Run::new(shared())
        .arguments(&["codegen", "--config", config, "--no-vendor", "--out", out])
        .done()
        .exits(0);
    fs::write(
        Path::new(out).join("snippet/src/snippet.rs"),
        "faulty::echo().message(\"crate\").await?.text()",
    )
    .unwrap();
    let run = || Run::new(shared()).arguments(&["run", "--json", "--crate", out, "--config", config]);
    run().expect("denied", 6);
    assert_eq!(run().arguments(&["--allow", "faulty.echo"]).result(), "crate");
}

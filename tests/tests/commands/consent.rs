//! Permission prompts: input typed before a prompt or in its first moments is ignored, and nothing else is shown while
//! it is open.

use std::fs;
use std::path::Path;

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run, RunningProcess, fault_entry};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

/// The text of a permission prompt, and its end once it accepts an answer.
const QUESTION: &str = "Allow this call?";
const READY: &str = "[n] no: ";

/// A prompt that a program forges.
const FORGED: &str = "Continue? [y] yes  [n] no: ";

/// Attempts of a test whose keys arrived too late to be typed ahead.
const TRIES: usize = 5;

/// Runs a snippet on a full terminal. Each call of `demo` needs permission. Calls of `gate` are answered once the
/// folder contains a file `open`.
fn run(folder: &Path, code: &str) -> RunningProcess {
    let file = folder.join("snippet.rs");
    fs::write(&file, code).unwrap();
    let demo = "  demo: { command: toolsmith, args: [demo-server], permission: ask-each }\n";
    let gate = fault_entry("gate", &format!("gate, {folder:?}"), "    permission: allow\n");
    Run::on_whole_terminal(shared())
        .arguments(&["run", file.to_str().unwrap()])
        .config_alone(&format!("codeMode: {{ sandbox: {{ output: 64MiB }} }}\nmcpServers:\n{demo}{gate}"))
        .start()
}

/// A snippet that prints a forged prompt and reports whether its call was permitted.
fn forger(print: &str) -> String {
    format!(
        "{print}\nmatch demo::echo(\"x\").await {{ Ok(_) => \"CALLED\".to_owned(), Err(error) => format!(\"REFUSED {{error}}\") }}"
    )
}

/// Types `keys` as soon as the terminal shows `text`. Returns whether that was before `ready` was shown.
#[track_caller]
fn types_ahead(started: &RunningProcess, text: &str, keys: &str, ready: &str) -> bool {
    started.answer(text, 1, keys);
    !started.shown().contains(ready)
}

/// Repeats `attempt` until its keys were typed early enough.
#[track_caller]
fn retry_until_early(attempt: impl Fn() -> Option<FinishedRun>) -> FinishedRun {
    (0..TRIES).find_map(|_| attempt()).expect("the keys were never early enough")
}

/// Prints a forged prompt, and makes its call once the gate is open.
fn gated_forger() -> String {
    forger(&format!("eprint!({FORGED:?}); gate::pass().message(\"forged\").await?;"))
}

#[test]
fn input_for_a_programs_prompt_does_not_answer_a_permission_prompt() {
    for keys in ["y\n", "y\r", "yes", "s\n", "y\ny\ny\n", "\x04"] {
        let folder = tempfile::tempdir().unwrap();
        let started = run(folder.path(), &gated_forger());
        started.answer(FORGED, 1, keys);
        fs::write(folder.path().join("open"), "").unwrap();
        started.answer(READY, 2, "n\n");
        let done = started.done();
        assert!(done.stderr.contains("REFUSED") && !done.stderr.contains("CALLED"), "{keys:?}: {done:#?}");
        assert_eq!(done.stderr.matches(READY).count(), 2, "{keys:?}: {done:#?}");
    }
}

#[test]
fn input_before_the_run_does_not_answer_a_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let started = run(folder.path(), &forger(""));
    started.type_keys("y\ny\ny\n");
    started.answer(READY, 1, "n\n");
    let done = started.done();
    assert_snapshot!(normal(&done.stderr), @r#"
    y
    y
    y
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: n
    REFUSED demo.echo was denied: the user refused permission
    "#);
}

#[test]
fn a_prompt_ignores_input_in_its_first_moments() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = Vec::new();
    for keys in ["y\n", "s\n", "yes\r", "y", "\x04"] {
        let done = retry_until_early(|| {
            let started = run(folder.path(), &forger(""));
            let is_early = types_ahead(&started, QUESTION, keys, READY);
            started.answer(READY, 1, "n\n");
            is_early.then(|| started.done())
        });
        shown.push(normal(&done.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: n
    REFUSED demo.echo was denied: the user refused permission

    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: n
    REFUSED demo.echo was denied: the user refused permission

    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: n
    REFUSED demo.echo was denied: the user refused permission

    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: n
    REFUSED demo.echo was denied: the user refused permission

    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: n
    REFUSED demo.echo was denied: the user refused permission
    "#);
    let started = run(folder.path(), &forger(""));
    started.answer(READY, 1, "y\n");
    let done = started.done();
    assert_snapshot!(normal(&done.stderr), @r#"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: y
    CALLED
    "#);
}

#[test]
fn a_line_started_before_a_prompt_does_not_answer_it() {
    let done = retry_until_early(|| {
        let folder = tempfile::tempdir().unwrap();
        let started = run(folder.path(), &gated_forger());
        started.answer(FORGED, 1, "hurr");
        fs::write(folder.path().join("open"), "").unwrap();
        let is_early = types_ahead(&started, QUESTION, "y\n", "[y] yes, once");
        started.answer("[y] yes, once", 1, "n\n");
        is_early.then(|| started.done())
    });
    assert_snapshot!(normal(&done.stderr), @r#"
    Continue? [y] yes  [n] no: hurr
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JA call needs your permission: demo.echo  (the server claims: only reads)
      {
        "message": "x"
      }
    Allow this call?
    [y] yes, once  [s] yes, in this run  [n] no: n
    REFUSED demo.echo was denied: the user refused permission
    "#);
}

#[test]
fn a_program_waits_and_nothing_else_is_shown_while_a_prompt_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let code = "
        let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let finished = done.clone();
        let noise = std::thread::spawn(move || while !finished.load(std::sync::atomic::Ordering::SeqCst) {
            println!(\"noise {}\", \"x\".repeat(200));
            eprintln!(\"noise {}\", \"y\".repeat(200));
        });
        let called = demo::echo(\"x\").await.is_ok();
        done.store(true, std::sync::atomic::Ordering::SeqCst);
        noise.join().ok();
        if called { \"CALLED\" } else { \"REFUSED\" }";
    let started = run(folder.path(), code);
    started.answer(READY, 1, "");
    let question = started.shown();
    let open = &question[question.find("A call needs your permission").unwrap()..];
    assert!(!open.contains("noise"), "{open}");
    started.answer(READY, 1, "y\n");
    let done = started.done().exits(0);
    let shown = &done.stderr[done.stderr.find(open).unwrap() + open.len()..];
    assert!(shown.starts_with("y\r\n") && shown.contains("CALLED"), "{}", &shown[..200.min(shown.len())]);
}

#[test]
fn a_prompt_resets_the_terminal_and_starts_on_a_new_line() {
    let folder = tempfile::tempdir().unwrap();
    let started = run(folder.path(), &forger("eprint!(\"no line end\"); demo::echo(\"y\").await.ok();"));
    started.answer(READY, 1, "n\n");
    started.answer(READY, 2, "n\n");
    let done = started.done();
    let before = &done.stderr[..done.stderr.find("A call needs your permission").unwrap()];
    for reset in [
        "\x1b]104\x1b\\",
        "\x1b]110\x1b\\",
        "\x1b]111\x1b\\",
        "\x1b]112\x1b\\",
        "\x1b[?1049l",
        "\x1b[?25h",
        "\x1b[0m",
    ] {
        assert!(before.contains(reset), "{reset:?} in {before:?}");
    }
    assert!(
        !done.stderr.lines().any(|line| line.contains("no line end") && line.contains("A call needs")),
        "{done:#?}"
    );
}

#[test]
fn input_typed_ahead_trusts_neither_a_project_nor_a_server() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("toolsmith.yaml"),
        format!("mcpServers:\n{}", fault_entry("a", "sound", "")),
    )
    .unwrap();
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        Run::on_terminal(shared())
            .arguments(arguments)
            .working_folder(folder.path())
            .variable("XDG_CONFIG_HOME", home.path().to_str().unwrap())
    };
    let question = "Trust this configuration until it changes?";
    let ready = "[y/N] ";
    let early = |keys: &str, answer: &str| {
        retry_until_early(|| {
            let started = run(&["trust"]).start();
            let is_early = types_ahead(&started, question, keys, ready);
            started.answer(ready, 1, answer);
            is_early.then(|| started.done())
        })
    };
    let mut shown = Vec::new();
    for keys in ["y\n", "yes\r", "\x04"] {
        shown.push(normal(&early(keys, "n\n").exits(2).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JTrust this configuration until it changes? [y/N] n
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted, and has no effect

    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JTrust this configuration until it changes? [y/N] n
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted, and has no effect

    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JTrust this configuration until it changes? [y/N] n
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is not trusted, and has no effect
    ");
    let started = run(&["trust"]).start();
    started.type_keys("y\n");
    started.answer(ready, 1, "\n");
    started.done().exits(2);
    assert_snapshot!(normal(&early("n\n", "y\n").exits(0).stderr), @r"
    \u{1b}\\u{1b}7\u{1b}[?1049l\u{1b}[?1047l\u{1b}[?47l\u{1b}[!p\u{1b}]104\u{1b}\\u{1b}]110\u{1b}\\u{1b}]111\u{1b}\\u{1b}]112\u{1b}\\u{1b}[?25h\u{1b}[?7h\r\u{1b}[JTrust this configuration until it changes? [y/N] y
    toolsmith: /tmp/.tmpXXXXXX/toolsmith.yaml is trusted until it or its lock file changes
    ");

    let add = ["mcp", "add", "--scope", "user", "b", "--", &FAULT_SERVER.path(), "sound"];
    let started = run(&add).start();
    started.type_keys("y\n");
    started.answer(ready, 1, "n\n");
    started.done().exits(0);
    let written = fs::read_to_string(home.path().join("toolsmith/config.yaml")).unwrap();
    assert!(!written.contains("trust: true"), "{written}");
}

#[test]
fn input_typed_ahead_does_not_answer_a_servers_form() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    fs::write(&file, "eprintln!(\"typing\"); serde_json::from_str::<serde_json::Value>(&faulty::echo().message(\"elicitation/create\").await?.text())?").unwrap();
    let started = Run::on_terminal(shared())
        .arguments(&["run", "--json", file.to_str().unwrap()])
        .fault("asks", "")
        .start();
    started.type_keys("a\n7\n");
    started.answer("[c] cancel: ", 1, "d\n");
    assert_eq!(started.done().expect("ok", 0)["result"], json!([{ "action": "decline" }, null]));
}

#[test]
fn a_server_cannot_write_to_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("snippet.rs");
    fs::write(&file, "faulty::echo().message(\"x\").await?.text()").unwrap();
    // The command must not contain the word: it is shown before the first start.
    let script = format!("printf 'FOR%s' GED > /dev/tty; exec {FAULT_SERVER} sound");
    let config = format!("mcpServers:\n  faulty: {{ command: sh, args: [-c, {script:?}] }}\n");
    let done =
        Run::on_whole_terminal(shared()).arguments(&["run", file.to_str().unwrap()]).config(&config).done();
    assert!(!done.stderr.contains("FORGED"), "{done:#?}");
}

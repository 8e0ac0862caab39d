//! The rules of every command: errors as JSON, colours, `--quiet`, completions; and `explain`, `cache` and `man`.

use std::fs;
use std::path::Path;

use end_to_end::harness::{FinishedRun, Run, fault_entry};
use end_to_end::page::normal;
use end_to_end::page::settings;
use insta::assert_snapshot;
use rustix::process::Signal;
use serde_json::{Value, json};

use end_to_end::cache::{shared, with_the_layer_of_the_shared};

const DEMO: &str = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], trust: true }\n";

fn toolsmith(arguments: &[&str]) -> Run {
    Run::new(shared()).arguments(arguments)
}

#[track_caller]
fn value(done: &FinishedRun) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:#?}"))
}

#[test]
fn a_failure_under_json_is_one_object_with_kind_message_and_hints() {
    let failing: [(&[&str], i32, &str); 6] = [
        (&["mcp", "info", "absent", "--json", "--demo"], 2, "command-line"),
        (&["run", "--json", "missing.rs"], 2, "command-line"),
        (&["run", "--json", "--jsn", "-"], 2, "command-line"),
        (&["config", "show", "--json", "--config", "missing.yaml"], 2, "configuration"),
        (&["conversation", "print", "0123", "--json"], 2, "conversation"),
        (&["mcp", "lock", "--json", "--demo", "--accept", "absent"], 2, "command-line"),
    ];
    for (arguments, code, kind) in failing {
        let done = toolsmith(arguments).done().exits(code);
        let failed = value(&done);
        assert_eq!(
            (&failed["success"], &failed["report"]["kind"]),
            (&json!(false), &json!(kind)),
            "{done:#?}"
        );
        let message = failed["report"]["message"].as_str().unwrap();
        assert!(failed["error"].as_str().unwrap().starts_with(message), "{failed:#}");
        assert!(failed["report"]["hints"].is_array() && !done.stderr.is_empty(), "{done:#?}");
        let plain: Vec<&str> = arguments.iter().copied().filter(|word| *word != "--json").collect();
        assert_eq!(toolsmith(&plain).done().exits(code).stdout, "", "{plain:?}");
    }
    let broken = format!("mcpServers:\n{}", fault_entry("broken", "exits-at-once", ""));
    let done = toolsmith(&["mcp", "tools", "--json"]).config(&broken).done().exits(7);
    assert_eq!(value(&done)["report"]["kind"], "server");
}

/// Wrong command lines, and what is on standard error.
#[test]
fn slips_in_the_command_line_get_a_suggestion_and_exit_with_2() {
    let mut all = String::new();
    let slips: [&[&str]; 14] = [
        &["list"],
        &["servers"],
        &["tools"],
        &["add", "x", "--", "y"],
        &["logs"],
        &["histroy", "list"],
        &["mcp", "lst"],
        &["program", "sav"],
        &["history", "ls"],
        &["cache", "prun"],
        &["mcp", "call", "demo.echo", "--message", "hi"],
        &["run", "--evaluate", "1"],
        &["setup", "cluade"],
        &["stats", "--save"],
    ];
    for slip in slips {
        let done = toolsmith(slip).done().exits(2);
        all.push_str(&format!("$ toolsmith {}\n{}\n", slip.join(" "), done.stderr));
    }
    settings().bind(|| insta::assert_snapshot!("slips", all));
}

#[test]
fn globs_of_allow_that_fit_nothing_are_noted() {
    let run = |allow: &[&str]| {
        let run = toolsmith(&["run", "-"]).config(DEMO).input("demo::echo(\"a\").await?.text()");
        allow.iter().fold(run, |run, glob| run.arguments(&["--allow", glob])).done().exits(0)
    };
    let done = run(&["demo.ech", "nothing.*", "demo.echo", "demo.*", "*"]);
    let notes: Vec<&str> = done.stderr.lines().filter(|line| line.contains("--allow")).collect();
    assert_eq!(
        notes,
        [
            "toolsmith: `--allow demo.ech` fits no tool, and has no effect; did you mean demo.echo?",
            "toolsmith: `--allow nothing.*` fits no tool, and has no effect",
        ]
    );
}

#[test]
fn an_argument_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let word = std::ffi::OsStr::from_bytes(b"\xff");
    let done = std::process::Command::new(end_to_end::harness::binary()).arg(word).output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{done:?}");
}

#[test]
fn options_behind_a_command_without_a_separator_are_noted() {
    let place = tempfile::tempdir().unwrap();
    let add = |words: &[&str]| {
        let words = [&["mcp", "add", "--permission", "ask"], words].concat();
        toolsmith(&words).working_folder(place.path()).done().exits(0).stderr
    };
    let note = add(&["a", "no-such-command", "-y", "pkg"]);
    assert_snapshot!(normal(&note), @r"
    toolsmith: -y belongs to no-such-command; write options of `mcp add` before the name, and `--` before the command: toolsmith mcp add a -- no-such-command …
    toolsmith: added a to /tmp/.tmpXXXXXX/toolsmith/config.yaml
    toolsmith: warning: MCP server `a`: cannot start: the command `no-such-command` was not found in the folders of PATH; install it, or give its absolute path as `command`
    ");
    let note = add(&["s", "no-such-command", "pkg", "--api-key=hidden", "--key", "hidden"]);
    assert_snapshot!(normal(&note), @r"
    toolsmith: --api-key belongs to no-such-command; write options of `mcp add` before the name, and `--` before the command: toolsmith mcp add s -- no-such-command pkg …
    toolsmith: added s to /tmp/.tmpXXXXXX/toolsmith/config.yaml
    toolsmith: warning: MCP server `s`: cannot start: the command `no-such-command` was not found in the folders of PATH; install it, or give its absolute path as `command`
    ");
    let line = note.lines().find(|line| line.contains("belongs to")).unwrap();
    assert!(!line.contains("hidden"), "{line}");
    assert!(!add(&["b", "--", "no-such-command", "-y", "pkg"]).contains("belongs to"));
    assert!(!add(&["c", "no-such-command", "pkg"]).contains("belongs to"));
}

#[test]
fn checks_and_trust_are_printed_as_json() {
    let place = tempfile::tempdir().unwrap();
    fs::write(
        place.path().join("toolsmith.yaml"),
        "mcpServers:\n  a: { command: x, timeout: soon, trust: true }\n",
    )
    .unwrap();
    let run = |arguments: &[&str]| toolsmith(arguments).working_folder(place.path()).done();
    let checked = value(&run(&["config", "check", "toolsmith.yaml", "--json"]).exits(2));
    assert_eq!((&checked["ok"], &checked["problems"][0]["kind"]), (&json!(false), &json!("configuration")));
    assert_eq!(checked["problems"][0]["places"][0]["line"], 2, "{checked:#}");
    let shown = value(&run(&["trust", "--show", "--json"]).exits(0));
    assert_eq!((&shown["trusted"], &shown["state"]), (&json!(false), &json!("not_trusted")));
    let effects = shown["effects"].as_array().unwrap();
    assert!(effects.contains(&json!({ "loosens": true, "text": "trust: true" })), "{shown:#}");
    let note = "there is no configuration file; `toolsmith mcp add` writes one";
    let ok = json!({ "ok": true, "problems": [], "notes": [note] });
    assert_eq!(value(&toolsmith(&["config", "check", "--json"]).done().exits(0)), ok);
    let generated = value(&toolsmith(&["codegen", "--json"]).config(DEMO).done().exits(0));
    assert_eq!(generated["servers"][0]["tools"][1]["function"], "echo", "{generated:#}");
}

#[test]
fn colours_are_used_when_wanted_and_never_in_pipes() {
    let list = |more: &[&str]| toolsmith(&[&["mcp", "info", "absent", "--demo"], more].concat());
    assert!(!list(&[]).done().exits(2).stderr.contains('\u{1b}'));
    let always = list(&["--color", "always"]).done().exits(2);
    assert!(always.stderr.starts_with("\u{1b}[1;31mtoolsmith:\u{1b}[0m "), "{always:?}");
    assert_snapshot!(normal(&always.stderr), @r#"
    toolsmith: unknown server "absent"
    help: configured servers: demo
    "#);
    assert_eq!(list(&[]).variable("CLICOLOR_FORCE", "1").done().exits(2).stderr, always.stderr);
    assert!(
        !list(&["--color=never"]).variable("CLICOLOR_FORCE", "1").done().exits(2).stderr.contains('\u{1b}')
    );
    let table = toolsmith(&["mcp", "list", "--demo", "--color=always"]).done().exits(0).stdout;
    assert!(table.starts_with("\u{1b}[1m ID"), "{table:?}");
    let wrong = toolsmith(&["rum", "--color=always"]).done().exits(2).stderr;
    assert!(wrong.contains('\u{1b}'), "{wrong:?}");
    assert_snapshot!(normal(&wrong), @r"
    error: unrecognized subcommand 'rum'

      tip: a similar subcommand exists: 'run'

    Usage: toolsmith [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
}

#[test]
fn a_terminal_names_the_explanation_of_an_error() {
    let run = Run::on_terminal(shared()).arguments(&["config", "show", "--config", "missing.yaml"]);
    let done = run.variable("TERM", "xterm").done().exits(2);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the configuration missing.yaml can't be read: there is no such file
    help: check the path of the configuration file
    more: toolsmith explain configuration
    ");
    let run = Run::on_terminal(shared()).arguments(&["run", "missing.rs"]);
    assert!(!run.done().exits(2).stderr.contains("toolsmith explain"));
}

#[test]
fn quiet_suppresses_notes_of_every_command_before_or_after_it() {
    for arguments in
        [&["-q", "mcp", "list", "--demo"][..], &["mcp", "list", "--demo", "-q"], &["config", "check", "-q"]]
    {
        let done = toolsmith(arguments).done().exits(0);
        assert_eq!(done.stderr, "", "{arguments:?}");
    }
    let add = ["mcp", "add", "new", "--permission", "ask"];
    assert!(!toolsmith(&add).arguments(&["--", "x"]).done().exits(0).stderr.is_empty());
    assert_eq!(toolsmith(&add).arguments(&["-q", "--", "x"]).done().exits(0).stderr, "");
    let printed = toolsmith(&["-q", "mcp", "info", "absent", "--demo"]).done().exits(2);
    assert_snapshot!(normal(&printed.stderr), @r#"
    toolsmith: unknown server "absent"
    help: configured servers: demo
    "#);
}

#[test]
fn codes_are_explained() {
    let page = toolsmith(&["explain", "trust"]).done().exits(0).stdout;
    assert_snapshot!(normal(&page), @r"
    trust

    You have not trusted a project's configuration, or the record of what you trust can't be used. A project's configuration
    has no effect before you trust it, because it can start programs.

    Causes
    - You have not trusted the project yet.
    - `toolsmith.yaml` or `toolsmith.lock` has changed since you trusted it, for example by a `git pull`.
    - `trust` needs your answer, and there is no terminal.

    What to do
    - `toolsmith trust --show` prints what the configuration starts and permits. Lines with `!` show what could weaken your
      protection.
    - `toolsmith trust` accepts it until it changes. `toolsmith trust --yes` accepts it without a question, in scripts.
    - See Trust a project (docs/configuration.md).

    Example
        $ mkdir project && cp wrong.yaml project/toolsmith.yaml && cd project && toolsmith mcp list
        toolsmith: the configuration of this folder, …/project/toolsmith.yaml, is not trusted yet
        help: review what it starts and which settings it weakens, then trust it: toolsmith trust
        help: without a terminal: toolsmith trust --show, then toolsmith trust --yes
        help: or name another configuration: --config FILE
    ");
    assert_snapshot!(normal(&toolsmith(&["explain", "6"]).done().exits(0).stdout), @r"
    exit code 6

    `toolsmith run` ends with 6: denied, or stopped by the sandbox.
    Statuses of an outcome: denied, sandbox_violation
    Kinds of errors: denied

    The exit codes of the other commands: docs/command-line.md
    ");
    assert_snapshot!(normal(&toolsmith(&["explain", "COMPILE-ERROR"]).done().exits(0).stdout), @r#"
    compile_error

    The snippet does not parse or compile. No tool was called.

    Causes
    - A type does not fit: often a missing `.await?`, or a number in quotes.
    - A tool does not exist, or the configuration excludes it.
    - A required argument is missing.

    What to do
    - Read the help below the message: it has the nearest name and the signature.
    - `toolsmith explain E0308` prints the explanation of the compiler's code.
    - `toolsmith codegen --server SERVER` prints the signatures of the tools.
    - See Snippets (docs/snippets.md) and Corrections (docs/internals/corrections.md).

    Example
        $ echo 'let city: u8 = "Uppsala"; city' | toolsmith run -q -; echo "exit code $?"
        error[E0308]: mismatched types
         --> 1:16
        1 | let city: u8 = "Uppsala"; city
          |                ^^^^^^^^^ expected `u8`, found `&str`
         --> 1:11
        1 | let city: u8 = "Uppsala"; city
          |           ^^ expected due to this

        the snippet does not compile: mismatched types
        exit code 3
    "#);
    let of_rustc = value(&toolsmith(&["explain", "e0308", "--json"]).done().exits(0));
    assert_eq!(of_rustc["code"], "E0308");
    assert_snapshot!(normal(&of_rustc["text"]), @r#"
    Expected type did not match the received type.

    Erroneous code examples:

    ```
    fn plus_one(x: i32) -> i32 {
        x + 1
    }

    plus_one("Not a number");
    //       ^^^^^^^^^^^^^^ expected `i32`, found `&str`

    if "Not a bool" {
    // ^^^^^^^^^^^^ expected `bool`, found `&str`
    }

    let x: f32 = "Not a float";
    //     ---   ^^^^^^^^^^^^^ expected `f32`, found `&str`
    //     |
    //     expected due to this
    ```

    This error occurs when an expression was used in a place where the compiler
    expected an expression of a different type. It can occur in several cases, the
    most common being when calling a function and passing an argument which has a
    different type than the matching type in the function declaration.
    "#);
    assert_snapshot!(normal(&toolsmith(&["explain", "E9999"]).done().exits(2).stderr), @r"
    toolsmith: the Rust compiler has no error E9999
    help: list all codes: toolsmith explain
    ");
    assert_snapshot!(normal(&toolsmith(&["explain", "truts"]).done().exits(2).stderr), @r#"
    toolsmith: there is no code "truts"
    help: did you mean `trust`?
    help: list all codes: toolsmith explain
    "#);
    let all = value(&toolsmith(&["explain", "--json"]).done().exits(0));
    assert!(all.as_array().unwrap().len() > 25, "{all:#}");
}

/// Returns the completions that the shell gets for the last of these words.
fn completed(run: Run, words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let run = run.variable("TOOLSMITH_COMPLETE", "bash").variable("_CLAP_IFS", "\n");
    let done = run.variable("_CLAP_COMPLETE_INDEX", &index).argument("--").arguments(words).done().exits(0);
    assert_eq!(done.stderr, "");
    done.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn completions_know_servers_and_cached_tools_and_start_no_server() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("own.yaml");
    let hangs = fault_entry("hangs", "silent-initialize", "");
    fs::write(&file, format!("{DEMO}{hangs}  off: {{ command: x, enabled: false }}\n")).unwrap();
    let file = file.to_str().unwrap();
    let of = |words: &[&str]| completed(Run::new(shared()), words);
    assert_eq!(of(&["toolsmith", "cac"]), ["cache"]);
    let names = of(&["toolsmith", "mcp", "info", "--config", file, ""]);
    assert!(["demo", "hangs", "off"].iter().all(|name| names.iter().any(|known| known == name)), "{names:?}");
    toolsmith(&["mcp", "tools", "demo", "--config", file]).done().exits(0);
    let tools = of(&["toolsmith", "mcp", "call", "--config", file, "demo.list_"]);
    assert!(tools.contains(&"demo.list_orders".to_owned()), "{tools:?}");
    assert!(tools.iter().all(|tool| tool.starts_with("demo.list_")), "{tools:?}");
    let arguments = of(&["toolsmith", "mcp", "call", "--config", file, "demo.echo", "m"]);
    assert_eq!(arguments, ["message="]);
    assert_eq!(of(&["toolsmith", "explain", "sandbox_"]), ["sandbox_violation"]);
    // A broken configuration has no names, and no message disturbs the line.
    fs::write(file, "mcpServers: 7").unwrap();
    assert!(!of(&["toolsmith", "mcp", "info", "--config", file, ""]).contains(&"demo".to_owned()));
}

#[test]
fn completion_scripts_and_man_pages_are_written() {
    for (shell, part) in [("bash", "complete -o"), ("zsh", "#compdef toolsmith"), ("fish", "complete --")] {
        let script = toolsmith(&["completions", shell]).done().exits(0).stdout;
        assert!(script.contains(part) && script.contains("TOOLSMITH_COMPLETE"), "{script}");
    }
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("man");
    toolsmith(&["man", "--out", folder.to_str().unwrap()]).done().exits(0);
    let page = fs::read_to_string(folder.join("toolsmith-mcp-call.1")).unwrap();
    assert!(page.contains("SERVER.TOOL"), "{page}");
    let done = toolsmith(&["man", "--out", "/dev/null/man"]).done().exits(7);
    assert_snapshot!(normal(&done.stderr), @r"
    toolsmith: the man pages can't be written to /dev/null/man: Not a directory (os error 20)
    help: check the folder, or name another one
    ");
}

#[test]
fn all_servers_are_tested_and_one_that_fails_fails_the_test() {
    let both = format!("{DEMO}{}", fault_entry("broken", "exits-at-once", ""));
    let done = toolsmith(&["mcp", "test", "--json"]).config(&both).done().exits(7);
    let works: Vec<Value> = value(&done).as_array().unwrap().iter().map(|one| one["ok"].clone()).collect();
    assert_eq!(works, [json!(false), json!(true)], "{done:#?}");
    let done = toolsmith(&["mcp", "test"]).config(DEMO).done().exits(0);
    assert!(done.stdout.starts_with("demo: ok, "), "{done:#?}");
}

#[test]
fn servers_are_listed_by_the_layer_they_come_from() {
    let place = tempfile::tempdir().unwrap();
    let list = |scope: &[&str]| {
        let run = toolsmith(&[&["mcp", "list", "--json"], scope].concat());
        let run = run.variable("XDG_CONFIG_HOME", place.path().to_str().unwrap());
        let listed = value(&run.done().exits(0));
        listed
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let folder = place.path().join("toolsmith");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("config.yaml"), "mcpServers: { own: { command: x } }\n").unwrap();
    assert_eq!((list(&[]), list(&["--scope", "user"])), (vec!["own".to_owned()], vec!["own".to_owned()]));
    assert_eq!(list(&["--scope", "project"]), Vec::<String>::new());
}

#[test]
fn an_overridden_entry_is_used_in_its_own_scope() {
    let place = tempfile::tempdir().unwrap();
    let (home, project) = (place.path().join("home"), place.path().join("project"));
    fs::create_dir_all(home.join("toolsmith")).unwrap();
    fs::create_dir_all(&project).unwrap();
    let failing = fault_entry("shop", "exits-at-once", "");
    let own = format!("mcpServers:\n{failing}{}", fault_entry("own", "sound", ""));
    fs::write(home.join("toolsmith/config.yaml"), own).unwrap();
    fs::write(project.join("toolsmith.yaml"), DEMO.replace("demo:", "shop:")).unwrap();
    let run = |arguments: &[&str]| {
        let run = toolsmith(arguments).working_folder(&project);
        run.variable("XDG_CONFIG_HOME", home.to_str().unwrap())
            .variable("XDG_STATE_HOME", place.path().to_str().unwrap())
            .done()
    };
    run(&["trust", "--yes"]).exits(0);
    run(&["mcp", "test", "shop"]).exits(0);
    run(&["mcp", "test", "shop", "--scope", "project"]).exits(0);
    assert_snapshot!(normal(&run(&["mcp", "test", "shop", "--scope", "user"]).exits(7).stderr), @r"
    shop: error: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
    assert_snapshot!(normal(&run(&["mcp", "test", "other", "--scope", "user"]).exits(2).stderr), @r#"
    toolsmith: your own configuration has no server "other"
    help: leave out --scope to use the server of any layer
    "#);
    let in_project = run(&["mcp", "tools", "shop", "--scope", "project"]).exits(0);
    assert!(in_project.stdout.starts_with("shop: 9 tools"), "{in_project:#?}");
    assert_snapshot!(normal(&run(&["mcp", "tools", "shop", "--scope", "user"]).exits(7).stderr), @r"
    MCP server `shop`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    toolsmith: no server answered
    ");
    let all_of_user = run(&["mcp", "tools", "--scope", "user"]).exits(0);
    assert_snapshot!(normal(&all_of_user.stderr), @r"
    MCP server `shop`: cannot connect: the process ended before it answered `initialize`; check that its command and arguments start an MCP server; the process exited with status 3; last lines on standard error:
      reading settings
      fatal: no licence found
    ");
    assert!(all_of_user.stdout.starts_with("own: "), "{all_of_user:#?}");
    let all_of_project = run(&["mcp", "tools", "--scope", "project"]).exits(0);
    assert!(!all_of_project.stdout.contains("own: "), "{all_of_project:#?}");
    assert_snapshot!(normal(&run(&["mcp", "tools", "own", "--scope", "project"]).exits(2).stderr), @r#"
    toolsmith: the project's configuration has no server "own"
    help: leave out --scope to use the server of any layer
    "#);
}

#[test]
fn a_server_with_an_unset_variable_is_enabled_and_reported_once() {
    let config = format!("{DEMO}  unset: {{ command: \"${{NEVER_SET_IN_TESTS}}\" }}\n");
    let done = toolsmith(&["mcp", "list", "--json"]).config(&config).done().exits(0);
    let listed = value(&done);
    let row = listed.as_array().unwrap().iter().find(|row| row["id"] == "unset").unwrap();
    assert_eq!(row["enabled"], true, "{row}");
    assert_snapshot!(normal(&row["error"]), @r#"
    /tmp/.tmpXXXXXX/given.yaml:3:21: the environment variable NEVER_SET_IN_TESTS is not set; set it, or write a default: ${NEVER_SET_IN_TESTS:-…}
      |
    3 |   unset: { command: "${NEVER_SET_IN_TESTS}" }
      |                     ^
    "#);
    let done = toolsmith(&["mcp", "list"]).config(&config).done().exits(0);
    assert_eq!(done.stderr.matches("NEVER_SET_IN_TESTS is not set").count(), 1, "{done:#?}");
}

#[test]
fn tools_are_printed_with_their_schemas() {
    let done = toolsmith(&["mcp", "tools", "demo", "--schema"]).config(DEMO).done().exits(0);
    assert!(done.stdout.contains("\ndemo.echo\ninput: {\n"), "{}", done.stdout);
}

fn entries(cache: &Path, bucket: &str) -> usize {
    fs::read_dir(cache.join(bucket))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().is_dir())
        .count()
}

#[test]
fn cleaning_the_cache_keeps_what_a_run_uses_and_asks_before() {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let of = |arguments: &[&str]| Run::new(cache.path()).argument("cache").arguments(arguments);
    let run = || Run::new(cache.path()).arguments(&["run", "-"]);
    run().input("6 * 7").done().exits(0);
    let info = value(&of(&["info", "--json"]).done().exits(0));
    let programs =
        info["buckets"].as_array().unwrap().iter().find(|one| one["name"] == "programs-v1").unwrap();
    assert_eq!((&programs["entries"], &programs["in_use"]), (&json!(1), &json!(0)), "{info:#}");
    assert!(of(&["info"]).done().exits(0).stdout.contains("layers-v1"));

    let waiting = run().input("std::future::pending::<()>().await").start();
    waiting.wait_until("the program", || entries(cache.path(), "programs-v1") == 2);
    assert_snapshot!(normal(&of(&["clean"]).done().exits(2).stderr), @r"
    toolsmith: there is no terminal to ask on
    help: to remove without a question: toolsmith cache clean --yes
    ");
    assert_eq!(entries(cache.path(), "programs-v1"), 2);
    let cleaned = of(&["clean", "--yes"]).done().exits(0).says(&["in use by a running process"]);
    assert!(cleaned.stdout.starts_with("removed "), "{cleaned:#?}");
    assert_eq!([entries(cache.path(), "programs-v1"), entries(cache.path(), "layers-v1")], [1, 1]);
    waiting.signal(Signal::KILL);
    waiting.done();

    let asked = Run::on_terminal(cache.path()).arguments(&["cache", "clean"]).start();
    asked.answer("[y/N] ", 1, "y\n");
    asked.done().exits(0);
    assert_eq!([entries(cache.path(), "programs-v1"), entries(cache.path(), "layers-v1")], [0, 0]);
    assert_eq!(of(&["clean"]).done().exits(0).stdout, "nothing to remove\n");
}

#[test]
fn pruning_the_cache_goes_down_to_the_size() {
    let cache = tempfile::tempdir().unwrap();
    with_the_layer_of_the_shared(cache.path());
    let prune =
        |arguments: &[&str]| Run::new(cache.path()).arguments(&["cache", "prune"]).arguments(arguments);
    Run::new(cache.path()).arguments(&["run", "-"]).input("6 * 7").done().exits(0);
    assert_eq!(prune(&[]).done().exits(0).stdout, "nothing to remove\n");
    prune(&["--older-than", "1d"]).done().exits(0);
    assert_eq!(entries(cache.path(), "programs-v1"), 1);
    let pruned = value(&prune(&["--to", "1MiB", "--json"]).done().exits(0));
    assert!(pruned["removed"]["entries"].as_u64().unwrap() > 0, "{pruned:#}");
    assert_eq!([entries(cache.path(), "programs-v1"), entries(cache.path(), "layers-v1")], [0, 1]);
    assert_snapshot!(normal(&prune(&["--to", "many"]).done().exits(2).stderr), @r#"
    error: invalid value 'many' for '--to <SIZE>': "many" is not a size: write a whole number with KiB, MiB, GiB, kB, MB or GB, such as 512MiB

    For more information, try '--help'.
    "#);
}

#[test]
fn doctor_fixes_only_after_a_question() {
    let cache = tempfile::tempdir().unwrap();
    let doctor =
        |arguments: &[&str]| Run::new(cache.path()).arguments(&["doctor", "--fix"]).arguments(arguments);
    assert_snapshot!(normal(&doctor(&[]).done().exits(2).stderr), @r"
    toolsmith: there is no terminal to ask on
    help: to run everything that needs no root without a question: toolsmith doctor --fix --yes
    ");
    let asked = Run::on_terminal(cache.path()).arguments(&["doctor", "--fix"]).start();
    asked.answer("their bindings. [y/N] ", 1, "n\n");
    let done = asked.done().exits(0);
    assert!(done.stdout.contains("not compiled yet"), "{done:#?}");
    let done = toolsmith(&["doctor", "--fix"]).done().exits(0);
    assert_snapshot!(normal(&done.stderr), @"toolsmith: there is nothing that a command can fix");
}

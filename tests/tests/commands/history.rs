//! `toolsmith history`: which executions are kept, what of them, and the commands that read them.

use std::fs;

use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run, fault_entry};
use end_to_end::models::ModelServer;
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, HANDSHAKE, Serve, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A configured secret of a server.
const SECRET: &str = "secret-value-of-the-test";

/// Two calls of the demo server at the same time.
const CALLS: &str = "// Two orders\nlet (a, b) = futures::join!(demo::list_orders().limit(1), demo::list_orders().limit(2));\n\
                     println!(\"read\");\n(a.is_ok(), b.is_ok())";

/// A user's state, which outlives a command.
struct State(tempfile::TempDir);

impl State {
    fn new() -> Self {
        State(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    fn file(&self) -> std::path::PathBuf {
        self.0.path().join("toolsmith/history.db")
    }

    /// A command with this state.
    fn command(&self, arguments: &[&str]) -> Run {
        Run::new(shared()).variable("XDG_STATE_HOME", self.path()).arguments(arguments)
    }

    fn run(&self, code: &str, more: &[&str]) -> FinishedRun {
        self.command(&["run", "-"]).arguments(more).input(code).config(DEMO).done()
    }

    fn history(&self, arguments: &[&str]) -> FinishedRun {
        self.command(&[&["history"], arguments].concat()).done()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.history(arguments).exits(0).stdout).unwrap()
    }

    fn list(&self, options: &[&str]) -> Vec<Value> {
        match self.json(&[&["list", "--json"], options].concat()) {
            Value::Array(all) => all,
            other => panic!("{other:#}"),
        }
    }

    fn latest(&self) -> Value {
        self.json(&["show", "--json"])
    }

    /// Everything in the files of the history.
    fn text(&self) -> String {
        let entries = fs::read_dir(self.file().parent().unwrap()).unwrap().flatten();
        let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("history"));
        ours.map(|entry| String::from_utf8_lossy(&fs::read(entry.path()).unwrap()).into_owned()).collect()
    }
}

#[test]
fn a_run_is_kept_with_its_phases_calls_and_output() {
    let state = State::new();
    state.run(CALLS, &["--arg", "customer=c-17"]).exits(0);
    state.run("no_such_name", &[]).exits(3);
    let list = state.list(&[]);
    let status: Vec<&str> = list.iter().map(|one| one["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["compile_error", "ok"]);
    assert_eq!((&list[1]["title"], &list[1]["transport"]), (&json!("Two orders"), &json!("command")));
    let id = list[1]["id"].as_str().unwrap();
    let whole = state.json(&["show", "--json", &id[..8]]);
    assert_eq!((&whole["code"], &whole["code_is_whole"]), (&json!(CALLS), &json!(true)));
    let phases: Vec<&str> =
        whole["phases"].as_array().unwrap().iter().map(|one| one["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["checking", "compiling", "connecting", "asking", "running"]);
    let calls = whole["calls_made"].as_array().unwrap();
    assert_eq!(calls.len(), 2);
    let time = |call: &Value, name: &str| call[name].as_f64().unwrap();
    for call in calls {
        assert_eq!(
            (&call["server"], &call["tool"], &call["ok"]),
            (&json!("demo"), &json!("list_orders"), &json!(true))
        );
        let times = ["began_ms", "sent_ms", "ended_ms"].map(|name| time(call, name));
        assert!(times.is_sorted() && times[0] > time(&whole["phases"][4], "at_ms"), "{call:#}");
        assert!(call["bytes"].as_u64() > Some(10) && call["direct_tokens"].as_u64() > Some(10), "{call:#}");
    }
    assert!(time(&calls[1], "began_ms") < time(&calls[0], "ended_ms"), "they overlap: {calls:#?}");
    let hash = |call: &Value| call["arguments"]["hash"].as_str().unwrap().to_owned();
    assert_ne!(hash(&calls[0]), hash(&calls[1]));
    let outcome = &whole["outcome"];
    assert_eq!(outcome["result"]["value"], json!([true, true]));
    assert_eq!(outcome["stdout"]["text"], "read\n");
    assert_eq!(outcome["manifest"], json!(["demo.list_orders"]));
    assert!(!outcome["sandbox"]["layers"].as_array().unwrap().is_empty(), "{outcome:#}");
    assert!(outcome["phases_ms"]["total"].as_f64() > Some(0.0));
    assert!(whole["arguments"]["hash"].is_string() && !state.text().contains("c-17"));
    let tokens = |name: &str| whole["tokens"][name].as_u64().unwrap();
    assert!(tokens("direct") > 0 && tokens("code") > 0 && tokens("answer") > 0);
    let text = state.history(&["show", id]).exits(0).stdout;
    for part in [id, "demo.list_orders", "compiling at", "println!(\"read\");", "sandbox"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let text = state.history(&["show"]).exits(0).stdout;
    assert!(text.contains("cannot find value `no_such_name`"), "{text}");
}

#[test]
fn executions_are_found_compared_exported_and_deleted() {
    let state = State::new();
    for (code, code_of_exit) in [
        ("demo::list_orders().limit(1).await?.orders.len()", 0),
        ("demo::list_orders().limit(2).await?.orders.len()", 0),
        ("panic!(\"unmistakable\")", 1),
    ] {
        state.run(code, &[]).exits(code_of_exit);
    }
    let ids = |options: &[&str]| -> Vec<String> {
        state.list(options).iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let all = ids(&[]);
    assert_eq!(all.len(), 3);
    assert_eq!(ids(&["--status", "panic"]), all[..1]);
    assert_eq!(ids(&["--text", "unmistakable"]), all[..1]);
    assert_eq!(ids(&["--tool", "demo.list_orders"]), all[1..]);
    assert_eq!(ids(&["--server", "demo", "--limit", "1"]), all[1..2]);
    assert_eq!(ids(&["--until", "1d"]), [""; 0]);
    let differences = state.json(&["diff", &all[2], &all[1], "--json"]);
    assert_eq!(differences["calls"][0]["tool"], "demo.list_orders");
    let snippet = differences["texts"]["snippet"].as_str().unwrap();
    assert_snapshot!(normal(&snippet), @r"
    @@ -1 +1 @@
    -demo::list_orders().limit(1).await?.orders.len()
    \ No newline at end of file
    +demo::list_orders().limit(2).await?.orders.len()
    \ No newline at end of file
    ");
    let text = state.history(&["diff", &all[1], &all[0]]).exits(0).stdout;
    assert_snapshot!(normal(&text), @r#"
    status: ok → panic
    error: none → unmistakable
    folder: /tmp/.tmpXXXXXX → /tmp/.tmpXXXXXX
    manifest: ["demo.list_orders"] → []
    tokens: 16 → 21
    demo.list_orders: 1 calls (0 failed), 878 bytes, [time] → 0 calls (0 failed), 0 bytes, [time]

    result:
    @@ -1 +0,0 @@
    -2
    \ No newline at end of file


    snippet:
    @@ -1 +1 @@
    -demo::list_orders().limit(2).await?.orders.len()
    \ No newline at end of file
    +panic!("unmistakable")
    \ No newline at end of file
    "#);
    assert_snapshot!(normal(&state.history(&["diff", &all[1], &all[1]]).exits(0).stderr), @r"
    toolsmith: the executions do not differ
    ");

    let exported = state.history(&["export", "--tool", "list_orders"]).exits(0).stdout;
    let exported: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(exported.iter().map(|one| one["id"].as_str().unwrap()).collect::<Vec<_>>(), all[1..]);
    assert_eq!(exported[0], state.json(&["show", "--json", &all[1]]));

    state.history(&["delete", &all[0][..8]]).exits(2).says(&["is not a full id", &all[0]]);
    assert_snapshot!(normal(&state.history(&["delete", "--status", "ok"]).exits(7).stderr), @r"
    toolsmith: there is no terminal to ask on
    help: to delete the executions without a question, add --yes
    ");
    assert_snapshot!(normal(&state.history(&["delete"]).exits(2).stderr), @r"
    toolsmith: nothing says which executions to delete
    help: name them by id, choose them with an option such as --until 30d, or write --all
    ");
    assert_snapshot!(normal(&state.history(&["delete", &all[0]]).exits(0).stderr), @r"
    toolsmith: deleted 1 execution
    ");
    assert!(!state.text().contains("unmistakable"));
    assert_snapshot!(normal(&state.history(&["show", &all[0]]).exits(2).stderr), @r#"
    toolsmith: the history /tmp/.tmpXXXXXX/toolsmith/history.db has no execution "[hash]"; `toolsmith history list` lists them
    "#);
    assert_snapshot!(normal(&state.history(&["delete", "--all", "--yes"]).exits(0).stderr), @r"
    toolsmith: deleted 2 executions
    ");
    assert_eq!(ids(&[]), [""; 0]);
}

#[test]
fn an_execution_can_be_run_again() {
    let state = State::new();
    let code = "format!(\"{} and {}\", args.require(\"a\")?, args.require(\"b\")?)";
    state.run(code, &["--arg", "a=1", "--arg", "b=2"]).exits(0);
    let again = |more: &[&str]| {
        let id = state.latest()["id"].as_str().unwrap().to_owned();
        state.command(&["history", "rerun", &id]).arguments(more).config_alone(DEMO).done()
    };
    assert_snapshot!(normal(&again(&[]).exits(7).stderr), @r"
    toolsmith: the arguments of [hash] are not kept
    help: give all of them again: --arg KEY=VALUE
    help: to keep arguments from now on: `history: { arguments: full }` in your configuration
    ");
    assert_eq!(again(&["--arg", "a=3", "--arg", "b=4"]).exits(0).stdout, "3 and 4\n");
    let full = format!("{DEMO}history: {{ arguments: full }}\n");
    state.command(&["run", "-", "--arg", "a=1", "--arg", "b=2"]).input(code).config(&full).done().exits(0);
    assert_eq!(state.latest()["arguments"]["value"], json!({ "a": "1", "b": "2" }));
    assert_eq!(again(&["--arg", "b=5"]).exits(0).stdout, "1 and 5\n");
    let config = format!(
        "mcpServers:\n{}",
        fault_entry("faulty", "sound", &format!("    env: {{ KEY: {SECRET} }}\n"))
    );
    state.command(&["run", "-"]).input(format!("{SECRET:?}")).config(&config).done().exits(0);
    assert_snapshot!(normal(&again(&[]).exits(7).stderr), @r"
    toolsmith: the snippet of [hash] contained a secret, which is not kept
    help: write the snippet to a file, and run that: toolsmith history show [hash]
    ");
}

#[test]
fn secrets_are_masked_in_the_history_of_runs_and_servers() {
    let state = State::new();
    let entry = fault_entry("faulty", "sound", &format!("    trust: true\n    env: {{ KEY: {SECRET} }}\n"));
    let config = format!("mcpServers:\n{entry}history: {{ arguments: full }}\n");
    let code = format!(
        "println!(\"{{}}\", args.require(\"key\")?);\neprintln!(\"{SECRET}\");\nfaulty::echo().message(\"{SECRET}\").await?; // {SECRET}\nErr::<(), _>(anyhow!(\"{SECRET}\"))"
    );
    state
        .command(&["run", "-", "--arg", &format!("key={SECRET}")])
        .input(&code)
        .config(&config)
        .done()
        .exits(1);
    let mut server = Serve::new(&config).variable("XDG_STATE_HOME", state.path()).start();
    server.shake_hands();
    let mut call = execute(&code);
    call["arguments"]["args"] = json!({ "key": SECRET });
    assert_eq!(outcome_of(&server.ask(1, "tools/call", &call))["status"], "runtime_error");
    server.close_input();
    server.end();
    let list = state.list(&["--text", "faulty"]);
    assert_eq!(list.len(), 2);
    let whole = state.latest();
    assert_eq!(whole["calls_made"][0]["arguments"]["value"], json!({ "message": "***" }));
    assert_eq!((&whole["transport"], &whole["client"]), (&json!("stdio"), &json!("tests")));
    assert_eq!(whole["outcome"]["stdout"]["text"], "***\n");
    let text = state.text();
    assert!(!text.contains(SECRET) && text.contains("***"));
}

#[test]
fn servers_over_http_keep_executions_only_if_configured() {
    for (more, kept) in [("", false), ("history: { enabled: true }\n", true)] {
        let state = State::new();
        let server = Serve::http(&format!("{DEMO}{more}")).variable("XDG_STATE_HOME", state.path()).start();
        let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({}));
        let answer = client.ask("tools/call", &execute("demo::list_orders().limit(1).await?.orders.len()"));
        assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
        server.signal(rustix::process::Signal::TERM);
        let mut server = server;
        server.end();
        assert_eq!(state.list(&[]).is_empty(), !kept);
        if kept {
            let whole = state.latest();
            assert_eq!((&whole["transport"], &whole["status"]), (&json!("http"), &json!("ok")));
            assert!(whole["session"].is_string() && whole["address"].is_string(), "{whole:#}");
            let session = whole["session"].as_str().unwrap();
            assert_eq!(state.list(&["--session", session]).len(), 1);
        }
    }
}

#[test]
fn agents_and_their_questions_are_kept() {
    let state = State::new();
    let code = "faulty::echo().message(\"x\").await?; 1";
    let calls = json!([{ "name": "execute_code", "arguments": { "code": code } }]);
    let rules = json!([
        { "when": { "no_result": true }, "answers": [{ "calls": calls }] },
        { "answers": [{ "text": "done" }] },
    ]);
    let model = ModelServer::start(env!("CARGO_BIN_EXE_model-server"), &json!({ "rules": rules }));
    let config = format!(
        "models:\n  - {{ ref: scripted, id: m, type: openai, base_url: \"{}\", retries: 0 }}\n\
         defaults: {{ model: scripted }}\nmcpServers:\n{}",
        model.base_url(),
        fault_entry("faulty", "sound", "")
    );
    let run =
        Run::on_terminal(shared()).arguments(&["ask", "do it"]).variable("XDG_STATE_HOME", state.path());
    let run = run.config_alone(&config).start();
    run.answer("[n] no: ", 1, "y\n");
    run.done().exits(0);
    let whole = state.latest();
    assert_eq!((&whole["transport"], &whole["status"]), (&json!("in-process"), &json!("ok")), "{whole:#}");
    let question = &whole["questions"][0];
    assert_eq!((&question["about"], &question["tools"]), (&json!("program"), &json!(["faulty.echo"])));
    assert_eq!(question["answer"], "once");
    assert!(question["answered_ms"].as_f64() >= question["asked_ms"].as_f64(), "{question:#}");
    assert_snapshot!(normal(&question["text"]), @r"
    The program can call tools that need your permission:
      faulty.echo
    Allow it?
    ");
}

#[test]
fn a_project_can_not_have_more_kept() {
    let run = |user: &str, project: &str| {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("config/toolsmith");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("config.yaml"), user).unwrap();
        fs::write(folder.path().join("toolsmith.yaml"), project).unwrap();
        let command = Run::new(shared()).arguments(&["config", "check"]).working_folder(folder.path());
        command.variable("XDG_CONFIG_HOME", folder.path().join("config").to_str().unwrap()).done()
    };
    let check = |user: &str, project: &str, wrong: &[&str]| {
        let done = run(user, project);
        let found = done.stderr.clone() + &done.stdout;
        assert_eq!(done.code(), if wrong.is_empty() { 0 } else { 2 }, "{found}");
        for key in wrong {
            assert!(found.contains(&format!("a project can't set history.{key}")), "{found}");
        }
    };
    check("", "history: { enabled: false, arguments: none, output: 1KiB }\n", &[]);
    check("", "history: { enabled: true }\n", &["enabled"]);
    check("", "history: { keep: 1d, size: 64MiB }\n", &["keep", "size"]);
    check("", "history: { arguments: full, output: 1MiB }\n", &["arguments", "output"]);
    check(
        "history: { enabled: true, arguments: full, output: 2MiB }\n",
        "history: { enabled: true, arguments: full, output: 1MiB }\n",
        &[],
    );
    check("history: { arguments: none }\n", "history: { arguments: hash }\n", &["arguments"]);
}

#[test]
fn the_history_can_be_switched_off() {
    let state = State::new();
    let off = format!("{DEMO}history: {{ enabled: false }}\n");
    state.command(&["run", "-"]).input("1").config(&off).done().exits(0);
    assert!(!state.file().exists());
    assert!(state.list(&[]).is_empty());
    assert_snapshot!(normal(&state.history(&["list"]).exits(0).stderr), @r"
    toolsmith: no executions are kept in /tmp/.tmpXXXXXX/toolsmith/history.db yet
    ");
    assert_snapshot!(normal(&state.history(&["show"]).exits(2).stderr), @r"
    toolsmith: no executions are kept in /tmp/.tmpXXXXXX/toolsmith/history.db yet
    help: run a snippet: toolsmith run FILE; the history keeps it unless `history.enabled` is false
    ");
}

#[test]
fn a_file_that_can_not_be_written_costs_one_warning_and_no_execution() {
    let state = State::new();
    fs::create_dir_all(state.file()).unwrap();
    let done = state.run("println!(\"fine\"); 1", &[]).exits(0);
    assert_eq!(done.stdout, "fine\n1\n");
    assert_eq!(done.stderr.matches("the history").count(), 1, "{}", done.stderr);
    fs::remove_dir(state.file()).unwrap();
    fs::write(state.file(), "not a database, but a file of some length".repeat(50)).unwrap();
    let mut server = Serve::new(DEMO).variable("XDG_STATE_HOME", state.path()).start();
    server.shake_hands();
    for id in 1..=3 {
        assert_eq!(outcome_of(&server.ask(id, "tools/call", &execute("1")))["status"], "ok");
    }
    server.close_input();
    server.end();
    assert_eq!(server.stderr().matches("the history").count(), 1, "{}", server.stderr());
    assert_snapshot!(normal(&state.history(&["list"]).exits(7).stderr), @r"
    toolsmith: the history /tmp/.tmpXXXXXX/toolsmith/history.db can't be opened: file is not a database; it is damaged; move it away, and a new one is created
    ");
}

#[test]
fn failures_of_servers_and_of_calls_are_kept() {
    let state = State::new();
    let slow = |mode: &str| {
        format!(
            "mcpServers:\n  slow: {{ command: {FAULT_SERVER:?}, args: [{mode}], trust: true, requestTimeout: 1 }}\n"
        )
    };
    let code = "slow::echo().message(\"x\").await.is_err()";
    state.command(&["run", "-"]).input(code).config(&slow("silent-call")).done().exits(0);
    let found = state.latest();
    let call = &found["calls_made"][0];
    assert_eq!((&call["ok"], &call["error"]), (&json!(false), &json!("timeout")), "{found:#}");
    state.command(&["run", "-"]).input("slow::other()").config(&slow("exits-at-once")).done();
    let found = state.latest();
    assert!(
        found["code"] == "slow::other()" && found["status"] != "ok" && found["error"].is_string(),
        "{found:#}"
    );
}

//! The audit log of `toolsmith serve`: clients, executions, permissions, calls and their ends.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use end_to_end::harness::{FAULT_SERVER, Run, assert_says, fault_entry};
use end_to_end::page::normal;
use end_to_end::serving::{Client, DEMO, Gate, HANDSHAKE, Serve, Server, execute, outcome_of, recording};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A configured secret of a server.
const SECRET: &str = "secret-value-of-the-test";

/// A server that needs permission and has a secret, one with direct tools, and a log.
fn config(arguments: &str) -> String {
    let question =
        fault_entry("faulty", "sound", &format!("    permission: ask\n    env: {{ KEY: {SECRET} }}\n"));
    let direct = fault_entry("direct", "sound", "    codeMode: false\n    trust: true\n");
    format!("mcpServers:\n{question}{direct}serve: {{ audit: {{ file: log/audit.jsonl{arguments} }} }}\n")
}

/// The lines of a log. Each is JSON.
fn lines(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn log(server: &Server) -> Vec<Value> {
    lines(&server.path("log/audit.jsonl"))
}

/// The first line of an event.
#[track_caller]
fn event<'a>(log: &'a [Value], event: &str) -> &'a Value {
    let found = log.iter().find(|line| line["event"] == event);
    found.unwrap_or_else(|| panic!("no {event} in {log:#?}"))
}

fn events(log: &[Value]) -> Vec<&str> {
    log.iter().map(|line| line["event"].as_str().unwrap()).collect()
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Makes a request and answers its permission question.
#[track_caller]
fn ask(client: &Client, call: &Value, answer: &str) -> Value {
    let mut answering = client.begin("tools/call", call);
    loop {
        let message = answering.next().unwrap();
        if message["method"] == "elicitation/create" {
            let content = json!({ "action": "accept", "content": { "answer": answer } });
            client.answer(&message["id"], &content);
        } else if message["id"] == answering.id() {
            return message;
        }
    }
}

/// A call that sends its server the secret in an argument.
fn call_with_secret() -> (String, Value) {
    let code = format!("faulty::echo().message(args.require(\"secret\")?).await?; // {SECRET}");
    let mut call = execute(&code);
    call["arguments"]["args"] = json!({ "secret": SECRET });
    (code, call)
}

#[test]
fn an_execution_is_logged_from_start_to_end() {
    let sent = json!({ "message": SECRET }).to_string();
    let hashed = json!({ "bytes": sent.len(), "blake3": hash(&sent) });
    let mut full = hashed.clone();
    full["value"] = json!({ "message": "***" });
    for (arguments, kept) in [("", hashed), (", arguments: none", Value::Null), (", arguments: full", full)] {
        let server = Serve::http(&config(arguments)).start();
        let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} }));
        let (code, call) = call_with_secret();
        let answer = ask(&client, &call, "session");
        assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
        let log = log(&server);
        let all = ["execution_begin", "manifest", "approval", "call_begin", "call_end", "execution_end"];
        assert_eq!(events(&log), all, "{log:#?}");
        let execution = log[0]["execution"].as_str().unwrap();
        assert!(
            log.iter().all(|line| line["execution"] == execution && line["time"].is_string()),
            "{log:#?}"
        );

        let begin = event(&log, "execution_begin");
        let who = &begin["who"];
        assert_eq!((&who["client"], &who["version"]), (&json!("tests"), &json!("1")));
        assert_eq!(who["transport"], "http");
        assert!(who["address"].as_str().unwrap().starts_with("127.0.0.1:") && who["session"].is_string());
        assert_eq!(begin["snippet_blake3"], hash(&code));
        assert_eq!(begin["snippet_bytes"], code.len());
        assert_eq!(begin["check_only"], false);
        assert_eq!(begin["arguments"].is_null(), kept.is_null(), "{begin:#}");

        assert_eq!(event(&log, "manifest")["tools"], json!(["faulty.echo"]));
        let approval = event(&log, "approval");
        let answered = (&approval["question"], &approval["answer"], &approval["tools"]);
        assert_eq!(answered, (&json!("program"), &json!("session"), &json!(["faulty.echo"])));
        let call = event(&log, "call_begin");
        assert_eq!((&call["server"], &call["tool"]), (&json!("faulty"), &json!("echo")));
        assert_eq!(call["arguments"], kept, "{call:#}");
        assert_eq!(event(&log, "call_end")["ok"], true);
        let end = event(&log, "execution_end");
        assert_eq!((&end["status"], &end["calls"]), (&json!("ok"), &json!(1)));

        let text = fs::read_to_string(server.path("log/audit.jsonl")).unwrap();
        assert!(!text.contains(SECRET), "{text}");
        let mode = |name: &str| fs::metadata(server.path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode("log"), mode("log/audit.jsonl")), (0o700, 0o600));
    }
}

#[test]
fn refusals_failures_and_direct_calls_are_logged() {
    let server = Serve::http(&config("")).start();
    let (client, _) = server.client().shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} }));
    let status = |code: &str, answer: &str| {
        let answer = ask(&client, &execute(code), answer);
        outcome_of(&answer)["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status("faulty::echo().await?;", "no"), "denied");
    assert_eq!(status("nonsense", ""), "compile_error");
    assert_eq!(status("panic!(\"over\")", ""), "panic");
    let direct = json!({ "name": "echo", "arguments": { "message": "x" } });
    assert_eq!(ask(&client, &direct, "")["result"]["content"][0]["text"], "x");
    let log = log(&server);
    let ends: Vec<_> = log.iter().filter(|line| line["event"] == "execution_end").collect();
    let how: Vec<_> = ends.iter().map(|end| (&end["status"], &end["error"], &end["calls"])).collect();
    let (denied, broken, panicked) = (json!("denied"), json!("compile_error"), json!("panic"));
    let (compile, none) = (json!("compile"), json!(0));
    assert_eq!(how, [(&denied, &denied, &none), (&broken, &compile, &none), (&panicked, &panicked, &none)]);
    assert_eq!(event(&log, "approval")["answer"], "no");
    let call = event(&log, "call_begin");
    assert_eq!((&call["server"], &call["who"]["client"]), (&json!("direct"), &json!("tests")), "{call:#}");
    assert!(
        log.iter().all(|line| line["event"] != "execution_begin" || line["execution"] != call["execution"])
    );
    assert_eq!(event(&log, "call_end")["execution"], call["execution"]);
}

#[test]
fn calls_rejected_before_they_are_sent_are_not_counted_as_made() {
    let mut server = Serve::new(&format!("{DEMO}serve: {{ audit: {{ file: log/audit.jsonl }} }}\n")).start();
    server.shake_hands();
    let code = "let refused = demo::slow(4000).await.unwrap_err();\n\
                (demo::echo(\"made\").await?.text(), refused.kind.to_string())";
    let answer = server.ask(1, "tools/call", &execute(code));
    assert_eq!(outcome_of(&answer)["result"], json!(["made", "invalid_params"]), "{answer:#}");
    let log = log(&server);
    let end = event(&log, "execution_end");
    assert_eq!((&end["calls"], &end["calls_refused"]["invalid"]), (&json!(1), &json!(1)), "{end:#}");
    assert_eq!(end["calls"], outcome_of(&answer)["calls_total"]);
}

/// An execution requested twice, because of a permission question, has two ends in the log.
#[test]
fn an_execution_that_waits_for_its_client_is_logged_as_waiting() {
    let server = Serve::http(&config("")).start();
    let client = server.client().stateless();
    let call = execute("faulty::echo().await?;");
    let question = client.ask("tools/call", &call);
    let mut next = call.clone();
    next["requestState"] = question["result"]["requestState"].clone();
    let yes = json!({ "action": "accept", "content": { "answer": "once" } });
    next["inputResponses"] = json!({ "permission": yes });
    let answer = client.ask("tools/call", &next);
    assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    let log = log(&server);
    let all = [
        "execution_begin",
        "manifest",
        "execution_end",
        "execution_begin",
        "manifest",
        "approval",
        "call_begin",
        "call_end",
        "execution_end",
    ];
    assert_eq!(events(&log), all, "{log:#?}");
    assert_eq!((&log[2]["status"], &log[8]["status"]), (&json!("input_required"), &json!("ok")));
    assert_eq!(log[5]["answer"], "once");
    assert!(log[0]["who"]["session"].is_null(), "expected no session: {:#}", log[0]);
}

fn recorded(record: &Path, what: &str) -> usize {
    fs::read_to_string(record).unwrap_or_default().lines().filter(|line| line.starts_with(what)).count()
}

/// By a cancellation, by the client's end, and by a signal to the process.
#[test]
fn a_cancelled_execution_has_an_end_in_the_log() {
    type Ending = fn(&mut Server);
    let cancels: Ending = |server| {
        let cancel = json!({ "requestId": 7 });
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }));
    };
    let closes: Ending = Server::close_input;
    let signals: Ending = |server| server.signal(rustix::process::Signal::TERM);
    for end in [cancels, closes, signals] {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("record");
        let serve = "serve: { grace: 0.1, audit: { file: log/audit.jsonl } }\n";
        let mut server = Serve::new(&format!("{}{serve}", recording(&record))).start();
        server.shake_hands();
        let call = execute("rec::wait().message(\"x\").await?;");
        server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call }));
        server.wait_until("the call", || recorded(&record, "call") == 1);
        let started = log(&server);
        assert_eq!(events(&started), ["execution_begin", "manifest", "call_begin"], "{started:#?}");
        assert_eq!(started[0]["who"]["transport"], "stdio");
        end(&mut server);
        server.wait_until("the end", || events(&log(&server)).contains(&"execution_end"));
        let log = log(&server);
        let end = event(&log, "execution_end");
        assert_eq!((&end["status"], &end["calls"]), (&json!("cancelled"), &json!(1)), "{end:#}");
        assert_eq!(end["execution"], log[0]["execution"]);
    }
}

#[test]
fn an_unwritable_log_is_reported_before_serving() {
    let folder = tempfile::tempdir().unwrap();
    let is_folder = folder.path().join("folder");
    fs::create_dir(&is_folder).unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let below_a_file = folder.path().join("file/audit.jsonl");
    let mut shown = Vec::new();
    for path in [&is_folder, &below_a_file] {
        let config = format!("{DEMO}serve: {{ audit: {{ file: {path:?} }} }}\n");
        let done =
            Run::new(end_to_end::cache::shared()).argument("serve").config_alone(&config).done().exits(2);
        shown.push(normal(&done.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith: the audit log /tmp/.tmpXXXXXX/folder can't be used: Is a directory (os error 21)
    help: choose a file of your own in a writable folder, or remove the audit log from the configuration

    toolsmith: the audit log /tmp/.tmpXXXXXX/file/audit.jsonl can't be used: its folder /tmp/.tmpXXXXXX/file can't be created: File exists (os error 17)
    help: choose a file of your own in a writable folder, or remove the audit log from the configuration
    ");
}

#[test]
fn nothing_is_executed_that_cannot_be_logged() {
    let gate = Gate::new();
    let echo =
        format!("  other: {{ command: {FAULT_SERVER:?}, args: [sound], codeMode: false, trust: true }}\n");
    let serve = "serve: { audit: { file: audit.jsonl } }\n";
    let mut server = Serve::new(&format!("{}{echo}{serve}", gate.config())).start();
    server.shake_hands();
    // A running execution: its next call is not made, and its end cannot be logged.
    let code = "let _ = gate::pass().message(\"first\").await; gate::pass().message(\"second\").await?;";
    server.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": execute(code) }));
    server.wait_until("the first at the gate", || gate.arrived() == ["first"]);
    let log = server.path("audit.jsonl");
    fs::rename(&log, server.path("audit.1")).unwrap();
    fs::create_dir(&log).unwrap();
    gate.open();
    let phrases = ["the audit log", "audit.jsonl", "can't be written", "can't be logged are refused"];
    let answer = server.receive("the answer", |message| message["id"] == 7);
    assert_eq!(answer["result"]["isError"], true, "{answer:#}");
    assert_says(&answer["result"]["content"][0]["text"], &phrases);
    // Neither a new execution nor a direct call is made.
    let calls =
        [execute("gate::pass().message(\"third\").await?;"), json!({ "name": "echo", "arguments": {} })];
    for (id, call) in (8..).zip(calls) {
        let answer = server.ask(id, "tools/call", &call);
        assert_eq!(answer["result"]["isError"], true, "{answer:#}");
        assert_says(&answer["result"]["content"][0]["text"], &phrases);
    }
    assert_eq!(gate.arrived(), ["first"]);
    // It works again once the log is writable.
    fs::remove_dir(&log).unwrap();
    let answer = server.ask(10, "tools/call", &execute("gate::pass().message(\"fourth\").await?.text()"));
    assert_eq!(outcome_of(&answer)["result"], "fourth", "{answer:#}");
    let now = lines(&log);
    assert_eq!(events(&now), ["execution_begin", "manifest", "call_begin", "call_end", "execution_end"]);
}

/// A call dropped by its program or cancelled by its client has an end in the log, before that of its execution.
#[test]
fn a_dropped_call_has_an_end_in_the_log() {
    let audit = "serve: { audit: { file: log/audit.jsonl } }\n";
    let mut server = Serve::new(&format!("{DEMO}{audit}")).start();
    server.shake_hands();
    let code = "let late = tokio::time::timeout(std::time::Duration::from_millis(10), demo::slow(600.0)).await;\n\
                late.is_err()";
    let answer = server.ask(1, "tools/call", &execute(code));
    assert_eq!(outcome_of(&answer)["result"], true, "{answer:#}");
    assert_eq!(outcome_of(&answer)["calls"][0]["ok"], false, "{answer:#}");
    let full_log = log(&server);
    let all = ["execution_begin", "manifest", "call_begin", "call_end", "execution_end"];
    assert_eq!(events(&full_log), all, "{full_log:#?}");
    let end = event(&full_log, "call_end");
    assert_eq!((&end["ok"], &end["error"], &end["call"]), (&json!(false), &json!("cancelled"), &json!(0)));

    let params = execute("demo::slow(600.0).await?;");
    server.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }));
    let count =
        |server: &Server, event: &str| events(&log(server)).iter().filter(|name| **name == event).count();
    server.wait_until("the second call", || count(&server, "call_begin") == 2);
    let cancelled = json!({ "requestId": 2 });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled }));
    server.wait_until("the second end", || count(&server, "execution_end") == 2);
    let full_log = log(&server);
    assert_eq!(&events(&full_log)[5..], all, "{full_log:#?}");
}

/// A subagent and its servers communicate within one process, over neither pipes nor HTTP.
#[test]
fn a_subagents_executions_are_logged_as_in_process() {
    let call = json!({ "name": "execute_code", "arguments": { "code": "demo::echo(\"x\").await?.text()" } });
    let model = end_to_end::scripted::model(&json!([
        { "when": { "no_result": true }, "answers": [{ "calls": [call] }] },
        { "answers": [{ "text": "it says: {{result}}" }] },
    ]));
    let more = format!("{DEMO}serve: {{ audit: {{ file: log/audit.jsonl }} }}\n");
    let mut server = Serve::subagent(&end_to_end::scripted::described(&model, "", &more)).start();
    server.shake_hands();
    server.ask(1, "tools/call", &end_to_end::scripted::task("go"));
    let log = log(&server);
    let who = &event(&log, "execution_begin")["who"];
    assert_eq!((&who["transport"], &who["address"]), (&json!("in-process"), &Value::Null), "{log:#?}");
    assert!(who["session"].is_string(), "{who}");
}

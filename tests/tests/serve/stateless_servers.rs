//! Servers that keep nothing between requests (MCP 2026-07-28): one session serves all executions of a subject.
//!
//! The server records its processes in a file, and returns which one answers.

use std::fs;

use end_to_end::harness::FAULT_SERVER;
use end_to_end::page::normal;
use end_to_end::serving::{HANDSHAKE, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::identities::Team;

/// A server of which each process is recorded.
struct Recorded(TempDir);

impl Recorded {
    fn new() -> Self {
        Recorded(tempfile::tempdir().unwrap())
    }

    /// A configuration with more keys in the entry.
    fn config(&self, more: &str) -> String {
        let file = self.0.path().join("record");
        format!(
            "mcpServers:\n  s: {{ command: {FAULT_SERVER:?}, args: [stateless-process, {file:?}], trust: true{more} }}\n"
        )
    }

    /// How often a word was recorded.
    fn count(&self, word: &str) -> usize {
        let text = fs::read_to_string(self.0.path().join("record")).unwrap_or_default();
        text.lines().filter(|line| line.starts_with(word)).count()
    }
}

/// A snippet that calls the tool with a message.
fn call(message: &str) -> Value {
    execute(&format!("s::process().message({message:?}).await?.text()"))
}

/// The process that answered an execution.
#[track_caller]
fn process(answer: &Value) -> String {
    let outcome = outcome_of(answer);
    let text = outcome["result"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    text.split(' ').next().unwrap().to_owned()
}

/// Starts a server over pipes that has connected to `s`.
fn started(config: &str) -> Server {
    let mut server = Serve::new(config).start();
    server.shake_hands();
    let answer = server.ask(1, "tools/call", &execute("1"));
    assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    server
}

fn begin(server: &mut Server, id: u32, params: &Value) {
    server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
}

#[track_caller]
fn answer_of(server: &mut Server, id: u32) -> Value {
    server.receive("an answer", |message| message["id"] == id && message["method"].is_null())
}

#[test]
fn one_process_serves_executions_at_once() {
    let recorded = Recorded::new();
    let mut server = started(&recorded.config(""));
    // Each waits until both are in the same process.
    begin(&mut server, 2, &call("meet"));
    begin(&mut server, 3, &call("meet"));
    let answers = [answer_of(&mut server, 2), answer_of(&mut server, 3)];
    assert_eq!(process(&answers[0]), process(&answers[1]));
    assert_eq!(process(&server.ask(4, "tools/call", &call(""))), process(&answers[0]));
    assert_eq!(recorded.count("discover"), 1, "the watched session");
    assert!(outcome_of(&answers[0])["shared_sessions"].is_null(), "no state can remain");
    server.close_input();
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
}

#[test]
fn each_execution_has_its_own_process_if_the_entry_says_so() {
    let recorded = Recorded::new();
    let mut server = started(&recorded.config(", session: fresh"));
    let [one, other] = [2, 3].map(|id| process(&server.ask(id, "tools/call", &call(""))));
    assert_ne!(one, other);
}

#[test]
fn each_subject_has_its_own_process() {
    let recorded = Recorded::new();
    let team = Team::new("", "", &recorded.config(""));
    let of = |subject: &str| {
        let clients = [
            team.client(subject, "").stateless(),
            team.client(subject, "").stateless(),
            team.client(subject, "").shake_hands(),
        ];
        let mut processes = clients.map(|client| process(&client.ask("tools/call", &call("")))).to_vec();
        processes.dedup();
        processes
    };
    let (alice, bob) = (of("alice"), of("bob"));
    assert_eq!(alice.len(), 2, "one for clients that answer questions, one for others: {alice:?}");
    assert!(bob.len() == 2 && bob.iter().all(|process| !alice.contains(process)), "{alice:?} {bob:?}");
}

/// Without subjects, a session's executions use the session of its direct tools.
#[test]
fn each_session_without_a_subject_has_its_own_process() {
    let recorded = Recorded::new();
    let server = Serve::http(&recorded.config("")).start();
    let clients = [server.client().shake_hands(), server.client().shake_hands()];
    let [one, other] = clients.map(|client| {
        let [first, second] = [(); 2].map(|()| process(&client.ask("tools/call", &call(""))));
        assert_eq!(first, second);
        first
    });
    assert_ne!(one, other);
    let without = [(); 2].map(|()| process(&server.client().stateless().ask("tools/call", &call(""))));
    assert_eq!(without[0], without[1]);
}

#[test]
fn a_cancelled_execution_does_not_disturb_the_calls_of_others() {
    let recorded = Recorded::new();
    let mut server = started(&recorded.config(""));
    begin(&mut server, 2, &call("hold"));
    begin(&mut server, 3, &call("hold"));
    server.wait_until("both calls", || recorded.count("held") == 2);
    let params = json!({ "requestId": 2 });
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    server.wait_until("the cancellation", || recorded.count("cancelled") == 1);
    let released = process(&server.ask(4, "tools/call", &call("release")));
    assert_eq!(process(&answer_of(&mut server, 3)), released);
    assert_eq!(recorded.count("discover"), 1);
}

#[test]
fn the_end_of_the_process_fails_only_calls_in_flight() {
    let recorded = Recorded::new();
    let mut server = started(&recorded.config(""));
    begin(&mut server, 2, &call("hold"));
    server.wait_until("the call", || recorded.count("held") == 1);
    let code = "let before = s::process().await?.text();\n\
                let failed = s::process().message(\"die\").await.is_err();\n\
                let after = s::process().await?.text();\n\
                (before != after, failed)";
    let answer = server.ask(3, "tools/call", &execute(code));
    assert_eq!(outcome_of(&answer)["result"], json!([true, true]), "{answer:#}");
    let interrupted = answer_of(&mut server, 2);
    assert_snapshot!(normal(&outcome_of(&interrupted)["error"]["message"]), @"s.process is unavailable: MCP server `s`: the connection ended while waiting for the answer of tool `process`; the process exited with status 0");
    assert_eq!(recorded.count("discover"), 2, "the watched session and the next one");
}

#[test]
fn questions_go_to_the_client_of_the_execution() {
    let recorded = Recorded::new();
    let team = Team::new("", "", &recorded.config(""));
    let clients = ["first", "second"].map(|name| {
        let client = team.client("alice", "").shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} })).0;
        let mut answering = client.begin("tools/call", &call("ask"));
        // Both are open before either is answered.
        let asked = answering.until(|message| message["method"] == "elicitation/create");
        (name, client, answering, asked)
    });
    let answers = clients.map(|(name, client, mut answering, asked)| {
        client.answer(&asked["id"], &json!({ "action": "accept", "content": { "name": name } }));
        let answer = answering.end();
        let result =
            outcome_of(&answer)["result"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned();
        let (process, given) = result.split_once(' ').unwrap();
        assert_eq!(given, name);
        process.to_owned()
    });
    assert_eq!(answers[0], answers[1]);
}

//! The isolation of two subjects: they share no sessions of clients and with servers, outputs, approvals, questions,
//! cached results or scratch space; and a client's token goes to nobody else.

use std::fs;

use end_to_end::harness::{FAULT_SERVER, fault_entry, unique};
use end_to_end::page::normal;
use end_to_end::services::Service;
use end_to_end::serving::{Client, DEMO, HANDSHAKE, Serve, answered, execute, outcome_of};
use end_to_end::tiers::has_namespaces;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{Team, config};

/// A server whose tool `session` returns the number of its session, with further lines of its entry.
fn counting(count: &std::path::Path, more: &str) -> String {
    format!(
        "mcpServers:\n  s:\n    command: {FAULT_SERVER:?}\n    args: [sessions, {count:?}]\n    trust: true\n{more}"
    )
}

#[track_caller]
fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {answer:#}")).to_owned()
}

/// The number of a session in an answer.
fn session(text: &str) -> &str {
    text.split(' ').nth(1).unwrap()
}

#[test]
fn a_session_of_another_subject_does_not_exist() {
    let team = Team::new("", "", DEMO);
    let alice = team.client("alice", "").shake_hands();
    let token = team.token(&json!({ "claims": { "sub": "bob" } }));
    let bob = alice.clone().with_header("authorization", &format!("Bearer {token}"));
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    let refused = bob.post(message.clone());
    assert_eq!(refused.status, 404, "{refused:?}");
    let unknown =
        bob.clone().with_header("mcp-session-id", "00000000-0000-4000-8000-000000000000").post(message);
    assert_eq!(
        (unknown.status, &unknown.text),
        (refused.status, &refused.text),
        "the session is not confirmed"
    );
    let unknown = bob.clone().with_header("mcp-session-id", "00000000-0000-4000-8000-000000000000").delete();
    assert_eq!(bob.delete().status, unknown.status);
    assert!(alice.ask("tools/list", &json!({}))["result"].is_object(), "it still exists");
    // A new token of the same subject continues it.
    let again = team.token(&json!({ "claims": { "sub": "alice", "jti": "another" } }));
    let alice = alice.with_header("authorization", &format!("Bearer {again}"));
    assert!(alice.ask("tools/list", &json!({}))["result"].is_object());
}

#[test]
fn direct_calls_of_two_subjects_use_different_sessions_with_servers() {
    let folder = tempfile::tempdir().unwrap();
    let servers = counting(&folder.path().join("count"), "    codeMode: false\n");
    let team = Team::new("", "  listWait: 30\n", &servers);
    let call = json!({ "name": "session", "arguments": {} });
    let clients =
        |subject: &str| [team.client(subject, "").stateless(), team.client(subject, "").shake_hands()];
    let [alice, alice_in_session] = clients("alice");
    let [bob, bob_in_session] = clients("bob");
    alice.ask("tools/list", &json!({}));
    let of_alice = text(&alice.ask("tools/call", &call));
    let again = text(&alice.ask("tools/call", &call));
    assert_eq!(session(&of_alice), session(&again), "requests of a subject share one");
    assert!(again.ends_with("call 2"), "{again}");
    let of_others: Vec<String> = [bob, bob_in_session, alice_in_session]
        .iter()
        .map(|client| text(&client.ask("tools/call", &call)))
        .collect();
    for other in &of_others {
        assert!(other.ends_with("call 1"), "{other}");
        assert_ne!(session(other), session(&of_alice));
    }
}

#[test]
fn executions_of_two_subjects_use_different_sessions_with_servers() {
    let folder = tempfile::tempdir().unwrap();
    for mode in ["fresh", "shared"] {
        let servers = counting(&folder.path().join(mode), &format!("    session: {mode}\n"));
        let team = Team::new("", "", &servers);
        let clients = [
            team.client("alice", "").stateless(),
            team.client("bob", "").stateless(),
            team.client("alice", "").shake_hands(),
            team.client("bob", "").shake_hands(),
        ];
        let mut seen = Vec::new();
        for client in clients.iter() {
            let answer = client.ask("tools/call", &execute("s::session().await?.text()"));
            let result =
                outcome_of(&answer)["result"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned();
            // A spare session is one that nobody has used.
            assert!(result.ends_with("call 1"), "{mode}: {result}");
            seen.push(session(&result).to_owned());
        }
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), clients.len(), "{mode}");
    }
}

#[test]
fn outputs_belong_to_their_subject() {
    let team = Team::new("", "  output: 1KiB\n", DEMO);
    let alice = team.client("alice", "").stateless();
    let answer = alice.ask("tools/call", &execute("for n in 0..10_000 { println!(\"{n}\"); }"));
    let uri = json!({ "uri": outcome_of(&answer)["truncated"]["stdout_resource"] });
    let read = alice.ask("resources/read", &uri);
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().starts_with("0\n1\n"), "{read:#}");
    for other in [team.client("bob", "").stateless(), team.client("bob", "").shake_hands()] {
        let refused = other.ask("resources/read", &uri);
        assert!(refused["error"].is_object(), "{refused:#}");
    }
}

#[test]
fn cached_results_belong_to_their_subject() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let servers = format!(
        "mcpServers:\n  web: {{ command: {FAULT_SERVER:?}, args: [counts, {count:?}], trust: true }}\n\
         cache: {{ tools: [web.get_count] }}\n"
    );
    let team = Team::new("", "", &servers);
    let result = |subject: &str| {
        let answer = team
            .client(subject, "")
            .stateless()
            .ask("tools/call", &execute("web::get_count().await?.text()"));
        outcome_of(&answer)["result"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned()
    };
    assert_eq!([result("alice"), result("alice"), result("bob"), result("alice")], ["1", "1", "2", "1"]);
}

/// Proves that neither the time to compile nor its absence reveals the texts of other subjects.
#[test]
fn compiled_programs_belong_to_their_subject() {
    let team = Team::new("", "", DEMO);
    let code = format!("{:?}.len() + demo::echo(\"x\").await?.text().len()", unique());
    let is_cached = |subject: &str| {
        let answer = team.client(subject, "").stateless().ask("tools/call", &execute(&code));
        let outcome = outcome_of(&answer);
        assert_eq!(outcome["status"], "ok", "{answer:#}");
        assert_eq!(outcome["cached"], outcome["phases_ms"]["compile"] == 0.0, "{answer:#}");
        outcome["cached"].as_bool().unwrap()
    };
    let subjects = ["alice", "bob", "alice", "bob", "carol"];
    assert_eq!(subjects.map(is_cached), [false, false, true, true, false]);
}

/// Without subjects, all clients use the same programs.
#[test]
fn compiled_programs_are_shared_without_subjects() {
    let code = format!("{:?}.len()", unique());
    let server = Serve::http(DEMO).start();
    let is_cached = || {
        let answer = server.client().stateless().ask("tools/call", &execute(&code));
        outcome_of(&answer)["cached"].as_bool().unwrap_or_else(|| panic!("{answer:#}"))
    };
    assert_eq!([is_cached(), is_cached()], [false, true]);
}

#[test]
fn approvals_and_questions_belong_to_their_subject() {
    let mut shown = Vec::new();
    for permission in ["ask", "ask-each"] {
        let servers = format!(
            "mcpServers:\n{}",
            fault_entry("faulty", "sound", &format!("    permission: {permission}\n"))
        );
        let team = Team::new("", "", &servers);
        let call = execute("faulty::echo().message(\"x\").await?.text()");
        let [alice, bob] = ["alice", "bob"].map(|subject| team.client(subject, "").stateless());
        let next = answered(&call, &alice.ask("tools/call", &call));
        let stolen = bob.ask("tools/call", &next);
        shown.push(normal(&stolen["error"]["message"]));
        let answer = alice.ask("tools/call", &next);
        assert_eq!(outcome_of(&answer)["result"], "x", "{answer:#}");
        let asked = bob.ask("tools/call", &call);
        assert_eq!(asked["result"]["resultType"], "input_required", "{permission}: {asked:#}");
    }
    assert_snapshot!(shown.join("\n"), @r"
    the requestState is invalid: request state failed integrity verification; make the request again without it
    the requestState is invalid: request state failed integrity verification; make the request again without it
    ");
}

#[test]
fn an_approval_for_a_session_is_not_one_for_another_subject() {
    let servers = format!("mcpServers:\n{}", fault_entry("faulty", "sound", "    permission: ask\n"));
    let team = Team::new("", "", &servers);
    let call = execute("faulty::echo().message(\"x\").await?.text()");
    let asked = |client: &Client, answer: &str| {
        let mut answering = client.begin("tools/call", &call);
        let mut questions = 0;
        loop {
            let message = answering.next().unwrap();
            if message["id"] == answering.id() && message["method"].is_null() {
                assert_eq!(outcome_of(&message)["result"], "x", "{message:#}");
                return questions;
            }
            if message["method"] == "elicitation/create" {
                questions += 1;
                client
                    .answer(&message["id"], &json!({ "action": "accept", "content": { "answer": answer } }));
            }
        }
    };
    let client =
        |subject: &str| team.client(subject, "").shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} })).0;
    let (alice, bob) = (client("alice"), client("bob"));
    assert_eq!(asked(&alice, "session"), 1);
    assert_eq!(asked(&alice, "session"), 0);
    assert_eq!(asked(&bob, "once"), 1);
}

#[test]
fn scratch_space_belongs_to_a_session_of_its_subject() {
    if !has_namespaces() {
        return;
    }
    let servers = format!("{DEMO}codeMode: {{ sandbox: {{ scratch: 1MiB }} }}\n");
    let team = Team::new("", "", &servers);
    let [alice, bob] = ["alice", "bob"].map(|subject| team.client(subject, "").shake_hands());
    let result = |client: &Client, code: &str| {
        let answer = client.ask("tools/call", &execute(code));
        assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
        outcome_of(&answer)["result"].clone()
    };
    result(&alice, "std::fs::write(\"note\", \"left\")?;");
    assert_eq!(result(&bob, "std::fs::read_to_string(\"note\").ok()"), Value::Null);
    assert_eq!(result(&alice, "std::fs::read_to_string(\"note\").ok()"), "left");
}

#[test]
fn the_audit_log_names_the_subject_and_no_token() {
    let servers =
        format!("{DEMO}{}", fault_entry("direct", "sound", "    codeMode: false\n    trust: true\n"));
    let team = Team::new("", "  listWait: 30\n  audit: { file: audit.jsonl, arguments: full }\n", &servers);
    let token = team.token(&json!({ "claims": { "sub": "alice@example.com" } }));
    let client = team.with(&token).stateless();
    assert_eq!(outcome_of(&client.ask("tools/call", &execute("6 * 7")))["result"], 42);
    client.ask("tools/list", &json!({}));
    client.ask("tools/call", &json!({ "name": "echo", "arguments": { "message": "x" } }));
    let log = fs::read_to_string(team.server.path("audit.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for event in ["execution_begin", "call_begin"] {
        let line =
            lines.iter().find(|line| line["event"] == event).unwrap_or_else(|| panic!("{event}: {log}"));
        assert_eq!(line["who"]["subject"], "alice@example.com", "{line:#}");
        assert_eq!(line["who"]["issuer"], team.issuer.issuer(), "{line:#}");
    }
    assert!(!log.contains(&token) && !team.server.stderr().contains(&token));
}

#[test]
fn a_token_is_not_passed_on_to_servers() {
    let web = Service::fault("sound");
    let issuer = Service::guarded("sound");
    let servers = format!(
        "mcpServers:\n  web: {{ type: http, url: {:?}, trust: true }}\n  \
         direct: {{ type: http, url: {:?}, trust: true, codeMode: false }}\n",
        web.mcp_address(),
        web.mcp_address()
    );
    let server = Serve::http(&config(&issuer, "", "  listWait: 30\n", &servers)).start();
    let token = issuer.token(&json!({}));
    for client in [super::bearer(&server, &token).stateless(), super::bearer(&server, &token).shake_hands()] {
        client.ask("tools/list", &json!({}));
        let answer = client.ask("tools/call", &execute("web::echo().await?.text()"));
        assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
        let answer = client.ask("tools/call", &json!({ "name": "echo", "arguments": {} }));
        assert!(answer["result"]["content"].is_array(), "{answer:#}");
    }
    let record = web.lines().join("\n");
    assert!(record.contains("tools/call") && !record.to_lowercase().contains("authorization"), "{record}");
    assert!(!record.contains(&token));
}

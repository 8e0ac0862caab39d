//! Limits of each subject, and lists of refused subjects and tokens.

use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Gate, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::json;

use super::{Team, accepted, config, refusal};
use crate::metrics::refusals;

#[test]
fn a_subject_starts_only_so_many_executions_in_a_minute() {
    let team = Team::new("", "  subjectLimits: { executionsPerMinute: 2 }\n", DEMO);
    let call = execute("6 * 7");
    // All clients of a subject count together.
    let [one, other] = [team.client("alice", "").stateless(), team.client("alice", "").shake_hands()];
    for client in [&one, &other] {
        assert_eq!(outcome_of(&client.ask("tools/call", &call))["status"], "ok");
    }
    let refused = other.ask("tools/call", &call);
    assert_eq!(outcome_of(&refused)["status"], "busy", "{refused:#}");
    assert!(refused.to_string().contains("serve.subjectLimits.executionsPerMinute"), "{refused:#}");
    let bob = team.client("bob", "").stateless();
    assert_eq!(outcome_of(&bob.ask("tools/call", &call))["status"], "ok");
}

#[test]
fn a_subject_uses_only_so_much_processor_time() {
    let team = Team::new("", "  subjectLimits: { processorSecondsPerHour: 1 }\n", DEMO);
    let alice = team.client("alice", "").stateless();
    let busy = "let begin = std::time::Instant::now(); let mut n = 0_u64; \
                while begin.elapsed() < std::time::Duration::from_secs(1) { n = std::hint::black_box(n + 1); } n > 0";
    let mut statuses = Vec::new();
    // On a busy machine, a second of waiting is less than a second of processor time.
    for _ in 0..20 {
        let answer = alice.ask("tools/call", &execute(busy));
        statuses.push(outcome_of(&answer)["status"].as_str().unwrap().to_owned());
        if statuses.last().is_some_and(|status| status == "busy") {
            assert!(answer.to_string().contains("processorSecondsPerHour"), "{answer:#}");
            break;
        }
    }
    assert_eq!(statuses.first().map(String::as_str), Some("ok"));
    assert_eq!(statuses.last().map(String::as_str), Some("busy"));
    let bob = team.client("bob", "").stateless();
    assert_eq!(outcome_of(&bob.ask("tools/call", &execute("1")))["status"], "ok");
}

#[test]
fn executions_of_a_subject_wait_for_each_other_and_not_for_those_of_others() {
    let gate = Gate::new();
    let team = Team::new("", "  subjectLimits: { executions: 1 }\n", &gate.config());
    let pass = |name: &str| execute(&format!("gate::pass().message({name:?}).await?.text()"));
    let [one, other] = [(); 2].map(|()| team.client("alice", "").shake_hands());
    let mut first = one.begin("tools/call", &pass("first"));
    team.server.wait_until("the first at the gate", || gate.arrived() == ["first"]);
    let mut second = other.begin("tools/call", &pass("second"));
    let bob = team.client("bob", "").stateless();
    assert_eq!(outcome_of(&bob.ask("tools/call", &execute("6 * 7")))["result"], 42);
    assert_eq!(gate.arrived(), ["first"]);
    gate.open();
    for (answer, name) in [(first.end(), "first"), (second.end(), "second")] {
        assert_eq!(outcome_of(&answer)["result"], name, "{answer:#}");
    }
}

#[test]
fn one_subject_leaves_sessions_to_others() {
    let team = Team::new("", "  maxSessions: 4\n", DEMO);
    let open: Vec<_> = (0..3).map(|_| team.client("alice", "").shake_hands()).collect();
    let parameters = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let message =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters }).to_string();
    let refused = team.client("alice", "").post(message);
    assert_eq!(refused.status, 503, "{refused:?}");
    assert_snapshot!(normal(&refused.text), @r#"
    {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"the limit of 3 sessions of one subject (three quarters of serve.maxSessions) is reached; end one, or try again later"}}
    "#);
    assert_eq!(refusals(&team.server, "sessions"), 1);
    team.client("bob", "").shake_hands();
    drop(open);
}

#[test]
fn denied_subjects_and_tokens_are_refused_at_once() {
    let team = Team::new("", "", DEMO);
    let deny = |deny: &str| {
        let before = team.server.stderr().matches("the configuration was read again").count();
        team.server.configure(&config(&team.issuer, "", &format!("  deny: {{ {deny} }}\n"), DEMO));
        team.server.wait_until("the new configuration", || {
            team.server.stderr().matches("the configuration was read again").count() > before
        });
    };
    let token = |subject: &str, id: &str| team.token(&json!({ "claims": { "sub": subject, "jti": id } }));
    let clients = [
        team.with(&token("alice", "t-1")),
        team.with(&token("alice", "t-2")),
        team.with(&token("bob", "t-3")),
    ];
    assert!(clients.iter().all(accepted));
    let session = clients[2].clone().shake_hands();
    deny("tokenIds: [t-1], subjects: [carol]");
    let (status, challenge) = refusal(&clients[0]);
    assert_eq!(status, 401);
    assert_snapshot!(normal(&challenge), @r#"
    Bearer realm="toolsmith", error="invalid_token", error_description="the token is denied", resource_metadata="https://tools.example.com/.well-known/oauth-protected-resource/mcp"
    "#);
    assert!(accepted(&clients[1]) && accepted(&clients[2]));
    deny("subjects: [bob]");
    assert!(accepted(&clients[0]) && accepted(&clients[1]));
    assert_eq!(refusal(&clients[2]).0, 401);
    assert_eq!(refusal(&session).0, 401, "also in a session");
}

#[test]
fn a_running_execution_of_a_denied_subject_makes_no_further_call() {
    let gate = Gate::new();
    let servers =
        format!("{}  demo: {{ command: toolsmith, args: [demo-server], trust: true }}\n", gate.config());
    let team = Team::new("", "", &servers);
    let client = team.client("alice", "").shake_hands();
    let code = "gate::pass().message(\"x\").await?; demo::echo(\"y\").await?";
    let mut running = client.begin("tools/call", &execute(code));
    team.server.wait_until("the call at the gate", || gate.arrived() == ["x"]);
    team.server.configure(&config(&team.issuer, "", "  deny: { subjects: [alice] }\n", &servers));
    team.server.wait_for_log("the configuration was read again");
    gate.open();
    let answer = running.end();
    assert_eq!(outcome_of(&answer)["status"], "denied", "{answer:#}");
    assert!(answer.to_string().contains("the subject of the token is denied"), "{answer:#}");
}

//! Unanswered questions of `toolsmith serve`: they block no other client and time out.

use std::fs;

use end_to_end::harness::{assert_says, fault_entry, unique};
use end_to_end::page::normal;
use end_to_end::serving::{Client, HANDSHAKE, ResponseStream, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// More executions than slots.
const MANY: usize = 20;

/// A server with this `permission`, one that elicits, and further settings.
fn config(permission: &str, serve: &str) -> String {
    format!(
        "mcpServers:\n{}{}serve: {{ {serve} }}\n",
        fault_entry("faulty", "sound", &format!("    permission: {permission}\n")),
        fault_entry("asking", "asks", "    trust: true\n")
    )
}

/// A client that supports elicitation.
fn elicited(server: &Server) -> Client {
    server.client().shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} })).0
}

#[track_caller]
fn question(answering: &mut ResponseStream) -> Value {
    answering.until(|message| message["method"] == "elicitation/create")
}

/// A call that makes the server elicit.
fn elicits() -> Value {
    execute("asking::echo().message(\"elicitation/create\").await?.text()")
}

#[test]
fn unanswered_questions_do_not_block_other_clients() {
    for call in [execute("faulty::echo().message(\"x\").await?.text()"), elicits()] {
        let server = Serve::http(&config("ask", "maxExecutions: 4")).start();
        let (silent, other) = (elicited(&server), elicited(&server));
        let mut waiting: Vec<ResponseStream> = Vec::new();
        for number in 0..MANY {
            let mut asking = silent.begin("tools/call", &call);
            // A client starts at most twice as many executions as there are slots; the rest wait.
            if number < 8 {
                question(&mut asking);
            }
            waiting.push(asking);
        }
        for _ in 0..3 {
            let answer = other.ask("tools/call", &execute("6 * 7"));
            assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
        }
        // The other client's own questions are elicited and answered.
        let mut answering =
            other.begin("tools/call", &execute("faulty::echo().message(\"mine\").await?.text()"));
        let elicited = question(&mut answering);
        other.answer(&elicited["id"], &json!({ "action": "accept", "content": { "answer": "once" } }));
        assert_eq!(outcome_of(&answering.end())["result"], "mine");
    }
}

/// While an execution waits for an answer, another one gets the only slot; it needs a slot again to continue.
#[test]
fn an_answered_execution_continues_once_it_has_a_slot() {
    let gate = end_to_end::serving::Gate::new();
    let faulty = fault_entry("faulty", "sound", "    permission: ask-each\n");
    let server = Serve::http(&format!("{}{faulty}serve: {{ maxExecutions: 1 }}\n", gate.config())).start();
    let (one, other) = (elicited(&server), elicited(&server));
    let code = "faulty::echo().message(\"x\").await?; gate::pass().message(\"elicited\").await?.text()";
    let mut asking = one.begin("tools/call", &execute(code));
    let elicited = question(&mut asking);
    let mut running = other.begin("tools/call", &execute("gate::pass().message(\"ran\").await?.text()"));
    server.wait_until("the other one at the gate", || gate.arrived() == ["ran"]);
    one.answer(&elicited["id"], &json!({ "action": "accept", "content": { "answer": "once" } }));
    gate.open();
    assert_eq!(outcome_of(&running.end())["result"], "ran");
    assert_eq!(outcome_of(&asking.end())["result"], "elicited");
    assert_eq!(gate.arrived(), ["ran", "elicited"]);
}

#[test]
fn an_unanswered_question_is_denied_with_the_limit() {
    let limit = ["no answer", "within 0.3 s", "serve.questionTimeout"];
    for permission in ["ask", "ask-each"] {
        let audit = "questionTimeout: 0.3, audit: { file: audit.jsonl }";
        let server = Serve::http(&config(permission, audit)).start();
        let client = elicited(&server);
        let mut listening = client.listen();
        let mut asking = client.begin("tools/call", &execute("faulty::echo().message(\"x\").await?.text()"));
        let elicited = question(&mut asking);
        // The client is notified that the question is withdrawn.
        let withdrawn = listening.until(|message| message["method"] == "notifications/cancelled");
        assert_eq!(withdrawn["params"]["requestId"], elicited["id"], "{withdrawn:#}");
        let answer = asking.end();
        assert_eq!(outcome_of(&answer)["status"], "denied", "{answer:#}");
        assert_says(&outcome_of(&answer)["error"]["message"], &limit);
        if permission == "ask" {
            assert_eq!(outcome_of(&answer)["error"]["evidence"]["reason"], "unanswered", "{answer:#}");
        }
        let log = fs::read_to_string(server.path("audit.jsonl")).unwrap();
        assert!(log.contains("\"answer\":\"late\""), "{log}");
    }
    // A server's elicitation fails with the same message.
    let server = Serve::http(&config("ask", "questionTimeout: 0.3")).start();
    let answer = elicited(&server).ask("tools/call", &elicits());
    assert_says(&json!(answer.to_string()), &limit);
}

/// An execution must not wait repeatedly.
#[test]
fn after_an_unanswered_question_no_further_one_is_asked() {
    let server = Serve::http(&config("ask-each", "questionTimeout: 0.3")).start();
    let client = elicited(&server);
    let code = "let mut denied = 0; for n in 0..5 { if faulty::echo().message(n.to_string()).await.is_err() \
                { denied += 1; } } denied";
    let mut asking = client.begin("tools/call", &execute(code));
    question(&mut asking);
    let answer =
        asking.until(|message| message["method"] == "elicitation/create" || message["result"].is_object());
    assert_eq!(outcome_of(&answer)["result"], 5, "{answer:#}");
}

/// Without a session, the program waits for the client to retry with the answer.
#[test]
fn a_late_retry_is_rejected_with_the_limit() {
    let audit = "questionTimeout: 0.3, audit: { file: audit.jsonl }";
    let server = Serve::http(&config("ask-each", audit)).start();
    let client = server.client().stateless();
    let call = execute(&format!("// {}\nfaulty::echo().message(\"x\").await?.text()", unique()));
    let elicited = client.ask("tools/call", &call);
    assert_eq!(elicited["result"]["resultType"], "input_required", "{elicited:#}");
    let log = || fs::read_to_string(server.path("audit.jsonl")).unwrap_or_default();
    server.wait_until("the end", || log().contains("execution_end"));
    assert!(log().contains("\"status\":\"denied\"") && log().contains("\"answer\":\"late\""), "{}", log());
    let mut next = call.clone();
    next["requestState"] = elicited["result"]["requestState"].clone();
    next["inputResponses"] = json!({ "question": { "action": "accept", "content": { "answer": "once" } } });
    let refused = client.ask("tools/call", &next);
    assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    assert_snapshot!(normal(&refused["error"]["message"]), @r"
    the requestState has expired: there was no answer within [time] (serve.questionTimeout); make the request again without it
    ");
}

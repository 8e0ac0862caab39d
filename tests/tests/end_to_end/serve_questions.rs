//! `toolsmith serve` and questions that nobody answers: whom they hold up, for how long, and what comes of them.

use std::fs;

use serde_json::{Value, json};

use crate::harness::{assert_says, fault_entry, unique};
use crate::serving::{Client, HANDSHAKE, ResponseStream, Serve, Server, execute, outcome_of};

/// More executions than there are places.
const MANY: usize = 20;

/// A server that must be asked about, by `permission`, one that asks its client, and further settings.
fn config(permission: &str, serve: &str) -> String {
    format!(
        "mcpServers:\n{}{}serve: {{ {serve} }}\n",
        fault_entry("faulty", "sound", &format!("    permission: {permission}\n")),
        fault_entry("asking", "asks", "    trust: true\n")
    )
}

/// A client whose person can be asked.
fn asked(server: &Server) -> Client {
    server.client().shake_hands_as(HANDSHAKE, &json!({ "elicitation": {} })).0
}

#[track_caller]
fn question(answering: &mut ResponseStream) -> Value {
    answering.until(|message| message["method"] == "elicitation/create")
}

/// What the server of questions is asked for, which then asks the client.
fn elicits() -> Value {
    execute("asking::echo().message(\"elicitation/create\").await?.text()")
}

#[test]
fn a_client_that_answers_no_question_keeps_no_other_client_from_running() {
    for call in [execute("faulty::echo().message(\"x\").await?.text()"), elicits()] {
        let server = Serve::http(&config("ask", "maxExecutions: 4")).start();
        let (silent, other) = (asked(&server), asked(&server));
        let mut waiting: Vec<ResponseStream> = Vec::new();
        for number in 0..MANY {
            let mut asking = silent.begin("tools/call", &call);
            // One client has begun at most twice as many as there are places; the rest waits for its turn.
            if number < 8 {
                question(&mut asking);
            }
            waiting.push(asking);
        }
        for _ in 0..3 {
            let answer = other.ask("tools/call", &execute("6 * 7"));
            assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
        }
        // Its own questions are put and answered meanwhile.
        let mut answering =
            other.begin("tools/call", &execute("faulty::echo().message(\"mine\").await?.text()"));
        let asked = question(&mut answering);
        other.answer(&asked["id"], &json!({ "action": "accept", "content": { "answer": "once" } }));
        assert_eq!(outcome_of(&answering.end())["result"], "mine");
    }
}

/// The only place is another's while an execution waits, and taken again before that goes on.
#[test]
fn an_execution_that_was_answered_goes_on_when_it_has_a_place_again() {
    let gate = crate::serving::Gate::new();
    let faulty = fault_entry("faulty", "sound", "    permission: ask-each\n");
    let server = Serve::http(&format!("{}{faulty}serve: {{ maxExecutions: 1 }}\n", gate.config())).start();
    let (one, other) = (asked(&server), asked(&server));
    let code = "faulty::echo().message(\"x\").await?; gate::pass().message(\"asked\").await?.text()";
    let mut asking = one.begin("tools/call", &execute(code));
    let asked = question(&mut asking);
    let mut running = other.begin("tools/call", &execute("gate::pass().message(\"ran\").await?.text()"));
    server.wait_until("the other one at the gate", || gate.came() == ["ran"]);
    one.answer(&asked["id"], &json!({ "action": "accept", "content": { "answer": "once" } }));
    gate.open();
    assert_eq!(outcome_of(&running.end())["result"], "ran");
    assert_eq!(outcome_of(&asking.end())["result"], "asked");
    assert_eq!(gate.came(), ["ran", "asked"]);
}

#[test]
fn a_question_that_nobody_answers_in_time_is_denied_with_the_limit() {
    let limit = ["nobody answered", "within 0.3 s", "serve.questionTimeout"];
    for permission in ["ask", "ask-each"] {
        let audit = "questionTimeout: 0.3, audit: { file: audit.jsonl }";
        let server = Serve::http(&config(permission, audit)).start();
        let client = asked(&server);
        let mut listening = client.listen();
        let mut asking = client.begin("tools/call", &execute("faulty::echo().message(\"x\").await?.text()"));
        let asked = question(&mut asking);
        // The client is told that its person need not answer any more.
        let withdrawn = listening.until(|message| message["method"] == "notifications/cancelled");
        assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn:#}");
        let answer = asking.end();
        assert_eq!(outcome_of(&answer)["status"], "denied", "{answer:#}");
        assert_says(&outcome_of(&answer)["error"]["message"], &limit);
        if permission == "ask" {
            assert_eq!(outcome_of(&answer)["error"]["evidence"]["reason"], "unanswered", "{answer:#}");
        }
        let log = fs::read_to_string(server.path("audit.jsonl")).unwrap();
        assert!(log.contains("\"answer\":\"late\""), "{log}");
    }
    // A server that asks is told so itself.
    let server = Serve::http(&config("ask", "questionTimeout: 0.3")).start();
    let answer = asked(&server).ask("tools/call", &elicits());
    assert_says(&json!(answer.to_string()), &limit);
}

/// An execution must not wait again and again.
#[test]
fn after_a_question_that_nobody_answered_no_further_one_is_put() {
    let server = Serve::http(&config("ask-each", "questionTimeout: 0.3")).start();
    let client = asked(&server);
    let code = "let mut denied = 0; for n in 0..5 { if faulty::echo().message(n.to_string()).await.is_err() \
                { denied += 1; } } denied";
    let mut asking = client.begin("tools/call", &execute(code));
    question(&mut asking);
    let is_next =
        |message: &Value| message["method"] == "elicitation/create" || message["result"].is_object();
    let answer = asking.until(is_next);
    assert_eq!(outcome_of(&answer)["result"], 5, "{answer:#}");
}

/// Without a session, the program waits for a client that comes back with the answer.
#[test]
fn a_client_that_comes_back_too_late_is_told_the_limit() {
    let audit = "questionTimeout: 0.3, audit: { file: audit.jsonl }";
    let server = Serve::http(&config("ask-each", audit)).start();
    let client = server.client().stateless();
    let call = execute(&format!("// {}\nfaulty::echo().message(\"x\").await?.text()", unique()));
    let asked = client.ask("tools/call", &call);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked:#}");
    let log = || fs::read_to_string(server.path("audit.jsonl")).unwrap_or_default();
    server.wait_until("the end", || log().contains("execution_end"));
    assert!(log().contains("\"status\":\"denied\"") && log().contains("\"answer\":\"late\""), "{}", log());
    let mut next = call.clone();
    next["requestState"] = asked["result"]["requestState"].clone();
    next["inputResponses"] = json!({ "question": { "action": "accept", "content": { "answer": "once" } } });
    let refused = client.ask("tools/call", &next);
    assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
    assert_says(
        &refused["error"]["message"],
        &["within 0.3 s", "serve.questionTimeout", "make the request again"],
    );
}

//! Executions of `toolsmith serve` that take longer than their client waits: the answer says so, and a further call
//! waits on.

use std::fs;

use end_to_end::harness::{assert_says, fault_entry};
use end_to_end::serving::{Client, Gate, HANDSHAKE, Serve, Server, answered, execute, outcome_of};
use serde_json::{Value, json};

/// A snippet that waits at the gate, and then calls a tool that needs permission.
const ASKING: &str =
    "gate::pass().message(\"first\").await?; faulty::echo().message(\"second\").await?.text()";

fn config(gate: &Gate) -> String {
    let faulty = fault_entry("faulty", "sound", "    permission: ask-each\n");
    format!("{}{faulty}serve: {{ answerBefore: 0.2 }}\n", gate.config())
}

fn wait_for(id: &str) -> Value {
    json!({ "name": "execute_code", "arguments": { "execution": id } })
}

/// The id of an execution that goes on.
#[track_caller]
fn id_of(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    let id = outcome_of(answer)["execution"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    assert_eq!(outcome_of(answer)["status"], "running");
    let expected = format!(
        "The snippet is still running; nothing is lost, and nothing runs twice. Call execute_code with \
         {{\"execution\": \"{id}\", \"code\": \"\"}} to wait on for its answer."
    );
    assert_eq!((text, &answer["result"]["isError"]), (expected.as_str(), &json!(false)));
    id.to_owned()
}

#[track_caller]
fn assert_refused(answer: &Value, phrases: &[&str]) {
    assert_eq!(answer["result"]["isError"], true, "{answer:#}");
    assert_says(&answer["result"]["content"][0]["text"], phrases);
}

/// Calls until the execution has ended.
#[track_caller]
fn result_of(mut ask: impl FnMut(&Value) -> Value, id: &str) -> Value {
    loop {
        let answer = ask(&wait_for(id));
        if outcome_of(&answer)["status"] != "running" {
            return outcome_of(&answer)["result"].clone();
        }
        assert_eq!(id_of(&answer), id);
    }
}

/// The clients of a server, with and without a session.
fn clients(server: &Server) -> [Client; 2] {
    let elicits = json!({ "elicitation": {} });
    [server.client().shake_hands_as(HANDSHAKE, &elicits).0, server.client().stateless()]
}

#[test]
fn an_execution_goes_on_until_its_client_has_the_answer() {
    for number in 0..2 {
        let gate = Gate::new();
        let server = Serve::http(&config(&gate)).start();
        let client = &clients(&server)[number];
        let id = id_of(&client.ask("tools/call", &execute("gate::pass().message(\"x\").await?.text()")));
        assert_eq!(id_of(&client.ask("tools/call", &wait_for(&id))), id);
        let other = server.client().shake_hands();
        assert_refused(&other.ask("tools/call", &wait_for(&id)), &["no execution", &id, "another session"]);
        let mut both = wait_for(&id);
        both["arguments"]["code"] = json!("1");
        assert_refused(&client.ask("tools/call", &both), &["runs no other code", "leave code empty"]);
        server.wait_until("the call at the gate", || gate.arrived() == ["x"]);
        gate.open();
        assert_eq!(result_of(|call| client.ask("tools/call", call), &id), "x");
        assert_eq!(gate.arrived(), ["x"], "nothing runs twice");
        assert_refused(&client.ask("tools/call", &wait_for(&id)), &["its answer was sent", "not run again"]);
    }
}

/// A strict client drops a result without structured content of a tool with an output schema, unless it is an error.
#[test]
fn beside_an_output_schema_the_answer_is_an_error_until_the_outcome_fits() {
    let gate = Gate::new();
    let structured = config(&gate).replace("serve: {", "serve: { structuredOutcome: true,");
    let server = Serve::http(&structured).start();
    let client = server.client().shake_hands();
    let running = client.ask("tools/call", &execute("gate::pass().message(\"x\").await?.text()"));
    assert_eq!(
        (&running["result"]["isError"], running["result"].get("structuredContent")),
        (&json!(true), None)
    );
    let id = outcome_of(&running)["execution"].as_str().unwrap();
    server.wait_until("the call at the gate", || gate.arrived() == ["x"]);
    gate.open();
    let ended = loop {
        let answer = client.ask("tools/call", &wait_for(id));
        if outcome_of(&answer)["status"] != "running" {
            break answer;
        }
    };
    assert_eq!(ended["result"]["structuredContent"]["result"], "x");
    assert_eq!(ended["result"]["isError"], false);
}

#[test]
fn a_question_waits_for_the_client_to_come_back() {
    let gate = Gate::new();
    let server = Serve::http(&config(&gate)).start();
    let [client, stateless] = clients(&server);
    let id = id_of(&client.ask("tools/call", &execute(ASKING)));
    let stateless_id = id_of(&stateless.ask("tools/call", &execute(ASKING)));
    server.wait_until("both at the gate", || gate.arrived().len() == 2);
    gate.open();

    let question = |message: &Value| message["method"] == "elicitation/create";
    let result = loop {
        let mut waiting = client.begin("tools/call", &wait_for(&id));
        let message = waiting.until(|message| question(message) || message.get("result").is_some());
        if !question(&message) {
            assert_eq!(id_of(&message), id);
            continue;
        }
        let yes = json!({ "action": "accept", "content": { "answer": "once" } });
        client.answer(&message["id"], &yes);
        let answer = waiting.end();
        break match outcome_of(&answer)["status"] == "running" {
            true => result_of(|call| client.ask("tools/call", call), &id),
            false => outcome_of(&answer)["result"].clone(),
        };
    };
    assert_eq!(result, "second");

    let call = wait_for(&stateless_id);
    let asked = loop {
        let answer = stateless.ask("tools/call", &call);
        if answer["result"]["resultType"] == "input_required" {
            break answer;
        }
        assert_eq!(id_of(&answer), stateless_id);
    };
    let answer = stateless.ask("tools/call", &answered(&call, &asked));
    let result = match outcome_of(&answer)["status"] == "running" {
        true => result_of(|call| stateless.ask("tools/call", call), &stateless_id),
        false => outcome_of(&answer)["result"].clone(),
    };
    assert_eq!(result, "second");
}

#[test]
fn a_cancelled_wait_cancels_the_execution() {
    let gate = Gate::new();
    let audited = config(&gate).replace("serve: {", "serve: { audit: { file: audit.jsonl },");
    let mut server = Serve::new(&audited).start();
    server.shake_hands();
    let id = id_of(&server.ask(1, "tools/call", &execute("gate::pass().message(\"x\").await?.text()")));
    server.wait_until("the call at the gate", || gate.arrived() == ["x"]);
    server.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": wait_for(&id) }));
    server.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 }
    }));
    let log = || fs::read_to_string(server.path("audit.jsonl")).unwrap();
    server.wait_until("the end of the execution", || log().contains("\"status\":\"cancelled\""));
    assert_refused(&server.ask(3, "tools/call", &wait_for(&id)), &["no execution"]);
}

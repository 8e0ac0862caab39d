//! Permission questions of `toolsmith serve` to stateless clients, in the result of the request.

use end_to_end::harness::{assert_says, fault_entry, unique};
use end_to_end::page::normal;
use end_to_end::serving::{Client, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn config() -> String {
    format!(
        "mcpServers:\n{}{}",
        fault_entry("faulty", "sound", "    permission: ask\n"),
        fault_entry("free", "sound", "    trust: true\n")
    )
}

fn start() -> (Server, Client) {
    let server = Serve::http(&config()).start();
    let client = server.client().stateless();
    (server, client)
}

/// A program that is not in the cache.
fn program() -> Value {
    let code = format!("// {}\nfaulty::echo().message(\"let in\").await?.text()", unique());
    execute(&code)
}

/// Requests an execution that needs permission; returns the question.
#[track_caller]
fn asked(client: &Client, call: &Value) -> Value {
    let answer = client.ask("tools/call", call);
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer:#}");
    assert!(outcome_of(&answer).is_null(), "nothing has run: {answer:#}");
    result.clone()
}

/// The same request with the state and the user's answer.
fn answered(call: &Value, asked: &Value, response: &Value) -> Value {
    let mut call = call.clone();
    call["requestState"] = asked["requestState"].clone();
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
    call["inputResponses"] = json!({ name: response });
    call
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "answer": "once" } })
}

#[test]
fn the_retry_runs_the_compiled_program() {
    let (_server, client) = start();
    let call = program();
    let question = asked(&client, &call);
    let form = &question["inputRequests"]["permission"];
    assert_eq!(form["method"], "elicitation/create", "{question:#}");
    assert_snapshot!(normal(&form["params"]["message"]), @r"
    The program can call tools that need your permission:
      faulty.echo
    Allow it?
    ");
    let answers = &form["params"]["requestedSchema"]["properties"]["answer"]["enum"];
    assert_eq!(answers, &json!(["once", "no"]), "without a session, there must be no answer for the session");
    let answer = client.ask("tools/call", &answered(&call, &question, &yes()));
    let outcome = outcome_of(&answer);
    assert_eq!((&outcome["status"], &outcome["result"]), (&json!("ok"), &json!("let in")), "{answer:#}");
    assert_eq!((&outcome["cached"], &outcome["phases_ms"]["compile"]), (&json!(true), &json!(0.0)));
    // The permission was for once: the next execution asks again.
    asked(&client, &call);
}

#[test]
fn every_answer_but_yes_is_a_denial() {
    let (server, client) = start();
    let call = program();
    let mut shown = Vec::new();
    for no in [
        json!({ "action": "accept", "content": { "answer": "no" } }),
        json!({ "action": "accept", "content": { "answer": "session" } }),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({}),
    ] {
        let question = asked(&client, &call);
        let answer = client.ask("tools/call", &answered(&call, &question, &no));
        let outcome = outcome_of(&answer);
        assert_eq!(
            (&outcome["status"], &answer["result"]["isError"]),
            (&json!("denied"), &json!(true)),
            "{no}"
        );
        assert_eq!(outcome["calls_total"], 0, "{answer:#}");
        shown.push(normal(&answer["result"]["content"][0]["text"]));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    denied: permission to call faulty.echo was refused
    denied: permission to call faulty.echo was refused
    denied: faulty.echo: permission is required, and the client declined the question or cancelled it
    help: to allow it without a question, add to the configuration:
    mcpServers:
      faulty: { permissions: { "echo": allow } }
    help: or start the server with --allow 'faulty.echo'
    denied: faulty.echo: permission is required, and the client declined the question or cancelled it
    help: to allow it without a question, add to the configuration:
    mcpServers:
      faulty: { permissions: { "echo": allow } }
    help: or start the server with --allow 'faulty.echo'
    denied: permission to call faulty.echo was refused
    "#);
    server.wait_for_log("the client declined the question or cancelled it");
}

#[track_caller]
fn assert_refused(client: &Client, call: &Value, phrases: &[&str]) {
    let answer = client.ask("tools/call", call);
    assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
    assert_says(&answer["error"]["message"], phrases);
}

#[test]
fn a_state_is_valid_only_for_its_request() {
    let (server, client) = start();
    let call = program();
    let question = asked(&client, &call);
    let does_not_hold = &["requestState is invalid", "make the request again without it"][..];
    // A different snippet, different arguments, and `check`.
    let other = answered(&program(), &question, &yes());
    assert_refused(&client, &other, does_not_hold);
    for (name, value) in [("args", json!({ "a": "b" })), ("check_only", json!(true)), ("timeout", json!(7))] {
        let mut other = answered(&call, &question, &yes());
        other["arguments"][name] = value;
        assert_refused(&client, &other, does_not_hold);
    }
    // Damaged in any one place.
    let state = question["requestState"].as_str().unwrap();
    for place in [20, state.len() / 2, state.len() - 2] {
        let mut bytes = state.as_bytes().to_vec();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        let mut damaged = answered(&call, &question, &yes());
        damaged["requestState"] = json!(String::from_utf8(bytes).unwrap());
        assert_refused(&client, &damaged, does_not_hold);
    }
    let mut unanswered = answered(&call, &question, &yes());
    unanswered["inputResponses"] = json!({ "something else": yes() });
    assert_refused(&client, &unanswered, &["inputResponses", "permission"]);
    // States of another process are invalid.
    let another = Serve::http(&config()).start();
    assert_refused(&another.client().stateless(), &answered(&call, &question, &yes()), does_not_hold);
    drop(another);
    // After all that, the state is still valid here.
    let answer = client.ask("tools/call", &answered(&call, &question, &yes()));
    assert_eq!(outcome_of(&answer)["result"], "let in", "{answer:#}");
    // Only once.
    assert_refused(&client, &answered(&call, &question, &yes()), &["already used", "make the request again"]);
    drop(server);
}

/// Neither a forged state nor consent without a state is accepted.
#[test]
fn a_client_cannot_forge_its_permission() {
    let (_server, client) = start();
    let call = program();
    let mut unasked = call.clone();
    unasked["inputResponses"] = json!({ "permission": yes() });
    asked(&client, &unasked);
    let mut made_up = unasked;
    made_up["requestState"] = json!("toolsmith.made-up");
    assert_refused(&client, &made_up, &["requestState is invalid"]);
    // A state without this process's mark is ignored: the question is asked again.
    made_up["requestState"] = json!("from another process");
    asked(&client, &made_up);
}

/// Permission is for the tool that was shown: if the tool has changed, the question is asked again.
#[test]
fn a_tool_that_changed_after_the_question_needs_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("tools.json");
    let write = |text: &str| std::fs::write(&tools, json!({ "act": text }).to_string()).unwrap();
    write("Looks.");
    let described = |more: &str| {
        let fault = end_to_end::harness::FAULT_SERVER;
        format!(
            "mcpServers:\n  faulty: {{ command: {fault:?}, args: [described, {tools:?}], permission: ask{more} }}\n"
        )
    };
    let server = Serve::http(&described("")).start();
    let client = server.client().stateless();
    let call = execute(&format!("// {}\nfaulty::act().message(\"let in\").await?.text()", unique()));
    let question = asked(&client, &call);
    write("Deletes.");
    // A changed entry starts a new process, which has the current tools.
    server.configure(&described(", env: { ANOTHER: start }"));
    server.wait_for_log("the configuration was read again");
    server.wait_until("the changed tool", || {
        let describe = json!({ "name": "execute_code", "arguments": { "code": "describe_tools([\"faulty::act\"]).await?" } });
        client.ask("tools/call", &describe).to_string().contains("Deletes.")
    });
    let second = client.ask("tools/call", &answered(&call, &question, &yes()));
    assert_eq!(second["result"]["resultType"], "input_required", "{second:#}");
    let answer = client.ask("tools/call", &answered(&call, &second["result"], &yes()));
    assert_eq!(outcome_of(&answer)["result"], "let in", "{answer:#}");
}

#[test]
fn a_client_without_elicitation_gets_advice_on_configuration() {
    let server = Serve::http(&config()).start();
    let client = server.client().shake_hands();
    let answer = client.ask("tools/call", &program());
    assert_eq!(outcome_of(&answer)["status"], "denied", "{answer:#}");
    let lines = "mcpServers:\n  faulty: { permissions: { \"echo\": allow } }";
    assert_snapshot!(normal(&answer["result"]["content"][0]["text"]), @r#"
    denied: faulty.echo: permission is required, but the user can't be asked through this client
    help: to allow it without a question, add to the configuration:
    mcpServers:
      faulty: { permissions: { "echo": allow } }
    help: or start the server with --allow 'faulty.echo'
    help: or start it with --ui --allow-actions, and answer its questions on a page in your browser
    "#);
    // The user, who does not read what the model reads, learns it too.
    server.wait_for_log(lines);
}

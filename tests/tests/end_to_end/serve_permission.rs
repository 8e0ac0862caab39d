//! `toolsmith serve` asks clients without sessions by its answer: what they must bring back, and what comes of it.

use serde_json::{Value, json};

use crate::harness::{assert_says, fault_entry, unique};
use crate::serving::{Client, Serve, Server, execute, outcome_of};

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

/// A program that nobody has compiled yet.
fn program() -> Value {
    let code = format!("// {}\nfaulty::echo().message(\"let in\").await?.text()", unique());
    execute(&code)
}

/// Asks for an execution, which asks for permission; gives what it asks.
#[track_caller]
fn asked(client: &Client, call: &Value) -> Value {
    let answer = client.ask("tools/call", call);
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer:#}");
    assert!(outcome_of(&answer).is_null(), "nothing has run: {answer:#}");
    result.clone()
}

/// The same request with a state, and the person's answer to what was asked.
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
fn the_retry_runs_the_program_that_is_already_built() {
    let (_server, client) = start();
    let call = program();
    let question = asked(&client, &call);
    let form = &question["inputRequests"]["permission"];
    assert_eq!(form["method"], "elicitation/create", "{question:#}");
    assert_says(&form["params"]["message"], &["faulty", "echo"]);
    let answers = &form["params"]["requestedSchema"]["properties"]["answer"]["enum"];
    assert_eq!(answers, &json!(["once", "no"]), "there is no session that it could hold for");
    let answer = client.ask("tools/call", &answered(&call, &question, &yes()));
    let outcome = outcome_of(&answer);
    assert_eq!((&outcome["status"], &outcome["result"]), (&json!("ok"), &json!("let in")), "{answer:#}");
    assert_eq!((&outcome["cached"], &outcome["phases_ms"]["compile"]), (&json!(true), &json!(0.0)));
    // It was once: the next execution asks again.
    asked(&client, &call);
}

#[test]
fn whatever_is_no_yes_is_denied() {
    let (_server, client) = start();
    let call = program();
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
        assert_says(&answer["result"]["content"][0]["text"], &["faulty.echo"]);
    }
}

#[track_caller]
fn assert_refused(client: &Client, call: &Value, phrases: &[&str]) {
    let answer = client.ask("tools/call", call);
    assert_eq!(answer["error"]["code"], -32602, "{answer:#}");
    assert_says(&answer["error"]["message"], phrases);
}

#[test]
fn a_state_holds_for_the_very_request_that_it_was_given_for() {
    let (server, client) = start();
    let call = program();
    let question = asked(&client, &call);
    let does_not_hold = &["requestState does not hold", "make the request again without it"][..];
    // Another text, other arguments, and a check alone.
    let other = answered(&program(), &question, &yes());
    assert_refused(&client, &other, does_not_hold);
    for (name, value) in [("args", json!({ "a": "b" })), ("check_only", json!(true)), ("timeout", json!(7))] {
        let mut other = answered(&call, &question, &yes());
        other["arguments"][name] = value;
        assert_refused(&client, &other, does_not_hold);
    }
    // Damaged in one place, whichever it is.
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
    // A process does not know the states of another one.
    let another = Serve::http(&config()).start();
    assert_refused(&another.client().stateless(), &answered(&call, &question, &yes()), does_not_hold);
    drop(another);
    // For all of that, it still holds here.
    let answer = client.ask("tools/call", &answered(&call, &question, &yes()));
    assert_eq!(outcome_of(&answer)["result"], "let in", "{answer:#}");
    // Once.
    assert_refused(&client, &answered(&call, &question, &yes()), &["used already", "make the request again"]);
    drop(server);
}

/// A state that was made up, and a consent without one, are none.
#[test]
fn a_client_can_not_make_up_its_permission() {
    let (_server, client) = start();
    let call = program();
    let mut unasked = call.clone();
    unasked["inputResponses"] = json!({ "permission": yes() });
    asked(&client, &unasked);
    let mut made_up = unasked;
    made_up["requestState"] = json!("toolsmith.made-up");
    assert_refused(&client, &made_up, &["requestState does not hold"]);
    // That of another process has no mark of this one's, and is passed by: it is asked again.
    made_up["requestState"] = json!("somebody else's");
    asked(&client, &made_up);
}

/// What was allowed is what was asked about: a tool that is another one by now is asked about again.
#[test]
fn a_tool_that_has_changed_since_it_was_asked_about_is_asked_about_again() {
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("tools.json");
    let write = |text: &str| std::fs::write(&tools, json!({ "act": text }).to_string()).unwrap();
    write("Looks.");
    let described = |more: &str| {
        let fault = crate::harness::FAULT_SERVER;
        format!(
            "mcpServers:\n  faulty: {{ command: {fault:?}, args: [described, {tools:?}], permission: ask{more} }}\n"
        )
    };
    let server = Serve::http(&described("")).start();
    let client = server.client().stateless();
    let call = execute(&format!("// {}\nfaulty::act().message(\"let in\").await?.text()", unique()));
    let question = asked(&client, &call);
    write("Deletes.");
    // Another entry is another process, which has the tools of now.
    server.configure(&described(", env: { ANOTHER: start }"));
    server.tells("the configuration was read again");
    let described_anew = || {
        let describe = json!({ "name": "execute_code", "arguments": { "code": "describe_tools([\"faulty::act\"]).await?" } });
        client.ask("tools/call", &describe).to_string().contains("Deletes.")
    };
    server.wait_until("the tool of now", described_anew);
    let again = client.ask("tools/call", &answered(&call, &question, &yes()));
    assert_eq!(again["result"]["resultType"], "input_required", "{again:#}");
    let answer = client.ask("tools/call", &answered(&call, &again["result"], &yes()));
    assert_eq!(outcome_of(&answer)["result"], "let in", "{answer:#}");
}

#[test]
fn a_client_that_asks_nobody_is_told_what_to_configure() {
    let server = Serve::http(&config()).start();
    let client = server.client().shake_hands();
    let answer = client.ask("tools/call", &program());
    assert_eq!(outcome_of(&answer)["status"], "denied", "{answer:#}");
    assert_says(&answer["result"]["content"][0]["text"], &["faulty.echo", "elicitation", "allow"]);
}

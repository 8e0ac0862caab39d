//! `toolsmith serve` in a trace: what a client says in `_meta` of a call is told to the servers that are called.
//!
//! This is a build without export: there is no span of its own to put between, so the client's goes on as it came.

use serde_json::{Value, json};

use crate::harness::fault_entry;
use crate::serving::{Client, Serve, Server, execute, outcome_of};

/// What the server is told in `_meta` of a call, from a snippet and directly.
const NESTED: &str = "nested::echo().await?.text()";

/// A server that answers with the `_meta` of its request, for snippets and directly.
fn config() -> String {
    let nested = fault_entry("nested", "metadata", "    trust: true\n");
    let direct = fault_entry("direct", "metadata", "    trust: true\n    codeMode: false\n");
    format!("mcpServers:\n{nested}{direct}")
}

/// The context of a trace with this number.
fn context(number: u32) -> Value {
    json!({
        "traceparent": format!("00-4bf92f3577b34da6a3ce929d0e0e47{number:02}-00f067aa0ba902b7-01"),
        "tracestate": format!("rojo=00f067aa0ba9{number:04}"),
        "baggage": format!("user=alice,number={number}"),
    })
}

/// The parameters of a call with this in `_meta`.
fn with(mut call: Value, meta: &Value) -> Value {
    call["_meta"] = meta.clone();
    call
}

fn direct() -> Value {
    json!({ "name": "echo", "arguments": {} })
}

/// What the server was told, where its answer is that of the snippet or its own.
#[track_caller]
fn told(answer: &Value) -> Value {
    let outcome = outcome_of(&answer);
    let text = if outcome.is_object() { &outcome["result"] } else { &answer["result"]["content"][0]["text"] };
    let text = text.as_str().unwrap_or_else(|| panic!("no text: {answer:#}"));
    serde_json::from_str(text).unwrap()
}

/// The members of a trace's context.
fn of_trace(told: &Value) -> Value {
    let names = ["traceparent", "tracestate", "baggage"];
    names.iter().filter_map(|name| Some(((*name).to_owned(), told.get(name)?.clone()))).collect()
}

/// One trace after the other, then none: what was told with one request does not stick to the next.
#[track_caller]
fn assert_traces_go_through(mut ask: impl FnMut(Value) -> Value) {
    for number in [1, 2] {
        let mut meta = context(number);
        meta["example.com/own"] = json!(number);
        let nested = told(&ask(with(execute(NESTED), &meta)));
        assert_eq!(of_trace(&nested), context(number));
        assert_eq!(nested.get("example.com/own"), None, "a snippet's call is none of the client's: {nested}");
        let passed = told(&ask(with(direct(), &meta)));
        assert_eq!(of_trace(&passed), context(number));
        assert_eq!(passed["example.com/own"], number, "{passed}");
    }
    for call in [execute(NESTED), direct()] {
        assert_eq!(of_trace(&told(&ask(call))), json!({}));
    }
}

#[test]
fn a_clients_trace_goes_on_to_servers_by_pipes() {
    let mut server: Server = Serve::new(&config()).start();
    server.shake_hands();
    let mut id = 0;
    assert_traces_go_through(|call| {
        id += 1;
        server.ask(id, "tools/call", &call)
    });
}

#[test]
fn a_clients_trace_goes_on_to_servers_over_http() {
    let server = Serve::http(&config()).start();
    let clients: [Client; 2] = [server.client().shake_hands(), server.client().stateless()];
    for client in clients {
        assert_traces_go_through(|call| client.ask("tools/call", &call));
    }
}

/// A client's mistake must not fail its request. A direct call is passed through as it came, right or wrong.
#[test]
fn a_trace_that_is_not_well_formed_goes_no_further_than_a_snippet() {
    let mut server = Serve::new(&config()).start();
    server.shake_hands();
    let wrong = json!({ "traceparent": "00-0-0-01", "tracestate": "a=b", "baggage": "a=b" });
    let nested = told(&server.ask(1, "tools/call", &with(execute(NESTED), &wrong)));
    assert_eq!(of_trace(&nested), json!({ "baggage": "a=b" }));
    let passed = told(&server.ask(2, "tools/call", &with(direct(), &wrong)));
    assert_eq!(of_trace(&passed), wrong);
}

//! Tracing in `toolsmith serve`: the trace context in a client's `_meta` is forwarded to the servers that are called.
//!
//! This build has no trace export, so it adds no span and forwards the client's context unchanged.

use end_to_end::harness::fault_entry;
use end_to_end::serving::{Client, Serve, Server, execute, outcome_of};
use serde_json::{Value, json};

/// A snippet that returns the `_meta` that the server received.
const NESTED: &str = "nested::echo().await?.text()";

/// A server that answers with the `_meta` of its request, for snippets and for direct calls.
fn config() -> String {
    let nested = fault_entry("nested", "metadata", "    trust: true\n");
    let direct = fault_entry("direct", "metadata", "    trust: true\n    codeMode: false\n");
    format!("mcpServers:\n{nested}{direct}")
}

/// A trace context with this number.
fn context(number: u32) -> Value {
    json!({
        "traceparent": format!("00-4bf92f3577b34da6a3ce929d0e0e47{number:02}-00f067aa0ba902b7-01"),
        "tracestate": format!("rojo=00f067aa0ba9{number:04}"),
        "baggage": format!("user=alice,number={number}"),
    })
}

/// The parameters of a call with this `_meta`.
fn with(mut call: Value, meta: &Value) -> Value {
    call["_meta"] = meta.clone();
    call
}

fn direct() -> Value {
    json!({ "name": "echo", "arguments": {} })
}

/// The `_meta` that the server received, from the snippet's result or its direct answer.
#[track_caller]
fn received_meta(answer: &Value) -> Value {
    let outcome = outcome_of(answer);
    let text = if outcome.is_object() { &outcome["result"] } else { &answer["result"]["content"][0]["text"] };
    let text = text.as_str().unwrap_or_else(|| panic!("no text: {answer:#}"));
    serde_json::from_str(text).unwrap()
}

/// The members of a trace context.
fn of_trace(received_meta: &Value) -> Value {
    let names = ["traceparent", "tracestate", "baggage"];
    names.iter().filter_map(|name| Some(((*name).to_owned(), received_meta.get(name)?.clone()))).collect()
}

/// Several traces and then none: a request's context does not carry over to the next.
#[track_caller]
fn assert_traces_go_through(mut ask: impl FnMut(Value) -> Value) {
    for number in [1, 2] {
        let mut meta = context(number);
        meta["example.com/own"] = json!(number);
        let nested = received_meta(&ask(with(execute(NESTED), &meta)));
        assert_eq!(of_trace(&nested), context(number));
        assert_eq!(
            nested.get("example.com/own"),
            None,
            "a snippet's call has the client's `_meta`: {nested}"
        );
        let passed = received_meta(&ask(with(direct(), &meta)));
        assert_eq!(of_trace(&passed), context(number));
        assert_eq!(passed["example.com/own"], number, "{passed}");
    }
    for call in [execute(NESTED), direct()] {
        assert_eq!(of_trace(&received_meta(&ask(call))), json!({}));
    }
}

#[test]
fn a_clients_trace_reaches_servers_over_pipes() {
    let mut server: Server = Serve::new(&config()).start();
    server.shake_hands();
    let mut id = 0;
    assert_traces_go_through(|call| {
        id += 1;
        server.ask(id, "tools/call", &call)
    });
}

#[test]
fn a_clients_trace_reaches_servers_over_http() {
    let server = Serve::http(&config()).start();
    let clients: [Client; 2] = [server.client().shake_hands(), server.client().stateless()];
    for client in clients {
        assert_traces_go_through(|call| client.ask("tools/call", &call));
    }
}

/// A malformed context must not fail the request. Direct calls forward `_meta` unchanged, valid or not.
#[test]
fn a_malformed_trace_is_not_forwarded_from_a_snippet() {
    let mut server = Serve::new(&config()).start();
    server.shake_hands();
    let wrong = json!({ "traceparent": "00-0-0-01", "tracestate": "a=b", "baggage": "a=b" });
    let nested = received_meta(&server.ask(1, "tools/call", &with(execute(NESTED), &wrong)));
    assert_eq!(of_trace(&nested), json!({ "baggage": "a=b" }));
    let passed = received_meta(&server.ask(2, "tools/call", &with(direct(), &wrong)));
    assert_eq!(of_trace(&passed), wrong);
}

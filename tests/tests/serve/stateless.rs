//! `toolsmith serve --http` for stateless clients: what persists between requests.

use end_to_end::harness::fault_entry;
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use serde_json::json;

#[test]
fn outputs_can_be_read_by_their_client_only() {
    let server = Serve::http(&format!("{DEMO}serve: {{ output: 1KiB }}\n")).start();
    let client = server.client().stateless();
    let answer = client.ask("tools/call", &execute("for n in 0..10_000 { println!(\"{n}\"); }"));
    let uri = &outcome_of(&answer)["truncated"]["stdout_resource"];
    let read = client.ask("resources/read", &json!({ "uri": uri }));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().starts_with("0\n1\n"), "{read:#}");
    let listed = client.ask("resources/list", &json!({}));
    assert!(!listed.to_string().contains(uri.as_str().unwrap()), "{listed:#}");
    let other = server.client().shake_hands().ask("resources/read", &json!({ "uri": uri }));
    assert!(other["error"].is_object(), "{other:#}");
}

/// The execution pauses at the question and continues when the client retries.
#[test]
fn each_call_needs_its_own_permission() {
    let config = format!("mcpServers:\n{}", fault_entry("faulty", "sound", "    permission: ask-each\n"));
    let server = Serve::http(&config).start();
    let client = server.client().stateless();
    let call = execute(
        "let mut all = String::new(); for n in 0..3 { all += &faulty::echo().message(n.to_string()).await?.text(); } all",
    );
    let mut answer = client.ask("tools/call", &call);
    for number in 0..3 {
        let result = &answer["result"];
        assert_eq!(result["resultType"], "input_required", "{answer:#}");
        let (name, question) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert!(question.to_string().contains(&format!("\\\"{number}\\\"")), "{question}");
        let mut next = call.clone();
        next["requestState"] = result["requestState"].clone();
        next["inputResponses"] = json!({ name: { "action": "accept", "content": { "answer": "once" } } });
        answer = client.ask("tools/call", &next);
    }
    assert_eq!(outcome_of(&answer)["result"], "012", "{answer:#}");
}

//! What a client is told of a task while it goes on.

use serde_json::{Value, json};

use super::{NAME, model, serving};
use crate::serving::{DEMO, Server};

/// Calls the tool, and gives the answer with all that came before it.
fn told(server: &mut Server, meta: &Value) -> (Value, Vec<Value>) {
    let call = json!({ "name": NAME, "arguments": { "prompt": "go" }, "_meta": meta });
    server.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call }));
    let mut told = Vec::new();
    loop {
        let message = server.receive("what is told", |_| true);
        if message["id"] == 9 {
            return (message, told);
        }
        told.push(message);
    }
}

fn logged(told: &[Value]) -> Vec<&Value> {
    told.iter()
        .filter(|message| message["method"] == "notifications/message")
        .map(|log| &log["params"])
        .collect()
}

fn script() -> Value {
    json!([
        { "when": { "no_result": true }, "answers": [{
            "text": "let me see", "calls": [{ "name": "echo", "arguments": { "message": "hi" } }],
        }] },
        { "answers": [{ "text": "done" }] },
    ])
}

#[test]
fn a_client_is_told_what_happens_at_the_level_that_it_wants() {
    let model = model(&script());
    let mut server = serving(&model, "", &format!("{DEMO}codeMode: {{ enabled: false }}\n"));
    server.ask(1, "logging/setLevel", &json!({ "level": "debug" }));
    let meta = json!({ "io.toolsmith/parentRun": "parent-1", "progressToken": "p" });
    let (answer, all) = told(&mut server, &meta);
    let logged = logged(&all);
    let run = &answer["result"]["_meta"]["io.toolsmith/run"]["id"];
    let own =
        logged.iter().all(|log| log["logger"] == format!("subagent.{NAME}") && log["data"]["runId"] == *run);
    assert!(own, "{logged:#?}");
    let events: Vec<&str> = logged.iter().filter_map(|log| log["data"]["event"].as_str()).collect();
    let wanted = [
        "start",
        "message_saved",
        "response",
        "message_saved",
        "tool_call",
        "tool_result",
        "message_saved",
        "response",
        "message_saved",
        "end",
    ];
    assert_eq!(events, wanted, "{logged:#?}");
    let payload = |event: &str| {
        let log = logged.iter().find(|log| log["data"]["event"] == event).unwrap();
        &log["data"]["payload"]
    };
    assert_eq!(
        (&payload("start")["prompt"], &payload("start")["parentRun"]),
        (&json!("go"), &json!("parent-1"))
    );
    assert_eq!(payload("tool_call")["arguments"], json!({ "message": "hi" }));
    assert_eq!(
        (&payload("tool_result")["text"], &payload("tool_result")["isError"]),
        (&json!("hi"), &json!(false))
    );
    assert_eq!((&payload("end")["status"], &payload("end")["turns"]), (&json!("ok"), &json!(2)));
    let progress: Vec<f64> = all
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .filter_map(|message| message["params"]["progress"].as_f64())
        .collect();
    assert_eq!(progress, [1.0, 2.0, 3.0]);
}

#[test]
fn a_client_that_wants_errors_alone_is_told_of_nothing_else() {
    let model = model(&json!([
        { "when": { "turn": 0 }, "answers": [{ "text": "fine" }, { "status": 400, "message": "no" }] },
    ]));
    let mut server = serving(&model, "", "");
    server.ask(1, "logging/setLevel", &json!({ "level": "error" }));
    let (_, all) = told(&mut server, &json!({}));
    assert!(all.is_empty(), "{all:#?}");
    let (answer, all) = told(&mut server, &json!({}));
    let logged = logged(&all);
    assert_eq!((answer["result"]["isError"].as_bool(), logged.len()), (Some(true), 1), "{logged:#?}");
    assert_eq!((&logged[0]["level"], &logged[0]["data"]["event"]), (&json!("error"), &json!("end")));
}

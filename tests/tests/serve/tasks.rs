//! Tasks of clients (MCP extension `io.modelcontextprotocol/tasks`): executions, and calls of direct tools whose server
//! makes them tasks.

use end_to_end::harness::fault_entry;
use end_to_end::page::normal;
use end_to_end::serving::{Client, Gate, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A snippet that waits at the gate, and then calls a tool that needs permission.
const ASKING: &str =
    "gate::pass().message(\"first\").await?; faulty::echo().message(\"second\").await?.text()";

fn config(gate: &Gate) -> String {
    let faulty = fault_entry("faulty", "sound", "    permission: ask-each\n");
    format!("{}{faulty}serve: {{ answerBefore: 0.2 }}\n", gate.config())
}

/// The id of a task that was created.
#[track_caller]
pub(crate) fn id_of(answer: &Value) -> String {
    let task = &answer["result"];
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{answer:#}");
    assert_eq!((&task["ttlMs"], &task["pollIntervalMs"]), (&Value::Null, &json!(1000)));
    task["taskId"].as_str().unwrap().to_owned()
}

pub(crate) fn about(id: &str) -> Value {
    json!({ "taskId": id })
}

/// Polls until the status is not this one.
#[track_caller]
pub(crate) fn after(server: &Server, client: &Client, id: &str, status: &str) -> Value {
    let poll = || client.ask("tasks/get", &about(id))["result"].clone();
    server.wait_until("a change of the task", || poll()["status"] != status);
    poll()
}

#[test]
fn an_execution_runs_once_as_a_task_of_its_client() {
    let gate = Gate::new();
    let server = Serve::http(&config(&gate)).start();
    let client = server.client().with_tasks();
    let id = id_of(&client.ask("tools/call", &execute("gate::pass().message(\"x\").await?.text()")));
    let state = client.ask("tasks/get", &about(&id));
    assert_eq!(
        (&state["result"]["status"], &state["result"]["resultType"]),
        (&json!("working"), &json!("complete"))
    );
    server.wait_until("the call at the gate", || gate.arrived() == ["x"]);
    gate.open();
    let ended = after(&server, &client, &id, "working");
    assert_eq!(ended["status"], "completed", "{ended:#}");
    assert_eq!(outcome_of(&ended)["result"], "x");
    assert!(ended["ttlMs"].as_u64().unwrap() >= 600_000, "{ended:#}");
    // It stays the same, and what has ended can't be cancelled.
    let acknowledged = client.ask("tasks/cancel", &about(&id));
    assert_eq!(acknowledged["result"]["resultType"], "complete", "{acknowledged:#}");
    assert_eq!(client.ask("tasks/get", &about(&id))["result"], ended);
    assert_eq!(gate.arrived(), ["x"], "nothing runs twice");
}

#[test]
fn a_fast_execution_is_answered_at_once_and_others_only_to_clients_with_tasks() {
    let gate = Gate::new();
    let server = Serve::http(&config(&gate)).start();
    let fast = server.client().with_tasks().ask("tools/call", &execute("1 + 1"));
    if fast["result"]["resultType"] == "complete" {
        assert_eq!(outcome_of(&fast)["result"], 2, "{fast:#}");
    } else {
        id_of(&fast);
    }
    let plain = server.client().stateless();
    let running = plain.ask("tools/call", &execute("gate::pass().message(\"x\").await?.text()"));
    assert_eq!(outcome_of(&running)["status"], "running", "{running:#}");
    let refused = plain.ask("tasks/get", &about("x"));
    assert_eq!(
        refused["error"],
        json!({
            "code": -32021, "message": refused["error"]["message"],
            "data": { "requiredCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } } },
        })
    );
    gate.open();
}

#[test]
fn a_task_asks_its_client_and_goes_on_with_the_answer() {
    let gate = Gate::new();
    let server = Serve::http(&config(&gate)).start();
    let client = server.client().with_tasks();
    let id = id_of(&client.ask("tools/call", &execute(ASKING)));
    server.wait_until("the call at the gate", || gate.arrived() == ["first"]);
    gate.open();
    let asking = after(&server, &client, &id, "working");
    assert_eq!(asking["status"], "input_required", "{asking:#}");
    let (key, question) = asking["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert!(question["params"]["message"].as_str().unwrap().contains("faulty"), "{question:#}");
    let answer = json!({ "action": "accept", "content": { "answer": "once" } });
    let other = json!({ "taskId": id, "inputResponses": { "question-7": answer } });
    assert_eq!(client.ask("tasks/update", &other)["result"]["resultType"], "complete");
    assert_eq!(client.ask("tasks/get", &about(&id))["result"]["status"], "input_required");
    let update = json!({ "taskId": id, "inputResponses": { key: answer } });
    assert_eq!(client.ask("tasks/update", &update)["result"]["resultType"], "complete");
    server.wait_until("the end of the task", || {
        client.ask("tasks/get", &about(&id))["result"]["status"] == "completed"
    });
    assert_eq!(outcome_of(&client.ask("tasks/get", &about(&id))["result"])["result"], "second");
}

#[test]
fn a_task_is_cancelled_and_is_its_clients_alone() {
    let gate = Gate::new();
    let tokens = ["alice", "bob"].map(|name| {
        let hash = blake3::hash(format!("{name}-has-a-token-that-is-long-enough").as_bytes()).to_hex();
        format!("    {name}: {{ hash: \"blake3:{hash}\" }}\n")
    });
    let server = Serve::http(&format!("{}serve:\n  tokens:\n{}", gate.config(), tokens.concat())).start();
    let client = |name: &str| {
        server
            .client()
            .header("authorization", &format!("Bearer {name}-has-a-token-that-is-long-enough"))
            .with_tasks()
    };
    let alice = client("alice");
    let id = id_of(&alice.ask("tools/call", &execute("gate::pass().message(\"x\").await?.text()")));
    let mut shown = Vec::new();
    for (method, parameters) in [
        ("tasks/get", about(&id)),
        ("tasks/cancel", about(&id)),
        ("tasks/update", json!({ "taskId": id, "inputResponses": {} })),
    ] {
        let refused = client("bob").ask(method, &parameters);
        assert_eq!(refused["error"]["code"], -32602, "{refused:#}");
        shown.push(refused["error"]["message"].as_str().unwrap().replace(&id, "ID"));
    }
    shown.dedup();
    assert_snapshot!(normal(&shown.join("\n")), @r#"
    no task "ID" of yours is known to this process, which shares no state with others (serve.sharedState): it ended more than 600 s ago, or this server has restarted; it is not run again. What it did is in the user's history (`toolsmith history`)
    "#);
    assert_eq!(alice.ask("tasks/cancel", &about(&id))["result"]["resultType"], "complete");
    assert_eq!(after(&server, &alice, &id, "working")["status"], "cancelled");
}

#[test]
fn a_direct_tool_is_a_task_when_its_server_makes_it_one() {
    let fixture = format!(
        "mcpServers:\n  fixture: {{ command: {:?}, args: [--stateless], trust: true, codeMode: false }}\n",
        env!("CARGO_BIN_EXE_conformance-server")
    );
    let server = Serve::http(&fixture).start();
    let client = server.client().with_tasks();
    let call = |tool: &str, arguments: Value| {
        let tools = client.ask("tools/list", &json!({}));
        let named = |known: &&Value| known["name"].as_str().is_some_and(|name| name.ends_with(tool));
        let name = tools["result"]["tools"].as_array().unwrap().iter().find(named).unwrap()["name"].clone();
        client.ask("tools/call", &json!({ "name": name, "arguments": arguments }))
    };
    let id = id_of(&call("slow_compute", json!({ "seconds": 1, "label": "sums" })));
    let ended = after(&server, &client, &id, "working");
    assert_eq!(ended["result"]["content"][0]["text"], "computed sums in 1 s", "{ended:#}");
    let id = id_of(&call("protocol_error_job", json!({})));
    let failed = after(&server, &client, &id, "working");
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!(-32603)),
        "{failed:#}"
    );
    let greeted = call("greet", json!({ "name": "Ada" }));
    assert_eq!(greeted["result"]["content"][0]["text"], "Hello, Ada!", "{greeted:#}");
}

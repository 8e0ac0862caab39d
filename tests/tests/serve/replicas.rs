//! Several `toolsmith serve --http` with `serve.sharedState`: what a client without a session gets from any of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use end_to_end::fault_proxy::{Fault, FaultProxy};
use end_to_end::harness::fault_entry;
use end_to_end::page::normal;
use end_to_end::s3_server::{BUCKET, S3Server, variables};
use end_to_end::serving::{Client, DEMO, Serve, Server, answered, execute, outcome_of};
use insta::assert_snapshot;
use ring::signature::Ed25519KeyPair;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::tasks;

/// The tokens of the two subjects.
const SUBJECTS: [&str; 2] = ["alice", "bob"];

/// Replicas that share a store.
struct Replicas {
    servers: [Server; 2],
    store: FaultProxy,
    server: S3Server,
    _folder: TempDir,
}

impl Replicas {
    /// With these servers, and further keys of `serve` and of `serve.sharedState`.
    fn new(servers: &str, serve: &str, shared: &str) -> Self {
        let (server, folder) = (S3Server::start(), tempfile::tempdir().unwrap());
        let store = FaultProxy::start(server.address());
        let document = Ed25519KeyPair::generate_pkcs8(&ring::rand::SystemRandom::new()).unwrap();
        let body = STANDARD.encode(document.as_ref());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        let [key, secret] = ["key.pem", "secret"].map(|name| folder.path().join(name));
        for (file, text) in [(&key, pem), (&secret, "5e".repeat(32))] {
            fs::write(file, text).unwrap();
            fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let tokens = SUBJECTS.map(|name| {
            let hash = blake3::hash(token(name).as_bytes()).to_hex();
            format!("    {name}: {{ hash: \"blake3:{hash}\" }}\n")
        });
        let config = format!(
            "{servers}serve:\n{serve}  sharedState: {{ key: {{ file: {secret:?} }}{shared} }}\n  tokens:\n{}cache:\n  \
             remote: {{ url: \"s3://{BUCKET}/fleet\", timeout: 20, key: {{ file: {key:?} }} }}\n",
            tokens.concat()
        );
        let start = || {
            let serve = Serve::http(&config);
            let variables = variables(store.address());
            variables.iter().fold(serve, |serve, (name, value)| serve.variable(name, value)).start()
        };
        Replicas { servers: [start(), start()], store, server, _folder: folder }
    }

    /// A client of a subject at one of the replicas.
    fn client(&self, replica: usize, subject: &str) -> Client {
        let bearer = format!("Bearer {}", token(subject));
        self.servers[replica].client().header("authorization", &bearer).stateless()
    }
}

fn token(subject: &str) -> String {
    format!("{subject}-has-a-token-that-is-long-enough")
}

fn asking(permission: &str) -> String {
    // A server is identified by its folder too, and each of these replicas has its own.
    let permission = format!("    permission: {permission}\n    cwd: /\n");
    format!("mcpServers:\n{}", fault_entry("faulty", "sound", &permission))
}

#[test]
fn a_question_about_a_program_is_answered_at_any_replica_and_once() {
    let replicas = Replicas::new(&asking("ask"), "", "");
    let call = execute("faulty::echo().message(\"hello\").await?.text()");
    let next = answered(&call, &replicas.client(0, "alice").ask("tools/call", &call));
    let foreign = replicas.client(1, "bob").ask("tools/call", &next);
    assert_snapshot!(normal(&foreign["error"]["message"]), @r"
    the requestState is invalid: request state failed integrity verification; make the request again without it
    ");
    let answer = replicas.client(1, "alice").ask("tools/call", &next);
    assert_eq!(outcome_of(&answer)["result"], "hello", "{answer:#}");
    let mut shown = Vec::new();
    for replica in [0, 1] {
        let again = replicas.client(replica, "alice").ask("tools/call", &next);
        shown.push(normal(&again["error"]["message"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    the requestState was already used and is valid only once; make the request again without it
    the requestState was already used and is valid only once; make the request again without it
    ");
}

/// If nobody knows whether a state was used, it is not accepted.
#[test]
fn a_state_is_not_accepted_while_the_store_is_down() {
    let replicas = Replicas::new(&asking("ask"), "", "");
    let call = execute("faulty::echo().message(\"hello\").await?.text()");
    let next = answered(&call, &replicas.client(0, "alice").ask("tools/call", &call));
    replicas.store.set(Fault::Reset);
    let refused = replicas.client(1, "alice").ask("tools/call", &next);
    assert_snapshot!(normal(&refused["error"]["message"]), @r"
    it can't be found out whether another replica has used the requestState: the store can't be used: connection closed before message completed; try again later, or make the request again without it
    ");
    replicas.store.set(Fault::None);
    let marks = || replicas.server.objects("/v1/used/").len();
    assert_eq!(marks(), 0);
}

/// A running program can't move to another replica.
#[test]
fn a_question_of_a_running_program_is_answered_only_at_its_replica() {
    let replicas = Replicas::new(&asking("ask-each"), "", "");
    let call = execute("faulty::echo().message(\"hello\").await?.text()");
    let next = answered(&call, &replicas.client(0, "alice").ask("tools/call", &call));
    let refused = replicas.client(1, "alice").ask("tools/call", &next);
    assert_snapshot!(normal(&refused["error"]["message"]), @r"
    the program that asked this question has started, and waits on another replica of this server, if that still runs; send the request to that replica, or make the request again without requestState, which starts the program anew
    ");
    let answer = replicas.client(0, "alice").ask("tools/call", &next);
    assert_eq!(outcome_of(&answer)["result"], "hello", "{answer:#}");
}

/// A task is found at any replica; the work stays where it began, and runs once.
#[test]
fn a_task_is_polled_answered_and_cancelled_at_any_replica() {
    let replicas = Replicas::new(&asking("ask-each"), "  answerBefore: 0.01\n", "");
    let [here, there] = [0, 1].map(|replica| replicas.client(replica, "alice").with_tasks());
    // Compiling takes longer than the answer may take.
    let call = execute("faulty::echo().message(\"hello\").await?.text()");
    let id = tasks::id_of(&here.ask("tools/call", &call));
    let asking = tasks::after(&replicas.servers[1], &there, &id, "working");
    assert_eq!(asking["status"], "input_required", "{asking:#}");
    let foreign = replicas.client(1, "bob").with_tasks().ask("tasks/get", &tasks::about(&id));
    assert_eq!(foreign["error"]["code"], -32602, "{foreign:#}");
    let answer = json!({ "action": "accept", "content": { "answer": "once" } });
    let key = asking["inputRequests"].as_object().unwrap().keys().next().unwrap();
    there.ask("tasks/update", &json!({ "taskId": id, "inputResponses": { key: answer } }));
    for client in [&here, &there] {
        let poll = || client.ask("tasks/get", &tasks::about(&id))["result"].clone();
        replicas.servers[0].wait_until("the end of the task", || poll()["status"] == "completed");
        assert_eq!(outcome_of(&poll())["result"], "hello");
    }
    let waits = execute("tokio::time::sleep(std::time::Duration::from_secs(90)).await");
    let id = tasks::id_of(&here.ask("tools/call", &waits));
    let cancelled = there.ask("tasks/cancel", &tasks::about(&id));
    assert_eq!(cancelled["result"]["resultType"], "complete", "{cancelled:#}");
    let poll = || here.ask("tasks/get", &tasks::about(&id))["result"]["status"].clone();
    replicas.servers[0].wait_until("the cancellation", || poll() == "cancelled");
}

/// The call with a long output, and a reading of the output.
fn printed(client: &Client) -> Value {
    let answer = client.ask("tools/call", &execute("for n in 0..10_000 { println!(\"{n}\"); }"));
    let uri =
        outcome_of(&answer)["truncated"]["stdout_resource"].as_str().unwrap_or_else(|| panic!("{answer:#}"));
    json!({ "uri": format!("{uri}?offset=0&length=4") })
}

#[test]
fn outputs_are_read_at_any_replica_by_their_subject_only() {
    let replicas = Replicas::new(DEMO, "  output: 1KiB\n", "");
    let reading = printed(&replicas.client(0, "alice"));
    let mut shown = Vec::new();
    for replica in [1, 0, 1] {
        let read = replicas.client(replica, "alice").ask("resources/read", &reading);
        assert_eq!(read["result"]["contents"][0]["text"], "0\n1\n", "{read:#}");
        let other = replicas.client(replica, "bob").ask("resources/read", &reading);
        shown.push(normal(&other["error"]["message"]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith://executions/[id]/stdout was not found: the last 512 outputs are kept, for their session only; run the snippet again
    toolsmith://executions/[id]/stdout was not found: the last 512 outputs are kept, for their session only; run the snippet again
    toolsmith://executions/[id]/stdout was not found: the last 512 outputs are kept, for their session only; run the snippet again
    ");
    // The store has neither the text nor the address.
    let objects = replicas.server.objects("/v1/outputs/");
    let stored: Vec<u8> = objects.iter().flat_map(|file| fs::read(file).unwrap()).collect();
    assert!(stored.len() > 40_000 && !stored.windows(8).any(|part| part == b"998\n999\n"));
}

#[test]
fn outputs_can_not_be_read_from_the_store_after_their_lifetime() {
    let replicas = Replicas::new(DEMO, "  output: 1KiB\n", ", outputLifetime: 0.000001");
    let reading = printed(&replicas.client(0, "alice"));
    assert!(!replicas.server.objects("/v1/outputs/").is_empty());
    let read = replicas.client(1, "alice").ask("resources/read", &reading);
    assert_snapshot!(normal(&read["error"]["message"]), @r"
    toolsmith://executions/[id]/stdout was not found: the last 512 outputs are kept, for their session only; run the snippet again
    ");
}

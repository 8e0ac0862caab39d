//! Queues between a flooding writer and a slow reader are bounded in bytes, and the reader can continue afterwards. The
//! bench `floods` measures every channel; these tests cover channels where floods once used excessive memory.

use end_to_end::cache::json as run;
use end_to_end::harness::{Run, fault_entry};
use end_to_end::page::normal;
use end_to_end::serving::{Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// Limits on memory above idle, in bytes: during a flood of messages, and during one of frames of 30 MiB.
const MESSAGES_LIMIT: u64 = 16 << 20;
const FRAMES_LIMIT: u64 = 64 << 20;

/// The server that floods, called directly and by programs. Called directly, it gets as long as a busy machine needs.
fn config(direct: bool) -> String {
    let direct =
        if direct { "    codeMode: false\n    pingInterval: 0\n    requestTimeout: 0\n" } else { "" };
    format!("mcpServers:\n{}    trust: true\n", fault_entry("faulty", "flood", direct))
}

/// Starts a server; returns it with its memory after the first answer.
fn served(config: &str, first: &Value) -> (Server, u64) {
    let mut server = Serve::new(config).arguments(&["-v"]).start();
    server.shake_hands();
    server.ask(1, "logging/setLevel", &json!({ "level": "debug" }));
    server.ask(2, "tools/call", first);
    let idle = server.peak_memory();
    (server, idle)
}

fn echo(message: &str) -> Value {
    json!({ "name": "echo", "arguments": { "message": message }, "_meta": { "progressToken": message } })
}

/// Makes a call and reads nothing until standard error reports its end; then returns the messages before the answer.
#[track_caller]
fn flooded(server: &mut Server, idle: u64, limit: u64, call: &Value) -> Vec<Value> {
    server.unread(|server| {
        server.send(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": call }));
        server.wait_for_log("flooded");
    });
    server.receive("the answer", |message| message["id"] == 3 && message["method"].is_null());
    let mut before = Vec::new();
    while let Some(message) = server.received(|message| message["method"].is_string()) {
        before.push(message);
    }
    let above = server.peak_memory().saturating_sub(idle);
    assert!(above <= limit, "{} MiB above idle", above >> 20);
    before
}

/// Asserts that the server is still called.
#[track_caller]
fn assert_answers(server: &mut Server) {
    let answer = server.ask(4, "tools/call", &echo("on"));
    assert_eq!(answer["result"]["content"][0]["text"], "on", "{answer}");
}

#[test]
fn log_messages_that_a_client_does_not_read_are_cut_and_counted() {
    let (mut server, idle) = served(&config(true), &echo("ready"));
    let mut messages = flooded(&mut server, idle, MESSAGES_LIMIT, &echo("log 1000 100000"));
    let counts = |message: &Value| {
        message["params"]["data"]
            .as_str()
            .is_some_and(|text| text.starts_with("left out ") && text.contains(" messages here"))
    };
    // Log messages and answers are sent independently of each other.
    if !messages.iter().any(counts) {
        messages.push(server.receive("how many were left out", counts));
    }
    let texts: Vec<&str> = messages.iter().filter_map(|message| message["params"]["data"].as_str()).collect();
    assert!(texts.iter().any(|text| text.ends_with(" bytes are left out]")), "{} messages", texts.len());
    assert!(texts.len() < 1_000 && texts.iter().all(|text| text.len() < 64 << 10));
    assert_answers(&mut server);
}

#[test]
fn requests_beyond_the_pending_limit_are_rejected() {
    let (mut server, idle) = served(&config(true), &echo("ready"));
    flooded(&mut server, idle, MESSAGES_LIMIT, &echo("elicit 1000 40000"));
    assert_answers(&mut server);
}

/// Writes frames that the bridge would not send, and then the end of the flood.
const PROGRESS: &str = r#"
use std::io::Write as _;
use std::os::fd::FromRawFd as _;
let socket = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(3) });
let mut socket = socket.try_clone()?;
let text = format!("{{\"progress\":{{\"done\":1.0,\"total\":1.0,\"message\":\"{}\"}}}}", "x".repeat(30 << 20));
for _ in 0..6 {
    socket.write_all(&(text.len() as u32).to_be_bytes())?;
    socket.write_all(text.as_bytes())?;
}
faulty::echo().message("stderr 1 1").await?;
7
"#;

#[test]
fn progress_frames_that_a_client_does_not_read_take_no_memory() {
    let (mut server, idle) = served(&config(false), &execute("6"));
    let mut call = execute(PROGRESS);
    call["_meta"] = json!({ "progressToken": 1 });
    let before = flooded(&mut server, idle, FRAMES_LIMIT, &call);
    assert!(before.iter().all(|message| message.to_string().len() < 8 << 10), "a message was not cut");
    assert_eq!(outcome_of(&server.ask(4, "tools/call", &execute("8")))["result"], 8);
}

/// Makes calls by hand before the bridge's `main` starts, and reads the given number of answers.
const CALLS: &str = r#"
use std::io::{Read as _, Write as _};
use std::os::fd::FromRawFd as _;

fn receive(socket: &mut std::fs::File) -> Vec<u8> {
    let mut length = [0; 4];
    socket.read_exact(&mut length).unwrap();
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    socket.read_exact(&mut frame).unwrap();
    frame
}

extern "C" fn speak() {
    let mut socket = std::mem::ManuallyDrop::new(unsafe { std::fs::File::from_raw_fd(3) });
    let welcome: Value = serde_json::from_slice(&receive(&mut socket)).unwrap();
    let welcome = &welcome["welcome"];
    let mut say = |message: Value| {
        let text = message.to_string();
        socket.write_all(&(text.len() as u32).to_be_bytes()).unwrap();
        socket.write_all(text.as_bytes()).unwrap();
    };
    say(json!({ "hello": { "version": welcome["version"], "token": welcome["token"] } }));
    for id in 0..8 {
        let arguments = json!({ "message": format!("answer 1 {}", welcome["args"]["bytes"].as_str().unwrap()) });
        say(json!({ "call": { "id": id, "tool": "IDENTITY", "arguments": arguments } }));
    }
    if welcome["args"]["reads"] == "none" {
        loop { std::thread::park() }
    }
    let large = (0..8).filter(|_| receive(&mut socket).len() > 1 << 20).count();
    println!("{large} large answers");
    std::process::exit(0);
}
#[used]
#[unsafe(link_section = ".init_array")]
static SPEAK: extern "C" fn() = speak;
faulty::echo().await?.text()
"#;

/// A program that makes 8 calls with answers of `bytes` bytes, and reads the number of answers in `reads`.
fn calls(reads: &str, bytes: usize) -> Run {
    let schema = json!({ "type": "object", "properties": { "message": { "type": "string" } } });
    let tool = codegen::Tool {
        name: "echo".to_owned(),
        description: None,
        input_schema: schema,
        output_schema: None,
        answers: codegen::Answers::default(),
    };
    let server = codegen::Server { name: "faulty".to_owned(), tools: vec![tool] };
    let identity = codegen::generate(&server, "faulty").tools[0].id.clone();
    run(&CALLS.replace("IDENTITY", &identity)).config(&config(false)).arguments(&[
        "--arg",
        &format!("reads={reads}"),
        "--arg",
        &format!("bytes={bytes}"),
    ])
}

#[test]
fn unread_answers_stay_with_their_server() {
    let idle = run("7").config(&config(false)).start();
    let idle_peak = idle.peak_memory();
    idle.done().exits(0);
    let started = calls("none", 16_773_120).arguments(&["--timeout", "10"]).start();
    let above = started.peak_memory().saturating_sub(idle_peak);
    let outcome = started.done().expect("timeout", 4);
    assert_eq!(outcome["calls_total"], 8, "{outcome:#}");
    assert!(above <= FRAMES_LIMIT, "{} MiB above idle", above >> 20);
}

#[test]
fn delayed_answers_all_arrive() {
    let outcome = calls("all", 4 << 20).expect("ok", 0);
    assert_eq!(outcome["stdout"], "8 large answers\n");
}

/// More calls than the window, all dropped: each is in the outcome, and the next one succeeds.
#[test]
fn dropped_calls_do_not_block_later_ones() {
    for count in [256_usize, 300] {
        let code = format!(
            "use std::time::Duration;\n\
             let calls = futures::future::join_all((0..{count}).map(|_| demo::slow(600.0)));\n\
             let late = tokio::time::timeout(Duration::from_millis(10), calls).await;\n\
             (late.is_err(), demo::echo(\"after\").await?.text())"
        );
        let outcome = run(&code).expect("ok", 0);
        assert_eq!(outcome["result"], serde_json::json!([true, "after"]), "{outcome:#}");
        // Some calls beyond the window may be made before they are dropped.
        let calls = outcome["calls"].as_array().unwrap();
        assert!((257..=count + 1).contains(&calls.len()), "{outcome:#}");
        assert_eq!(outcome["calls_total"], calls.len());
        let given_up = calls.iter().filter(|call| call["tool"] == "slow" && call["ok"] == false);
        assert_eq!(given_up.count(), calls.len() - 1, "{outcome:#}");
    }
}

/// Endless progress must not delay the time limit.
#[test]
fn endless_progress_does_not_delay_a_direct_calls_timeout() {
    let more = "    codeMode: false\n    trust: true\n    timeout: 1\n    requestTimeout: 0.1\n";
    let config = format!("mcpServers:\n{}", fault_entry("faulty", "progress-without-end", more));
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let answer = server.ask(1, "tools/call", &echo("x"));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_snapshot!(normal(&text), @r"
    MCP server `faulty`: the answer of tool `echo` took longer than 2 s; the request was cancelled; raise `requestTimeout` if the tool needs longer
    ");
}

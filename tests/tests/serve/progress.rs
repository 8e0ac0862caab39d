//! `toolsmith serve` sends an execution's progress and its program's log messages, if the client requests them.

use end_to_end::harness::{assert_says, unique};
use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of};
use serde_json::{Value, json};

/// Reports progress between calls, which take longer than the minimum interval between two notifications.
const WORKS: &str = "progress(1, 4, \"a quarter\");\nfor _ in 0..2 { demo::slow(0.3).await?; }\n\
                     progress(2, 4, \"half\");\ndemo::slow(0.3).await?;\nprogress(4, 4, \"all of it\");";

/// Notifications of a method before the answer to `id`, and the answer.
#[track_caller]
fn notified(server: &mut Server, id: u32, method: &str) -> (Vec<Value>, Value) {
    let answer = server.receive("the answer", |message| message["id"] == id && message["method"].is_null());
    let mut found = Vec::new();
    // The answer is the last message, so all earlier ones have arrived.
    while let Some(message) = server.received(|message| message["method"] == method) {
        found.push(message["params"].clone());
    }
    (found, answer)
}

fn values(reports: &[Value]) -> Vec<f64> {
    reports.iter().map(|report| report["progress"].as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_increases(reports: &[Value]) {
    let values = values(reports);
    assert!(values.windows(2).all(|pair| pair[0] < pair[1]), "{reports:#?}");
}

#[test]
fn progress_covers_the_phases_and_always_increases() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    let mut call = execute(&format!("// {}\n{WORKS}", unique()));
    call["_meta"] = json!({ "progressToken": "a token" });
    let answer = server.ask(1, "tools/call", &call);
    assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    let (reports, _) = {
        server.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" }));
        notified(&mut server, 2, "notifications/progress")
    };
    assert!(reports.iter().all(|report| report["progressToken"] == "a token"), "{reports:#?}");
    assert_increases(&reports);
    let messages: Vec<&str> = reports.iter().map(|report| report["message"].as_str().unwrap()).collect();
    let expected = [
        "checking",
        "compiling",
        "connecting",
        "checking permissions",
        "running",
        "1 of 4 a quarter",
        "1 call done",
        "2 calls done",
        "3 calls done",
        "4 of 4 all of it",
    ];
    // In the first session of a process, the toolchain may be busy, and a compiler may wait for others; "half" is sent right after a call.
    let logs_of: Vec<&str> = messages
        .into_iter()
        .filter(|message| {
            !message.contains("toolchain")
                && !message.starts_with("waiting for ")
                && *message != "2 of 4 half"
        })
        .collect();
    assert_eq!(logs_of, expected);
    let total = |message: &str| {
        let report = reports.iter().find(|report| report["message"] == message).unwrap();
        report["total"].as_f64().unwrap() - report["progress"].as_f64().unwrap()
    };
    assert_eq!((total("1 of 4 a quarter"), total("4 of 4 all of it")), (3.0, 0.0));
}

/// The first execution waits for the toolchain and reports that before the first phase; no value is repeated.
#[test]
fn progress_increases_from_the_first_message_on() {
    let gate = end_to_end::serving::Gate::new();
    let config = format!("{}serve: {{ maxExecutions: 1 }}\n", gate.config());
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let holds = execute("gate::pass().message(\"first\").await?;");
    server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": holds }));
    server.wait_until("the first at the gate", || gate.arrived().len() == 1);
    let mut call = execute("6 * 7");
    call["_meta"] = json!({ "progressToken": 7 });
    server.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }));
    let first = server.receive("a message", |message| message["method"] == "notifications/progress");
    gate.open();
    let (mut reports, answer) = notified(&mut server, 2, "notifications/progress");
    reports.insert(0, first["params"].clone());
    assert_eq!(outcome_of(&answer)["result"], 42, "{answer:#}");
    let messages: Vec<&Value> = reports.iter().take(2).map(|report| &report["message"]).collect();
    assert_eq!(messages, ["waiting for its turn", "checking"]);
    assert_increases(&reports);
}

#[test]
fn progress_is_sent_only_if_requested() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    server.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": execute(WORKS) }));
    let (reports, answer) = notified(&mut server, 1, "notifications/progress");
    assert_eq!(outcome_of(&answer)["status"], "ok", "{answer:#}");
    assert_eq!(reports, Vec::<Value>::new());
}

/// Writes two lines, the last without a newline; makes a call, and one that fails.
const TALKS: &str = "eprintln!(\"a line\");\neprint!(\"no end\");\ndemo::echo(\"x\").await?;\n\
                     demo::get_customer(\"absent\").await.is_err()";

/// The log messages of [`TALKS`]: level, logger and data.
#[track_caller]
fn logs_of(server: &mut Server, id: u32) -> Vec<(String, String, Value)> {
    server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": execute(TALKS) }));
    let (messages, answer) = notified(server, id, "notifications/message");
    assert_eq!(outcome_of(&answer)["result"], true, "{answer:#}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of = |message: &Value| (text(&message["level"]), text(&message["logger"]), message["data"].clone());
    messages.iter().map(of).filter(|(_, logger, _)| logger == "program" || logger == "calls").collect()
}

#[test]
fn standard_error_is_logged_at_the_requested_level() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    let mut id = 10;
    for (level, lines, calls) in [
        (None, 2, vec!["info", "warning"]),
        (Some("warning"), 0, vec!["warning"]),
        (Some("error"), 0, vec![]),
        (Some("debug"), 2, vec!["info", "warning"]),
    ] {
        if let Some(level) = level {
            let answer = server.ask(id, "logging/setLevel", &json!({ "level": level }));
            assert_eq!(answer["result"], json!({}), "{answer:#}");
        }
        let logs_of = logs_of(&mut server, id + 1);
        id += 2;
        let program: Vec<_> = logs_of.iter().filter(|(_, logger, _)| logger == "program").collect();
        let line = |text: &str| ("info".to_owned(), "program".to_owned(), json!(text));
        assert_eq!(
            program,
            [line("a line"), line("no end")].iter().take(lines).collect::<Vec<_>>(),
            "{level:?}"
        );
        let of_calls: Vec<_> = logs_of.iter().filter(|(_, logger, _)| logger == "calls").collect();
        let levels: Vec<&str> = of_calls.iter().map(|(level, _, _)| level.as_str()).collect();
        assert_eq!(levels, calls, "{level:?}: {logs_of:#?}");
        if let Some((_, _, data)) = of_calls.last() {
            assert_eq!((&data["call"], &data["ok"]), (&json!("demo.get_customer"), &json!(false)));
        }
    }
}

/// Without a session, each request sets its log level; without a level, nothing is logged.
#[test]
fn a_stateless_client_sets_the_level_in_each_request() {
    let server = Serve::http(DEMO).start();
    let client = server.client().stateless();
    for (level, logs) in [(None, 0), (Some("info"), 4), (Some("warning"), 1)] {
        let mut call = execute(TALKS);
        call["_meta"] = json!({ "progressToken": 1 });
        if let Some(level) = level {
            call["_meta"]["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        let mut answering = client.begin("tools/call", &call);
        let (mut messages, mut reports) = (Vec::new(), Vec::new());
        let answer = loop {
            let message = answering.next().unwrap();
            match message["method"].as_str() {
                Some("notifications/message") => messages.push(message["params"].clone()),
                Some("notifications/progress") => reports.push(message["params"].clone()),
                _ => break message,
            }
        };
        assert_eq!(outcome_of(&answer)["result"], true, "{answer:#}");
        assert_eq!(messages.len(), logs, "{level:?}: {messages:#?}");
        assert_increases(&reports);
        assert_says(&json!(reports), &["checking", "running"]);
    }
}

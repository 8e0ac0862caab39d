//! Answers of `toolsmith serve`, and the parts that clients pass to models.

use end_to_end::page::normal;
use end_to_end::reductions::{CONFIG, KINDS, Kind, REDUCTIONS};
use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

const OWN: [&str; 3] = ["execute_code", "search_tools", "describe_tools"];

/// The demo server in code mode, whose tools do not all fit into the description, and a server with direct tools.
/// Lists wait for both, however busy the machine is.
fn config(serve: &str) -> String {
    let direct = env!("CARGO_BIN_EXE_conformance-server");
    format!(
        "{DEMO}  direct: {{ command: {direct:?}, codeMode: false, trust: true }}\nserve: {{ descriptionTokens: 1, listWait: 50{serve} }}\n"
    )
}

fn tool(listed: &Value, name: &str) -> Value {
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}: {listed:#}")).clone()
}

fn start(config: &str) -> Server {
    let mut server = Serve::new(config).start();
    server.shake_hands();
    server
}

#[test]
fn own_tools_answer_only_with_content_and_direct_ones_like_their_server() {
    let mut server = start(&config(""));
    let listed = server.ask(1, "tools/list", &json!({}));
    for name in OWN {
        assert!(tool(&listed, name).get("outputSchema").is_none(), "{name}: {listed:#}");
    }
    assert_eq!(tool(&listed, "test_structured_content")["outputSchema"]["type"], "object");
    let calls = [
        execute("println!(\"printed\");\n6 * 7"),
        execute("let wrong: u32 = \"text\";\nwrong"),
        json!({ "name": "search_tools", "arguments": { "query": "echo" } }),
        json!({ "name": "describe_tools", "arguments": { "tools": ["demo.echo"] } }),
        json!({ "name": "execute_code", "arguments": {} }),
    ];
    for (id, call) in (2..).zip(&calls) {
        let answer = server.ask(id, "tools/call", call);
        assert!(answer["result"].get("structuredContent").is_none(), "{answer:#}");
        assert!(answer["result"]["content"][0]["text"].is_string(), "{answer:#}");
    }
    let answer = server.ask(10, "tools/call", &calls[0]);
    assert_eq!(
        (&outcome_of(&answer)["result"], &outcome_of(&answer)["stdout"]),
        (&json!(42), &json!("printed\n"))
    );
    let direct = json!({ "name": "test_structured_content", "arguments": { "text": "a b" } });
    let answer = server.ask(11, "tools/call", &direct);
    assert_eq!(answer["result"]["structuredContent"], json!({ "characters": 3, "words": 2 }), "{answer:#}");
}

#[test]
fn structured_outcomes_are_optional_and_match_their_schema() {
    let mut server = start(&config(", structuredOutcome: true"));
    let listed = server.ask(1, "tools/list", &json!({}));
    let schema = &tool(&listed, "execute_code")["outputSchema"];
    for (id, code) in (2..).zip(["6 * 7", "let wrong: u32 = \"text\";\nwrong"]) {
        let answer = server.ask(id, "tools/call", &execute(code));
        let structured = &answer["result"]["structuredContent"];
        assert_eq!(structured, outcome_of(&answer), "{answer:#}");
        for name in schema["properties"].as_object().unwrap().keys() {
            assert!(structured.get(name).is_some(), "{name}: {answer:#}");
        }
    }
    assert!(tool(&listed, "search_tools").get("outputSchema").is_none());
    assert!(tool(&listed, "describe_tools").get("outputSchema").is_none());
}

#[test]
fn a_timeout_above_the_limit_is_lowered_with_a_note() {
    let mut server = start(&format!("{DEMO}codeMode: {{ timeout: 20, maxTimeout: 30 }}\n"));
    let note = "note: timeout 90.5 s was lowered to 30 s, the limit of codeMode.maxTimeout";
    for (id, code, timeout, is_lowered) in [
        (1, "6 * 7", 90.5, true),
        (2, "let wrong: u32 = \"text\";\nwrong", 90.5, true),
        (3, "6 * 7", 30.0, false),
    ] {
        let mut call = execute(code);
        call["arguments"]["timeout"] = json!(timeout);
        let answer = server.ask(id, "tools/call", &call);
        let content = answer["result"]["content"].as_array().unwrap();
        // A note about a server that still starts may follow.
        assert_eq!(content.iter().any(|part| part["text"] == note), is_lowered, "{answer:#}");
        assert_eq!(answer.to_string().matches("maxTimeout").count(), usize::from(is_lowered), "{answer:#}");
    }
}

/// The answer to the last call.
fn answer_of(server: &mut Server, kind: &Kind) -> Value {
    let calls = kind.calls().into_iter().map(|call| json!({ "name": "execute_code", "arguments": call }));
    calls.zip(1..).map(|(call, id)| server.ask(id, "tools/call", &call)).last().unwrap()
}

#[test]
fn every_reduction_keeps_what_a_model_needs() {
    let mut server = start(CONFIG);
    let mut lacking = Vec::new();
    for kind in &KINDS {
        let answer = answer_of(&mut server, kind);
        for reduction in &REDUCTIONS {
            let lacks = kind.lacks(reduction, &answer["result"]);
            if !lacks.is_empty() {
                lacking.push(format!("{}, {}: {lacks:?} of {answer:#}", kind.name, reduction.name));
            }
        }
    }
    assert!(lacking.is_empty(), "{}", lacking.join("\n"));
}

#[test]
fn structured_outcomes_hide_emitted_content_in_some_clients() {
    let mut server = start(&CONFIG.replace("serve: {", "serve: { structuredOutcome: true,"));
    let kind = KINDS.iter().find(|kind| kind.name == "emitted image and text").unwrap();
    let answer = answer_of(&mut server, kind);
    let lacks = |reduction: &str| {
        let reduction = REDUCTIONS.iter().find(|known| known.name == reduction).unwrap();
        kind.lacks(reduction, &answer["result"])
    };
    assert!(lacks("structured content wins").contains(&"hello-text"), "{answer:#}");
    assert!(lacks("content wins").is_empty(), "{answer:#}");
}

#[test]
fn refused_calls_are_counted_separately() {
    let mut server = start(DEMO);
    let code = "demo::echo(\"a\").await?;\nlet _ = demo::list_orders().limit(99).await;\nbail!(\"no more\")";
    let answer = server.ask(1, "tools/call", &execute(code));
    let outcome = outcome_of(&answer);
    assert_eq!(
        (&outcome["calls_total"], &outcome["calls_refused"]["invalid"]),
        (&json!(1), &json!(1)),
        "{answer:#}"
    );
    assert_eq!(outcome["calls"].as_array().unwrap().len(), 1, "{answer:#}");
    let text = "the snippet failed: no more (line 3, column 1); 1 tool call was made; 1 call was refused";
    assert_eq!(answer["result"]["content"][0]["text"], text, "{answer:#}");
}

#[test]
fn a_timeout_out_of_range_is_reported_with_both_bounds() {
    let mut server = start(DEMO);
    let mut shown = Vec::new();
    for (id, timeout) in (1..).zip([json!(0), json!(-1), json!(86_401)]) {
        let call = json!({ "name": "execute_code", "arguments": { "code": "1", "timeout": timeout } });
        let answer = server.ask(id, "tools/call", &call);
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        shown.push(normal(&text));
    }
    assert_snapshot!(shown.join("\n"), @r"
    timeout: 0 is out of range: more than 0, at most 86400 seconds
    timeout: -1 is out of range: more than 0, at most 86400 seconds
    timeout: 86401 is out of range: more than 0, at most 86400 seconds
    ");
}

/// The whole text that a result's link refers to.
fn whole(server: &mut Server, id: u32, answer: &Value, part: &str) -> String {
    let truncated = &outcome_of(answer)["truncated"];
    assert_eq!(truncated[part], true, "{truncated:#}");
    let uri = &truncated[format!("{part}_resource")];
    let read = server.ask(id, "resources/read", &json!({ "uri": uri }));
    read["result"]["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read:#}")).to_owned()
}

#[test]
fn many_short_lines_are_whole_while_there_is_room() {
    let mut server = start(DEMO);
    let code = "let words: Vec<String> = (0..1_000).map(|n| format!(\"word {n:03}\")).collect();\n\
                for word in &words { println!(\"{word}\"); }\nwords";
    let answer = server.ask(1, "tools/call", &execute(code));
    let outcome = outcome_of(&answer);
    assert_eq!(outcome["truncated"], json!({ "stdout": false, "stderr": false }));
    let words: Vec<String> = (0..1_000).map(|n| format!("word {n:03}")).collect();
    let text = format!("{}\n\nresult: {}", words.join("\n"), json!(words));
    assert_eq!(answer["result"]["content"], json!([{ "type": "text", "text": text }]));
}

#[test]
fn what_is_cut_is_named_with_the_resource_that_has_it_all() {
    let mut server = start(&format!("{DEMO}serve: {{ output: 4KiB }}\n"));
    let code = "for _ in 0..100 { demo::echo(\"x\").await?; }\nprintln!(\"{}\", \"y\".repeat(5_000));\nvec![1; 3_000]";
    let answer = server.ask(1, "tools/call", &execute(code));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!((3_500..5_500).contains(&text.len()), "{} bytes", text.len());
    assert!(outcome_of(&answer)["calls"].as_array().unwrap().len() < 30, "{answer:#}");
    let calls = whole(&mut server, 2, &answer, "calls");
    assert_eq!(serde_json::from_str::<Vec<Value>>(&calls).unwrap().len(), 100);
    assert_eq!(whole(&mut server, 3, &answer, "stdout"), "y".repeat(5_000));
    assert_eq!(whole(&mut server, 4, &answer, "result"), json!(vec![1; 3_000]).to_string());
    let answer =
        server.ask(5, "tools/call", &execute("println!(\"{}\", \"y\".repeat(3_000));\n\"z\".repeat(500)"));
    assert_eq!(outcome_of(&answer)["truncated"], json!({ "stdout": false, "stderr": false }));
}

#[test]
fn a_malformed_handshake_is_refused_with_its_fault_and_can_be_repeated() {
    let mut server = Serve::new(DEMO).start();
    let info = json!({ "name": "tests", "version": "1" });
    for (id, parameters, fault) in [
        (1, json!({}), "`params.protocolVersion` is missing"),
        (2, json!([]), "`params` is not an object"),
        (
            3,
            json!({ "protocolVersion": 1, "capabilities": {}, "clientInfo": info }),
            "`params.protocolVersion`: invalid type",
        ),
        (
            4,
            json!({ "protocolVersion": "2025-06-18", "clientInfo": info }),
            "`params.capabilities` is missing",
        ),
        (5, json!({ "protocolVersion": "2025-06-18", "capabilities": {} }), "`params.clientInfo` is missing"),
    ] {
        let answer = server.ask(id, "initialize", &parameters);
        assert_eq!(answer["error"]["code"], -32_602, "{answer:#}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("initialize is malformed: {fault}")), "{message}");
    }
    server.shake_hands();
    let answer = server.ask(6, "tools/call", &execute("6 * 7"));
    assert_eq!(outcome_of(&answer)["result"], 42);
}

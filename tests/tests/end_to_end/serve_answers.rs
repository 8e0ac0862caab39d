//! What `toolsmith serve` answers, and what clients leave of it for a model.

use serde_json::{Value, json};

use crate::serving::{DEMO, Serve, Server, execute, outcome_of};

const OWN: [&str; 3] = ["execute_code", "search_tools", "describe_tools"];

/// The demo server in code mode, all of whose tools do not fit into a description, and a server whose tools are direct.
fn config(serve: &str) -> String {
    let direct = env!("CARGO_BIN_EXE_conformance-server");
    format!(
        "{DEMO}  direct: {{ command: {direct:?}, codeMode: false, trust: true }}\nserve: {{ descriptionTokens: 1{serve} }}\n"
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
fn own_tools_answer_with_content_alone_and_direct_ones_as_their_server_does() {
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
fn who_asks_for_structured_outcomes_gets_them_by_their_schema() {
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

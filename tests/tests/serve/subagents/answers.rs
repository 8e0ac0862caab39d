//! A subagent's tool: its definition, arguments and answers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use end_to_end::page::normal;
use end_to_end::scripted::{NAME, described, model, task};
use end_to_end::serving::Serve;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{failure, serving, text};

/// The schema of a structured answer.
const SCHEMA: &str =
    r#"{ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }"#;

#[test]
fn there_is_one_tool_and_its_answer_is_the_models_last_text() {
    let model =
        model(&json!([{ "when": { "user": "greet" }, "answers": [{ "text": "hello {{word:greet}}" }] }]));
    let mut server = serving(&model, "", "");
    let listed = server.ask(1, "tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1, "{listed:#}");
    assert_eq!((&tools[0]["name"], &tools[0]["description"]), (&json!(NAME), &json!("It helps.")));
    assert_eq!(tools[0]["inputSchema"]["required"], json!(["prompt"]));
    assert_eq!(tools[0]["inputSchema"]["additionalProperties"], false);
    assert!(tools[0].get("outputSchema").is_none(), "{listed:#}");
    let answer = server.ask(2, "tools/call", &task("greet anna"));
    assert_eq!((text(&answer), &answer["result"]["isError"]), ("hello anna", &json!(false)));
    let run = &answer["result"]["_meta"]["io.toolsmith/run"];
    assert_eq!((run["id"].as_str().map(str::len), run["turns"].as_u64()), (Some(8), Some(1)), "{answer:#}");
    let other = server.ask(3, "tools/call", &json!({ "name": "other", "arguments": {} }));
    assert_snapshot!(normal(&other["error"]["message"]), @r#"unknown tool "other"; the only tool is helper"#);
    let mut shown = Vec::new();
    for (id, arguments) in
        [(4, json!({})), (5, json!({ "prompt": "x", "more": 1 })), (6, json!({ "prompt": "" }))]
    {
        let wrong = server.ask(id, "tools/call", &json!({ "name": NAME, "arguments": arguments }));
        shown.push(normal(&failure(&wrong)));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    invalid arguments of helper: missing field `prompt`
    help: { "prompt": "…", "inputs"?: ["path", …] }
    invalid arguments of helper: unknown field `more`, expected `prompt` or `inputs`
    help: { "prompt": "…", "inputs"?: ["path", …] }
    the prompt of helper is empty; describe the task
    "#);
    server.close_input();
    assert_eq!(server.end(), Some(0), "{}", server.stderr());
}

#[test]
fn files_are_sent_as_text_and_media() {
    let model = model(&json!([{ "answers": [{ "text": "seen" }] }]));
    let png = b"\x89PNG\r\n\x1a\nnot much of an image";
    let mut server =
        Serve::subagent(&described(&model, "", "")).file("notes.txt", "remember the milk").start();
    std::fs::write(server.path("dot.bin"), png).unwrap();
    server.shake_hands();
    let call = |inputs: Value| json!({ "name": NAME, "arguments": { "prompt": "look", "inputs": inputs } });
    let answer = server.ask(1, "tools/call", &call(json!(["notes.txt", "dot.bin"])));
    assert_eq!(text(&answer), "seen");
    let body = model.requests()[0]["body"].to_string();
    for part in ["look", "File notes.txt:\\nremember the milk", "image/png", &STANDARD.encode(png)] {
        assert!(body.contains(part), "{part}: {body}");
    }
    let absent = server.ask(2, "tools/call", &call(json!(["absent.txt"])));
    assert_snapshot!(normal(&failure(&absent)), @r#"
    the subagent helper failed (run [id]): the input "absent.txt" can't be read: no such file (/tmp/.tmpXXXXXX/absent.txt); paths are relative to the server's working folder
    "#);
    assert_snapshot!(normal(&text(&absent)), @r#"
    the subagent helper failed (run [id]): the input "absent.txt" can't be read: no such file (/tmp/.tmpXXXXXX/absent.txt); paths are relative to the server's working folder
    "#);
    assert_eq!(model.requests().len(), 1, "the model was called without the file");
}

#[test]
fn an_answer_that_matches_the_schema_is_a_structured_result() {
    let model = model(&json!([
        { "when": { "user": "right" }, "answers": [{ "calls": [{ "name": "final_answer", "arguments": { "n": 7 } }] }] },
        { "when": { "user": "wrong" }, "answers": [{ "calls": [{ "name": "final_answer", "arguments": { "n": "7" } }] }] },
        { "answers": [{ "text": "I am done" }] },
    ]));
    let described = described(&model, ", outputSchemaPath: form.json", "");
    let mut server = Serve::subagent(&described).file("form.json", SCHEMA).start();
    server.shake_hands();
    let listed = server.ask(1, "tools/list", &json!({}));
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    assert_eq!(listed["result"]["tools"][0]["outputSchema"], schema, "{listed:#}");
    let right = server.ask(2, "tools/call", &task("right"));
    assert_eq!(right["result"]["structuredContent"], json!({ "n": 7 }), "{right:#}");
    assert_eq!(serde_json::from_str::<Value>(text(&right)).unwrap(), json!({ "n": 7 }));
    let wrong = server.ask(3, "tools/call", &task("wrong"));
    assert_snapshot!(normal(&failure(&wrong)), @r#"
    the subagent helper failed (run [id]): the answer does not match its schema: /n: "7" is not of type "integer"
    "#);
    assert!(wrong["result"].get("structuredContent").is_none(), "{wrong:#}");
    let none = server.ask(4, "tools/call", &task("nothing"));
    assert_snapshot!(normal(&failure(&none)), @r#"
    the subagent helper failed (run [id]): the model ended without calling final_answer; its last text: "I am done"
    "#);
    assert_snapshot!(normal(&text(&none)), @r#"
    the subagent helper failed (run [id]): the model ended without calling final_answer; its last text: "I am done"
    "#);
    assert_eq!(model.requests().len(), 3, "unexpected retry");
}

#[test]
fn an_answer_that_does_not_match_is_retried_as_configured() {
    let model = model(&json!([{ "answers": [
        { "calls": [{ "name": "final_answer", "arguments": { "n": "7" } }] },
        { "calls": [{ "name": "final_answer", "arguments": { "n": 7 } }] },
    ] }]));
    let described = described(&model, ", outputSchemaPath: form.json, maxCorrections: 1", "");
    let mut server = Serve::subagent(&described).file("form.json", SCHEMA).start();
    server.shake_hands();
    let answer = server.ask(1, "tools/call", &task("count"));
    assert_eq!(answer["result"]["structuredContent"], json!({ "n": 7 }), "{answer:#}");
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn a_failure_of_the_model_is_reported_without_its_key() {
    let model = model(&json!([{ "answers": [{ "status": 400, "message": "no such thing: secret-key" }] }]));
    let mut server = serving(&model, "", "");
    let answer = server.ask(1, "tools/call", &task("try"));
    assert_snapshot!(normal(&failure(&answer)), @r"
    the subagent helper failed (run [id]): scripted: the provider answers 400: no such thing: ***
    ");
    assert!(!text(&answer).contains("secret-key") && !server.stderr().contains("secret-key"), "{answer:#}");
    assert_eq!(model.requests().len(), 1, "a rejected request was retried");
}

#[test]
fn clients_of_every_era_are_served_over_http() {
    let model = model(&json!([{ "answers": [{ "text": "hello" }] }]));
    let server = Serve::subagent(&described(&model, "", "")).arguments(&["--http", "127.0.0.1:0"]).start();
    for client in [server.client().stateless(), server.client().shake_hands()] {
        let listed = client.ask("tools/list", &json!({}));
        assert_eq!(listed["result"]["tools"][0]["name"], NAME, "{listed:#}");
        let answer = client.ask("tools/call", &task("greet"));
        assert_eq!(text(&answer), "hello");
    }
}

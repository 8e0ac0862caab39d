//! For every caller, the arguments shown, checked and sent are the same. Ambiguous JSON is neither sent nor accepted.

use std::fs;
use std::path::Path;

use end_to_end::cache::json as run;
use end_to_end::cache::shared;
use end_to_end::harness::{FAULT_SERVER, FinishedRun, Run};
use end_to_end::page::normal;
use end_to_end::serving::{STATELESS, Serve};
use insta::assert_snapshot;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::broker::{HELLO, PROGRAM, call};

/// The end of every permission question.
const QUESTION: &str = "[n] no: ";

/// Arguments whose text a parsed value does not preserve, and their canonical form.
const ODD: &str = r#"{ "mess\u0061ge" : "\/x", "n":[ 9007199254740993.0, -0, 1e2 ] }"#;
const FORM: &str = r#"{"message":"/x","n":[9007199254740993.0,-0,1e2]}"#;

/// A server `rec` that records each line it receives.
fn recorder(record: &Path, more: &str) -> String {
    format!("mcpServers:\n  rec: {{ command: {FAULT_SERVER:?}, args: [records-lines, {record:?}]{more} }}\n")
}

/// The identity of the recorder's tool.
fn identity() -> String {
    let input_schema = json!({ "type": "object", "additionalProperties": true });
    let tool = codegen::Tool {
        name: "any".to_owned(),
        description: None,
        input_schema,
        output_schema: None,
        answers: codegen::Answers::default(),
    };
    let server = codegen::Server { name: "rec".to_owned(), tools: vec![tool] };
    codegen::generate(&server, "rec").tools[0].id.clone()
}

/// The calls among the lines that the recorder received.
fn calls(record: &Path) -> Vec<String> {
    let text = fs::read_to_string(record).unwrap_or_default();
    text.lines().filter(|line| line.contains("tools/call")).map(str::to_owned).collect()
}

/// Runs a program on a terminal that crafts one call of the recorder, with these answers from the user.
fn crafted(record: &Path, arguments: &str, more: &str, answers: &[&str]) -> FinishedRun {
    let program = PROGRAM.replace("demo::slow(1.0).await?;\ndemo::echo(\"x\")", "rec::any()");
    let file = record.with_extension("rs");
    fs::write(&file, program).unwrap();
    let script = [HELLO, &call(0, &identity(), arguments), "hear 1", "exit 0"].join("\n");
    let started = Run::on_terminal(shared())
        .arguments(&["run", "--json", file.to_str().unwrap(), "--arg", &format!("script={script}")])
        .config_alone(&recorder(record, more))
        .start();
    for (index, answer) in answers.iter().enumerate() {
        started.answer(QUESTION, index + 1, answer);
    }
    started.done()
}

#[test]
fn a_crafted_call_is_shown_as_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let done = crafted(&record, ODD, ", permission: ask-each", &["y\n"]);
    let sent = calls(&record);
    assert_eq!(sent.len(), 1, "{done:#?}");
    assert!(sent[0].contains(&format!("\"arguments\":{FORM}")), "{sent:?}");
    for line in ["\"message\": \"/x\"", "9007199254740993.0,", "-0,", "1e2"] {
        assert!(done.stderr.contains(line), "{line}: {done:#?}");
    }
}

#[test]
fn a_crafted_call_with_repeated_names_is_neither_shown_nor_sent() {
    let folder = tempfile::tempdir().unwrap();
    let twice = r#"{"path":"/etc/DANGEROUS","p\u0061th":"/tmp/safe"}"#;
    let mut shown = Vec::new();
    for more in [", permission: ask-each", ", trust: true"] {
        let record = folder.path().join("record");
        let done = crafted(&record, twice, more, &[]);
        assert!(!done.stderr.contains(QUESTION) && !done.stderr.contains("/tmp/safe"), "{done:#?}");
        shown.push(normal(&done.outcome()["stdout"]));
        assert!(!fs::read_to_string(&record).unwrap().contains("DANGEROUS"));
        assert!(calls(&record).is_empty(), "{more}");
    }
    assert_snapshot!(shown.join("\n"), @r#"
    {"failure":{"id":0,"failure":{"kind":"invalid_params","message":"the arguments can't be sent: the name \"path\" appears twice in one object at line 1 column 26"}}}

    {"failure":{"id":0,"failure":{"kind":"invalid_params","message":"the arguments can't be sent: the name \"path\" appears twice in one object at line 1 column 26"}}}
    "#);
}

#[test]
fn arguments_of_a_command_are_sent_in_canonical_form() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let call = |arguments: &str| {
        let words = ["mcp", "call-tool", "--server", "rec", "--tool", "any", "--args", arguments];
        Run::new(shared()).arguments(&words).config_alone(&recorder(&record, ", trust: true")).done()
    };
    call(ODD).exits(0);
    assert!(calls(&record)[0].contains(&format!("\"arguments\":{FORM}")), "{:?}", calls(&record));
    let mut shown = Vec::new();
    for arguments in [r#"{"a":{"b":1,"b":2}}"#, r#"{"a":1e400}"#, r#"{"a":"\ud800"}"#] {
        shown.push(normal(&call(arguments).exits(2).stderr));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    toolsmith: --args "{\"a\":{\"b\":1,\"b\":2}}" is not a JSON object: the name "b" appears twice in one object at line 1 column 13
    help: write `{ "name": value }` in single quotes, or name=TEXT for each argument

    toolsmith: --args "{\"a\":1e400}" is not a JSON object: a number out of range: a double holds -1.8e308 to 1.8e308 at line 1 column 6
    help: write `{ "name": value }` in single quotes, or name=TEXT for each argument

    toolsmith: --args "{\"a\":\"\\ud800\"}" is not a JSON object: half of a surrogate pair, which is not Unicode text at line 1 column 6
    help: write `{ "name": value }` in single quotes, or name=TEXT for each argument
    "#);
    assert_eq!(calls(&record).len(), 1);
}

/// The host and the program must not read the answer differently.
#[test]
fn a_result_with_repeated_names_is_rejected() {
    let mut shown = Vec::new();
    for result in [
        r#"{"content":[],"isError":true,"isError":false}"#,
        r#"{"content":[],"isError":true,"isErr\u006fr":false}"#,
        r#"{"content":[{"type":"text","text":"a","text":"b"}]}"#,
        r#"{"content":[],"structuredContent":{"paid":true,"paid":false}}"#,
    ] {
        let code = "match faulty::echo().message(\"x\").await { Ok(result) => result.text(), Err(error) => error.to_string() }";
        let outcome = run(code).fault(&format!("answers-with, '{result}'"), "").expect("ok", 0);
        shown.push(normal(&outcome["result"]));
        assert_eq!(outcome["calls"][0]["ok"], false, "{outcome:#}");
    }
    assert_snapshot!(shown.join("\n"), @r#"
    faulty.echo broke the protocol: MCP server `faulty`: broke the protocol: its answer is ambiguous: the name "isError" appears twice in one object at line 1 column 30
    faulty.echo broke the protocol: MCP server `faulty`: broke the protocol: its answer is ambiguous: the name "isError" appears twice in one object at line 1 column 30
    faulty.echo broke the protocol: MCP server `faulty`: broke the protocol: its answer is ambiguous: the name "text" appears twice in one object at line 1 column 39
    faulty.echo broke the protocol: MCP server `faulty`: broke the protocol: its answer is ambiguous: the name "paid" appears twice in one object at line 1 column 48
    "#);
}

fn frame(id: u32, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"any","arguments":{arguments}}}}}"#
    )
}

#[test]
fn a_clients_call_over_stdio_is_forwarded_in_canonical_form_or_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut server = Serve::new(&recorder(&record, ", trust: true, codeMode: false")).start();
    server.shake_hands();
    let answer = |server: &mut end_to_end::serving::Server, id: &Value, line: &str| {
        server.send_line(line);
        server.receive("an answer", |message| message["id"] == *id && message["method"].is_null())
    };
    for (id, line, code) in [
        (json!(1), frame(1, r#"{"path":"/etc","path":"/tmp"}"#), -32_600),
        (json!(2), frame(2, r#"{"a":1e400}"#), -32_602),
        (json!(3), frame(3, r#"{"a":"\ud800"}"#), -32_602),
        (Value::Null, r#"{"jsonrpc":"2.0","id":4,"id":5,"method":"tools/list"}"#.to_owned(), -32_600),
        (
            Value::Null,
            r#"{"jsonrpc":"2.0","id":6,"method":"ping","meth\u006fd":"tools/call"}"#.to_owned(),
            -32_600,
        ),
    ] {
        let refused = answer(&mut server, &id, &line);
        assert_eq!(refused["error"]["code"], code, "{refused:#}");
    }
    let done = answer(&mut server, &json!(7), &frame(7, ODD));
    assert_eq!(done["result"]["content"][0]["text"], "done", "{done:#}");
    let sent = calls(&record);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].contains(&format!("\"arguments\":{FORM}")), "{sent:?}");
    server.close_input();
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_clients_call_over_http_is_forwarded_in_canonical_form_or_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let server = Serve::http(&recorder(&record, ", trust: true, codeMode: false")).start();
    let client = server.client().shake_hands().header("accept", "application/json, text/event-stream");
    let mut shown = Vec::new();
    for arguments in [r#"{"path":"/etc","path":"/tmp"}"#, r#"{"a":1e400}"#] {
        let refused = client.post(frame(1, arguments));
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{refused:?}");
        let answer: Value = serde_json::from_str(&refused.text).unwrap();
        assert_eq!(answer["id"], 1, "{answer:#}");
        shown.push(normal(&answer["error"]["message"]));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    the message is ambiguous: the name "path" appears twice in one object at line 1 column 97
    params.arguments can't be sent: a number out of range: a double holds -1.8e308 to 1.8e308 at line 1 column 6
    "#);
    let done = client.post(frame(2, ODD));
    assert!(done.text.contains("done"), "{done:?}");
    let sent = calls(&record);
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].contains(&format!("\"arguments\":{FORM}")), "{sent:?}");
    // In the newer protocol, headers must match the message, and the message must not repeat names.
    let meta = format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{STATELESS}","io.modelcontextprotocol/clientInfo":{{"name":"t","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}}}}"#
    );
    let message = |method: &str, more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":3,"method":"{method}"{more},"params":{{"name":"any","arguments":{{}},{meta}}}}}"#
        )
    };
    let post = |method: &str, name: &str, body: String| {
        let client = server.client().stateless().header("mcp-method", method).header("mcp-name", name);
        client.post(body)
    };
    for (method, name, body) in [
        ("tools/list", "any", message("tools/call", "")),
        ("tools/call", "other", message("tools/call", "")),
        ("tools/list", "any", message("tools/list", r#","method":"tools/call""#)),
        ("tools/call", "any", message("tools/call", r#","params":{"name":"other"}"#)),
    ] {
        let refused = post(method, name, body);
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{refused:?}");
    }
    assert_eq!(calls(&record).len(), 1);
    let taken = post("tools/call", "any", message("tools/call", ""));
    assert_snapshot!(normal(&taken.text), @r#"
    data: {"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","content":[{"type":"text","text":"done"}]}}
    "#);
}

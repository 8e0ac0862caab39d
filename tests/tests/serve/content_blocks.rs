//! Content blocks that break MCP's rules, as clients of `toolsmith serve` receive them.

use end_to_end::harness::FAULT_SERVER;
use end_to_end::serving::{Serve, Server, execute, outcome_of};
use serde_json::{Value, json};

/// Blocks as servers send them, and as clients must read them.
const BLOCKS: &str = include_str!("../../fixtures/broken-blocks.json");

/// The blocks of the first kind, or all, as they are sent and as they are read.
fn blocks(are_media: bool) -> (Vec<Value>, Vec<Value>) {
    let all: Vec<Value> = serde_json::from_str(BLOCKS).unwrap();
    let is_media = |block: &&Value| {
        ["image", "audio", "resource", "resource_link"].iter().any(|kind| block["sent"]["type"] == *kind)
    };
    let chosen = all.iter().filter(|block| !are_media || is_media(block));
    chosen.map(|block| (block["sent"].clone(), block["read"].clone())).unzip()
}

/// Serves a server that answers every call with this content.
fn answering(content: &[Value], more: &str) -> Server {
    let result = json!({ "content": content }).to_string();
    let config = format!(
        "mcpServers:\n  books:\n    command: {FAULT_SERVER:?}\n    args: [answers-with, {result:?}]\n    trust: true\n{more}"
    );
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    server
}

/// The content of an answer without the text of the outcome.
fn emitted(answer: &Value) -> &[Value] {
    assert_eq!(outcome_of(answer)["status"], "ok", "{answer:#}");
    &answer["result"]["content"].as_array().unwrap()[1..]
}

#[test]
fn a_direct_tools_blocks_are_repaired() {
    let (sent, read) = blocks(true);
    let mut server = answering(&sent, "    codeMode: false\n");
    let answer = server.ask(1, "tools/call", &json!({ "name": "echo", "arguments": { "message": "x" } }));
    assert_eq!(answer["result"]["content"], json!(read), "{answer:#}");
}

#[test]
fn a_snippets_blocks_are_repaired_whoever_made_them() {
    let (sent, read) = blocks(true);
    let mut server = answering(&sent, "");
    let answer = server.ask(1, "tools/call", &execute("emit(books::echo().message(\"x\").await?);"));
    assert_eq!(emitted(&answer), read, "{answer:#}");
    let code = "let image = books::echo().message(\"x\").await?.image().unwrap().clone();\nemit(&image);\n\
                (image.data().map(str::to_owned), image.mime_type().map(str::to_owned))";
    let answer = server.ask(2, "tools/call", &execute(code));
    assert_eq!(outcome_of(&answer)["result"], json!(["iVBORw0KGgo=", "image/png"]), "{answer:#}");
    let (sent, read) = blocks(false);
    let text = json!(sent).to_string();
    let code = format!(
        "let blocks: Value = serde_json::from_str(r#\"{text}\"#)?;\nemit(json!({{ \"content\": blocks }}));"
    );
    let answer = server.ask(3, "tools/call", &execute(&code));
    assert_eq!(emitted(&answer), read, "{answer:#}");
    let code = "emit(Content::image(\"data:image/png;base64,AAAA\", \"image/png\"));";
    let answer = server.ask(4, "tools/call", &execute(code));
    assert_eq!(emitted(&answer), [json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" })]);
}

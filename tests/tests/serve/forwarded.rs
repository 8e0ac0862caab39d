//! Content that `toolsmith serve` forwards from a server with direct tools: media, links, and changes of its lists.

use end_to_end::harness::FAULT_SERVER;
use end_to_end::serving::Serve;
use serde_json::json;

/// A server with prompts and resources, which changes its lists on request.
const CHANGING: &str = env!("CARGO_BIN_EXE_conformance-server");

#[test]
fn media_and_links_of_a_direct_tool_are_forwarded_unchanged() {
    let content = json!([
        { "type": "text", "text": "two pictures" },
        { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png", "annotations": { "audience": ["user"] } },
        { "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "book://one", "name": "one", "title": "The first", "mimeType": "text/plain" },
        { "type": "resource", "resource": { "uri": "book://two", "mimeType": "image/png", "blob": "iVBORw0KGgo=" } },
    ]);
    let result = json!({ "content": content }).to_string();
    let config = format!(
        "mcpServers:\n  books:\n    command: {FAULT_SERVER:?}\n    args: [answers-with, {result:?}]\n    \
         trust: true\n    codeMode: false\n"
    );
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let call = json!({ "name": "echo", "arguments": { "message": "x" } });
    let answer = server.ask(1, "tools/call", &call);
    assert_eq!(answer["result"]["content"], content, "{answer:#}");
}

#[test]
fn changes_of_prompts_and_resources_are_forwarded() {
    let config = format!(
        "mcpServers:\n  lists: {{ command: {CHANGING:?}, trust: true, codeMode: false }}\nserve: {{ listWait: 50 }}\n"
    );
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let prompts = |server: &mut end_to_end::serving::Server, id: u32| {
        let listed = server.ask(id, "prompts/list", &json!({}));
        listed["result"]["prompts"].as_array().unwrap().len()
    };
    let before = prompts(&mut server, 1);
    for (id, tool, kind) in
        [(2, "test_trigger_prompt_change", "prompts"), (3, "test_trigger_resource_change", "resources")]
    {
        let done = server.ask(id, "tools/call", &json!({ "name": tool, "arguments": {} }));
        assert!(done["error"].is_null(), "{done:#}");
        let method = format!("notifications/{kind}/list_changed");
        server.receive(&method, |message| message["method"] == *method);
    }
    assert_eq!(prompts(&mut server, 4), before + 1);
}

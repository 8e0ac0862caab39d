//! Snippets that list and read resources, with permission: from the command line, and for clients of `serve`.

use std::fs;

use end_to_end::cache::json as run;
use end_to_end::harness::{FAULT_SERVER, assert_says};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A server with two resources and a template, and the demo server, which has none.
fn with_books(more: &str) -> String {
    format!("{DEMO}  books: {{ command: {FAULT_SERVER:?}, args: [library]{more} }}\n")
}

const ALLOWED: &str = ", permissions: { mcp_resource_read: allow }";

#[test]
fn resources_and_templates_of_all_servers_are_listed() {
    let code = "let all = mcp_resources_list().await?;\n\
         let shelves = mcp_resources_list().server(\"books\").query(\"WHOLE shelf\").await?;\n\
         let none = mcp_resources_list().server(\"demo\").await?.len();\n\
         (all.iter().map(|found| &found.uri).collect::<Vec<_>>(), &all[1], shelves.len(), shelves[0].is_template, none)";
    // Listing needs no permission.
    let outcome = run(code).config_alone(&with_books("")).expect("ok", 0);
    let result = &outcome["result"];
    assert_eq!(result[0], json!(["book://text", "book://blob", "shelf://{name}"]));
    let blob = json!({
        "server": "books", "uri": "book://blob", "name": "blob", "title": null, "description": null,
        "mime_type": "image/png", "size": null, "is_template": false,
    });
    assert_eq!(result[1], blob);
    assert_eq!((&result[2], &result[3], &result[4]), (&json!(1), &json!(true), &json!(0)));
    assert_eq!(outcome["calls_total"], 0);
}

#[test]
fn a_resource_is_read_as_text_or_bytes_and_is_not_a_call() {
    let code = "let text = mcp_resource_read(\"book://text\").await?.text();\n\
         let blob = mcp_resource_read(\"book://blob\").server(\"books\").await?;\n\
         emit(&blob.contents[0]);\n\
         (text, blob.bytes(), blob.contents[0].text().is_none())";
    let outcome = run(code).config_alone(&with_books(ALLOWED)).expect("ok", 0);
    assert_eq!(outcome["result"], json!(["first line\nsecond \u{1b}[2Jline", b"sixsix", true]));
    assert_eq!((&outcome["calls_total"], &outcome["manifest"]), (&json!(0), &json!([])));
    let picture = json!({ "type": "image", "data": "c2l4c2l4", "mimeType": "image/png" });
    assert_eq!(outcome["content"], json!([picture]));
}

/// The kind and message of the error of reading a resource.
#[track_caller]
fn refused(config: &str, read: &str) -> Value {
    let code = format!(
        "match {read}.await {{ Err(error) => (error.kind.as_str(), error.to_string()), Ok(_) => (\"read\", String::new()) }}"
    );
    run(&code).config_alone(config).result()
}

#[test]
fn reading_needs_permission_and_the_denial_names_it() {
    let read = "mcp_resource_read(\"book://text\")";
    let refusal = refused(&with_books(""), read);
    assert_eq!(refusal[0], "denied");
    assert_snapshot!(normal(&refusal[1]), @r#"
    toolsmith.mcp_resource_read was denied: books.mcp_resource_read: permission is required, but there is no terminal to ask on
    help: allow it with --allow 'books.mcp_resource_read', or with `trust: true` or `permissions` in the server's entry, for example:
    mcpServers:
      books: { permissions: { "mcp_resource_read": allow } }
    "#);
    let denied = format!("{}globalSettings: {{ deny: [books.mcp_resource_read] }}\n", with_books(ALLOWED));
    let mut shown = Vec::new();
    for config in [denied, with_books(", permission: allow, permissions: { mcp_resource_read: deny }")] {
        let refusal = refused(&config, read);
        assert_eq!(refusal[0], "denied");
        shown.push(normal(&refusal[1]));
    }
    assert_snapshot!(shown.join("\n"), @r"
    toolsmith.mcp_resource_read was denied: the configuration denies books.mcp_resource_read
    toolsmith.mcp_resource_read was denied: the configuration denies books.mcp_resource_read
    ");
    for trusted in [", trust: true", ", trust: true, enabledTools: [nothing]"] {
        assert_eq!(refused(&with_books(trusted), read)[0], "read", "{trusted}");
    }
    assert_eq!(
        run("mcp_resource_read(\"book://text\").await?.contents.len()").config(&with_books("")).result(),
        1
    );
}

#[test]
fn denied_resources_are_not_listed() {
    let config = format!("{}globalSettings: {{ deny: [\"books.*\"] }}\n", with_books(ALLOWED));
    assert_eq!(run("mcp_resources_list().await?.len()").config_alone(&config).result(), 0);
    let refusal = refused(&config, "mcp_resources_list().server(\"books\")");
    assert_eq!(refusal[0], "denied");
}

#[test]
fn unknown_uris_and_servers_are_reported_with_suggestions() {
    let config = with_books(ALLOWED);
    let suggestion = refused(&config, "mcp_resource_read(\"book://txt\")");
    assert_snapshot!(normal(&suggestion[1]), @r"
    toolsmith.mcp_resource_read refused the request: MCP server `books`: the answer to `resources/read` failed with error -32002: no such book; did you mean book://text?
    ");
    let mut shown = Vec::new();
    for read in
        ["mcp_resource_read(\"book://text\").server(\"bokos\")", "mcp_resources_list().server(\"bokos\")"]
    {
        let suggestion = refused(&config, read);
        assert_eq!(suggestion[0], "invalid_params", "{suggestion}");
        shown.push(normal(&suggestion[1]));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    toolsmith.mcp_resource_read was not called, because its arguments do not fit: "bokos": there is no such server; did you mean books?
    toolsmith.mcp_resources_list was not called, because its arguments do not fit: "bokos": there is no such server; did you mean books?
    "#);
    let two = format!("{config}  more: {{ command: {FAULT_SERVER:?}, args: [library], trust: true }}\n");
    let several = refused(&two, "mcp_resource_read(\"book://text\")");
    assert_snapshot!(normal(&several[1]), @r#"
    toolsmith.mcp_resource_read was not called, because its arguments do not fit: "book://text" matches several servers: books, more; name one with .server(…)
    "#);
    let unknown = refused(&two, "mcp_resource_read(\"book://txt\")");
    assert_eq!(unknown[0], "invalid_params");
    assert_snapshot!(normal(&unknown[1]), @r#"
    toolsmith.mcp_resource_read was not called, because its arguments do not fit: no server has the resource "book://txt"; did you mean book://text?
    "#);
    assert_eq!(refused(&two, "mcp_resource_read(\"book://text\").server(\"more\")")[0], "read");
}

#[test]
fn resources_reach_the_client_and_reads_are_audited() {
    let config = format!("{}serve: {{ audit: {{ file: audit.jsonl }} }}\n", with_books(ALLOWED));
    let mut server = Serve::new(&config).start();
    server.shake_hands();
    let mut tools = server.ask(1, "tools/list", &json!({}));
    // The server may still start, or only its tools be cached.
    for id in 1_000.. {
        if tools.to_string().contains("mcp_resource") {
            break;
        }
        let changed = "notifications/tools/list_changed";
        server.receive(changed, |message| message["method"] == changed);
        tools = server.ask(id, "tools/list", &json!({}));
    }
    assert_says(
        &tools["result"]["tools"][0]["description"],
        &["mcp_resources_list()", "mcp_resource_read(uri)"],
    );
    let code = "(mcp_resources_list().await?.len(), mcp_resource_read(\"book://text\").await?.text().len())";
    let answer = server.ask(2, "tools/call", &execute(code));
    assert_eq!(outcome_of(&answer)["result"], json!([3, 26]), "{answer:#}");
    let log = fs::read_to_string(server.path("audit.jsonl")).unwrap();
    let records: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |event: &str| records.iter().find(|record| record["event"] == event).unwrap().clone();
    let (begin, end) = (of("call_begin"), of("call_end"));
    assert_eq!((&begin["server"], &begin["tool"]), (&json!("books"), &json!("mcp_resource_read")), "{log}");
    assert_eq!((&end["ok"], &of("execution_end")["calls"]), (&json!(true), &json!(0)), "{log}");
    server.close_input();
    assert_eq!(server.end(), Some(0));
}

#[test]
fn the_permission_question_shows_the_uri() {
    let server = Serve::http(&with_books("")).start();
    let client =
        server.client().shake_hands_as(end_to_end::serving::HANDSHAKE, &json!({ "elicitation": {} })).0;
    let code = "mcp_resource_read(\"book://text\").await.map(|read| read.text().len()).unwrap_or(0)";
    let mut shown = Vec::new();
    for (answer, length) in [("no", 0), ("once", 26)] {
        let mut answering = client.begin("tools/call", &execute(code));
        let question = answering.until(|message| message["method"] == "elicitation/create");
        shown.push(normal(&question["params"]["message"]));
        client.answer(&question["id"], &json!({ "action": "accept", "content": { "answer": answer } }));
        let outcome = answering.end();
        assert_eq!(outcome_of(&outcome)["result"], length, "{outcome:#}");
    }
    assert_snapshot!(shown.join("\n"), @r#"
    A call needs your permission: books.mcp_resource_read
      {
        "uri": "book://text"
      }
    Allow this call?
    A call needs your permission: books.mcp_resource_read
      {
        "uri": "book://text"
      }
    Allow this call?
    "#);
}

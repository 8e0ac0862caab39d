//! Saved programs as tools of `toolsmith serve`.

use std::fs;
use std::path::PathBuf;

use end_to_end::cache::shared;
use end_to_end::harness::{Run, fault_entry};
use end_to_end::page::normal;
use end_to_end::serving::{DEMO, Serve, Server, execute, outcome_of};
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::REVENUE;

/// A server that offers programs whose names begin with `re`.
fn serve() -> Server {
    offering("re*")
}

/// A server that offers programs whose names match `pattern`.
pub(super) fn offering(pattern: &str) -> Server {
    let mut server = Serve::new(&format!("{DEMO}serve: {{ programs: ['{pattern}'] }}\n")).start();
    server.shake_hands();
    server
}

fn programs(server: &Server) -> PathBuf {
    let folder = server.path("home/toolsmith/programs");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// `toolsmith` with the server's configuration and home.
pub(super) fn toolsmith(server: &Server, arguments: &[&str]) -> Run {
    Run::new(shared())
        .arguments(arguments)
        .arguments(&["--config", server.path("given.yaml").to_str().unwrap()])
        .working_folder(&server.path("."))
        .variable("XDG_CONFIG_HOME", server.path("home").to_str().unwrap())
        .variable("XDG_STATE_HOME", server.path("state").to_str().unwrap())
}

fn tool(server: &mut Server, id: u32, name: &str) -> Option<Value> {
    let listed = server.ask(id, "tools/list", &json!({}));
    listed["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).cloned()
}

/// The tool of a program, once it has changed as wanted.
#[track_caller]
pub(super) fn awaited(
    server: &mut Server,
    name: &str,
    is_wanted: impl Fn(Option<&Value>) -> bool,
) -> Option<Value> {
    for id in 1000.. {
        let tool = tool(server, id, name);
        if is_wanted(tool.as_ref()) {
            return tool;
        }
        server.receive("the notification", |message| message["method"] == "notifications/tools/list_changed");
    }
    unreachable!()
}

#[test]
fn an_approved_program_is_a_tool_with_schemas_and_annotations() {
    let mut server = serve();
    let folder = programs(&server);
    fs::write(folder.join("revenue.rs"), REVENUE).unwrap();
    fs::write(folder.join("other.rs"), REVENUE).unwrap();
    assert_eq!(tool(&mut server, 1, "revenue"), None, "it is not approved");
    toolsmith(&server, &["program", "approve", "revenue", "--yes"]).done().exits(0);
    let tool = awaited(&mut server, "revenue", |tool| tool.is_some()).unwrap();
    assert_eq!(tool["title"], "Revenue by status for one customer.");
    assert_eq!(tool["inputSchema"]["required"], json!(["customer"]), "{tool:#}");
    let result = &tool["outputSchema"]["properties"]["result"];
    assert_eq!(
        (&tool["outputSchema"]["type"], &result["type"]),
        (&json!("object"), &json!("array")),
        "{tool:#}"
    );
    let annotations = &tool["annotations"];
    assert_eq!(
        (&annotations["readOnlyHint"], &annotations["destructiveHint"]),
        (&json!(true), &json!(false)),
        "{tool:#}"
    );
    let call = json!({ "name": "revenue", "arguments": { "customer": "c-01" } });
    let answer = server.ask(2, "tools/call", &call);
    assert_eq!(answer["result"]["isError"], false, "{answer:#}");
    let rows = answer["result"]["structuredContent"]["result"].as_array().unwrap();
    assert!(!rows.is_empty() && rows.iter().all(|row| row["status"].is_string()), "{answer:#}");
    // Wrong arguments are the program's error, and reach the model.
    let wrong = json!({ "name": "revenue", "arguments": { "custmer": "c-01" } });
    let answer = server.ask(3, "tools/call", &wrong);
    assert_eq!(answer["result"]["isError"], true);
    assert_snapshot!(normal(&answer["result"]["content"][0]["text"]), @r"
    the snippet failed: the argument `custmer` has another form than `Args` declares: unknown field `custmer`, expected `customer` or `since`
    ");
    // It has the same text, but the configuration does not offer it.
    let other = server.ask(4, "tools/call", &json!({ "name": "other", "arguments": {} }));
    assert_snapshot!(normal(&other["error"]["message"]), @r#"
    unknown tool "other"; call the tools of servers from a snippet with execute_code
    "#);
}

#[test]
fn an_approved_program_needs_no_answer_of_the_client() {
    let config = "mcpServers:\n  demo: { command: toolsmith, args: [demo-server], permissions: { '*': ask } }\n\
                  serve: { programs: [re*] }\n";
    let mut server = Serve::new(config).start();
    server.shake_hands();
    fs::write(programs(&server).join("revenue.rs"), REVENUE).unwrap();
    toolsmith(&server, &["program", "approve", "revenue", "--yes"]).done().exits(0);
    awaited(&mut server, "revenue", |tool| tool.is_some());
    // This client can't be asked: a snippet with the same call is denied.
    let snippet = server.ask(1, "tools/call", &execute("demo::list_orders().await?.orders.len()"));
    assert_eq!(outcome_of(&snippet)["status"], "denied", "{snippet:#}");
    let call = json!({ "name": "revenue", "arguments": { "customer": "c-01" } });
    let answer = server.ask(2, "tools/call", &call);
    assert_eq!(answer["result"]["isError"], false, "{answer:#}");
}

#[test]
fn another_text_is_not_offered_until_it_is_approved() {
    let mut server = serve();
    let file = programs(&server).join("revenue.rs");
    let text =
        |number: u8| format!("//! Version {number}.\nasync fn run() -> Result<u8> {{ Ok({number}) }}\n");
    fs::write(&file, text(1)).unwrap();
    toolsmith(&server, &["program", "approve", "revenue", "--yes"]).done().exits(0);
    awaited(&mut server, "revenue", |tool| tool.is_some());
    fs::write(&file, text(2)).unwrap();
    awaited(&mut server, "revenue", |tool| tool.is_none());
    server.wait_for_log("this text is not approved: toolsmith program approve revenue");
    toolsmith(&server, &["program", "approve", "revenue", "--yes"]).done().exits(0);
    let tool = awaited(&mut server, "revenue", |tool| tool.is_some()).unwrap();
    assert_eq!(tool["title"], "Version 2.");
    let answer = server.ask(1, "tools/call", &json!({ "name": "revenue" }));
    assert_eq!(answer["result"]["content"][0]["text"], "2", "{answer:#}");
}

#[test]
fn a_program_that_its_tools_broke_says_so_and_is_not_run() {
    let mut server = serve();
    fs::write(programs(&server).join("revenue.rs"), REVENUE).unwrap();
    toolsmith(&server, &["program", "approve", "revenue", "--yes"]).done().exits(0);
    awaited(&mut server, "revenue", |tool| tool.is_some());
    // Another server takes the place of the demo server, without `list_orders`.
    server.configure(&format!(
        "mcpServers:\n{}serve: {{ programs: [re*] }}\n",
        fault_entry("demo", "sound", "    trust: true\n")
    ));
    let says = |tool: Option<&Value>| {
        tool.is_some_and(|tool| {
            tool["description"].as_str().unwrap().starts_with("BROKEN, can't be called: ")
        })
    };
    let tool = awaited(&mut server, "revenue", says).unwrap();
    assert_snapshot!(normal(&tool["description"]), @r"
    BROKEN, can't be called: cannot find function `list_orders` in crate `demo`
    error[E0425]: cannot find function `list_orders` in crate `demo`
      --> 25:26
    25 |         let page = demo::list_orders().limit(50).cursor(cursor).await?;
       |                          ^^^^^^^^^^^ not found in `demo`
    help: `demo` has no `list_orders`; its tools are `echo`

    Revenue by status for one customer.

    Cancelled orders count as well.
    ");
    let call = json!({ "name": "revenue", "arguments": { "customer": "c-01" } });
    let answer = server.ask(2, "tools/call", &call);
    assert_eq!(answer["result"]["isError"], true);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert_snapshot!(normal(&text), @r"
    the program revenue is broken and can't be called: cannot find function `list_orders` in crate `demo`
    error[E0425]: cannot find function `list_orders` in crate `demo`
      --> 25:26
    25 |         let page = demo::list_orders().limit(50).cursor(cursor).await?;
       |                          ^^^^^^^^^^^ not found in `demo`
    help: `demo` has no `list_orders`; its tools are `echo`
    ");
    let checked = toolsmith(&server, &["program", "check", "revenue"]).done().exits(3).stdout;
    assert!(checked.starts_with("revenue: broken"), "{checked}");
    server.configure(&format!("{DEMO}serve: {{ programs: [re*] }}\n"));
    awaited(&mut server, "revenue", |tool| tool.is_some() && !says(tool));
    assert_eq!(server.ask(3, "tools/call", &call)["result"]["isError"], false);
}

#[test]
fn a_broken_program_that_snippets_can_call_says_so_where_it_is_found() {
    let mut server = Serve::new(DEMO).start();
    server.shake_hands();
    fs::write(programs(&server).join("revenue.rs"), REVENUE).unwrap();
    toolsmith(&server, &["program", "approve", "revenue", "--yes"]).done().exits(0);
    // Another server takes the place of the demo server, without `list_orders`, but with a tool of its own.
    server.configure(&format!("mcpServers:\n{}", fault_entry("demo", "sound", "    trust: true\n")));
    server.wait_for_log("the program revenue is broken");
    let search = json!({ "name": "search_tools", "arguments": { "query": "revenue" } });
    let found = |server: &mut Server, id: u32| {
        let answer = server.ask(id, "tools/call", &search);
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    let mut text = found(&mut server, 1000);
    for id in 1001.. {
        if text.contains("BROKEN") {
            break;
        }
        // The description of `execute_code` says it, too.
        server.receive("the notification", |message| message["method"] == "notifications/tools/list_changed");
        text = found(&mut server, id);
    }
    assert_snapshot!(normal(&text), @r"
    No tool matches any of these words. Try others, or an empty query with a `server`: demo

    Saved programs, to call in a snippet:
    programs::revenue(customer: String).since(NaiveDate).await -> Result<Vec<Row>>  // Revenue by status for one customer.
      BROKEN, can't be called: cannot find function `list_orders` in crate `demo`
    ");
    let answer = server.ask(1, "tools/call", &execute("programs::revenue(\"c-01\").await?.len()"));
    assert_eq!(outcome_of(&answer)["status"], "compile_error", "{answer:#}");
}

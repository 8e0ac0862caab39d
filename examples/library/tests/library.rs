//! The library within this process: events, progress, endings, and its faces for models and clients.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use std::sync::Arc;

use end_to_end::cache::shared;
use end_to_end::harness::programs_folder;
use futures::StreamExt as _;
use insta::assert_snapshot;
use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use toolsmith::{Builder, Event, Progress, Server, Tool, ToolError, Toolsmith};

fn builder() -> Builder {
    Toolsmith::builder().cache(shared()).helper(programs_folder().join("toolsmith-sandbox")).allow("*")
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// The function ends only after its report has been read.
#[tokio::test(flavor = "multi_thread")]
async fn progress_is_an_event_while_the_function_runs() {
    let read = Arc::new(Notify::new());
    let awaited = read.clone();
    let work = Tool::with_progress("work", "Works.", move |_: Nothing, progress: Progress| {
        let awaited = awaited.clone();
        async move {
            progress.report(1.0, Some(2.0), "half of it");
            awaited.notified().await;
            Ok::<_, ToolError>("done")
        }
    });
    let toolsmith = builder().tool(work).build().await.unwrap();
    let mut execution = toolsmith.execute("local::work().await?");
    let events = execution.events();
    let shown = events.filter_map(async |event| {
        Some(match event {
            Event::CallBegan { server, tool, .. } => format!("{server}.{tool}"),
            Event::ToolProgress { server, done, total, message } => {
                read.notify_one();
                format!("{server}: {done} of {total:?}, {message}")
            }
            Event::CallEnded { record, .. } => format!("ended: {}", record.ok),
            _ => return None,
        })
    });
    let (outcome, shown) = tokio::join!(async { execution.await }, shown.collect::<Vec<_>>());
    assert_eq!(outcome.unwrap().value::<String>().unwrap(), "done");
    assert_snapshot!(shown.join("\n"), @r#"
    local.work
    local: 1 of Some(2.0), half of it
    ended: true
    "#);
}

/// Reports when it is dropped.
struct Dropped(mpsc::UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_an_execution_drops_the_function_that_it_called() {
    let (sender, mut happened) = mpsc::unbounded_channel();
    let hang = Tool::new("hang", "Waits for ever.", move |_: Nothing| {
        let sender = sender.clone();
        async move {
            let dropped = Dropped(sender);
            dropped.0.send("called")?;
            std::future::pending::<Result<u64, ToolError>>().await
        }
    });
    let toolsmith = builder().tool(hang).build().await.unwrap();
    let execution = toolsmith.execute("local::hang().await?").into_future();
    tokio::select! {
        _ = execution => panic!("it has ended"),
        happened = happened.recv() => assert_eq!(happened, Some("called")),
    }
    assert_eq!(happened.recv().await, Some("dropped"));
}

/// Counts.
#[toolsmith::tool]
async fn count(to: u32, progress: Progress) -> Result<u32, ToolError> {
    progress.report(to.into(), None, "");
    Ok(to)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_s_calls_are_answered() {
    let add = Tool::new("add", "Adds one.", |numbers: Numbers| async move {
        numbers.number.checked_add(1).ok_or(ToolError("too large".to_owned()))
    });
    let toolsmith = builder().tool(add).tool(count).build().await.unwrap();
    let calls = [
        ("execute_code", json!({ "code": "local::add(1).await? + local::count(40).await?" })),
        ("execute_code", json!({ "code": "println!(\"{}\", args.require(\"a\")?)", "args": { "a": "b" } })),
        ("execute_code", json!({ "code": "local::add(u32::MAX).await?" })),
        ("execute_code", json!({ "code": "1", "timeout": 1e9 })),
        ("execute_code", json!({ "code": "1", "execution": "x" })),
        ("execute_code", json!({ "source": "1" })),
        ("search_tools", json!({ "query": "add" })),
        ("describe_tools", json!({ "tools": ["local::add"] })),
        ("add", json!({})),
    ];
    let mut shown = String::new();
    for (tool, arguments) in calls {
        let answer = toolsmith.answer(tool, arguments.clone()).await.unwrap();
        let how = if answer.is_error { " (error)" } else { "" };
        shown += &format!("{tool} {arguments}{how}\n{}\n\n", answer.text());
    }
    assert_snapshot!(shown, @r#"
    execute_code {"code":"local::add(1).await? + local::count(40).await?"}
    42

    execute_code {"code":"println!(\"{}\", args.require(\"a\")?)","args":{"a":"b"}}
    b

    execute_code {"code":"local::add(u32::MAX).await?"} (error)
    the snippet failed: local.add failed: too large (line 1, column 1); 1 tool call was made

    execute_code {"code":"1","timeout":1000000000.0} (error)
    the timeout is not between 0 and 1800 seconds

    execute_code {"code":"1","execution":"x"} (error)
    no execution is under way: leave `execution` out

    execute_code {"source":"1"} (error)
    invalid arguments of execute_code: unknown field `source`, expected one of `code`, `timeout`, `check_only`, `args`, `execution`

    search_tools {"query":"add"}
    mod local {
    /// Adds one.
    add(number: i64 /* at least 0 */) -> i64
    }
    // `name?: T` is a setter: `.name(value)`. No `->`: ToolResult. describe_tools returns a tool's full documentation.

    describe_tools {"tools":["local::add"]}
    /// Adds one.
    local::add(number).await?
    local::AddInput { number }.call().await?
    // Returns i64.

    struct AddInput {
        number: i64, // required; at least 0
    }

    add {} (error)
    unknown tool "add"; call the tools of servers from a snippet with execute_code
    "#);
    let tools: Vec<genai::chat::Tool> =
        toolsmith.definitions().await.unwrap().into_iter().map(Into::into).collect();
    assert_snapshot!(tools[0].schema.as_ref().unwrap(), @r#"{"type":"object","additionalProperties":false,"properties":{"code":{"type":"string"},"timeout":{"type":"number","description":"Seconds."},"check_only":{"type":"boolean","description":"Compile only."},"args":{"type":"object","additionalProperties":{"type":"string"},"description":"For args.get."}},"required":["code"]}"#);
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Numbers {
    number: u32,
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_mcp_calls_its_handler() {
    let toolsmith = builder().build().await.unwrap();
    let (client, server) = tokio::io::duplex(1 << 16);
    let serving = tokio::spawn({
        let handler = toolsmith.handler();
        async move { handler.serve(tokio::io::split(server)).await.unwrap().waiting().await }
    });
    let client = ().serve(tokio::io::split(client)).await.unwrap();
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let arguments = json!({ "code": "6 * 7" }).as_object().cloned().unwrap();
    let call = CallToolRequestParams::new("execute_code").with_arguments(arguments);
    let result = client.call_tool(call).await.unwrap();
    let result = serde_json::to_value(result).unwrap();
    assert_snapshot!(format!("{}\n{result}", names.join(" ")), @r#"
    execute_code
    {"content":[{"type":"text","text":"42"}],"isError":false}
    "#);
    client.cancel().await.unwrap();
    serving.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operations_of_a_document_are_tools() {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("shop.json");
    let text = json!({
        "openapi": "3.1.0",
        "info": { "title": "Shop", "version": "1" },
        "servers": [{ "url": "https://shop.example.com" }],
        "paths": { "/orders": { "get": {
            "operationId": "list_orders", "summary": "Lists orders.",
            "responses": { "200": { "description": "The orders" } },
        } } },
    });
    std::fs::write(&document, text.to_string()).unwrap();
    let shop = Server::openapi(document.to_str().unwrap(), None);
    let toolsmith = builder().server("shop", shop).build().await.unwrap();
    assert_snapshot!(toolsmith.search("").await.unwrap(), @r#"
    mod shop {
    /// Lists orders. GET /orders
    list_orders()
    }
    // `name?: T` is a setter: `.name(value)`. No `->`: ToolResult. describe_tools returns a tool's full documentation.
    "#);
}

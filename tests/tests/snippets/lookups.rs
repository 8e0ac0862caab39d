//! Looking up tools from a snippet.

use end_to_end::cache::json;
use end_to_end::harness::fault_entry;
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn tools_are_found_from_a_snippet() {
    let code = "let orders = search_tools(\"orders\").await?;\n\
         let first = &orders[0];\n\
         (first.server.clone(), first.module.clone(), first.tool.clone(), first.signature.clone(), orders)";
    let outcome = json(code).argument("--demo").expect("ok", 0);
    let result = &outcome["result"];
    assert_eq!((&result[0], &result[1], &result[2]), (&json!("demo"), &json!("demo"), &json!("list_orders")));
    assert_snapshot!(normal(&result[3]), @r"
    /// List the shop's orders, oldest first, page by page: pass `next_cursor` of one page as `cursor` of the next.
    list_orders(cursor?: String /* `next_cursor` of the previous page. Omit it for the first page. */, limit?: i64 /* How many orders the page may have; default 20; at least 1; at most 50 */, status?: OrderStatus /* Only orders with this status. */) -> { orders: Vec<Order> /* The orders, oldest first. */, next_cursor: Option<String> /* Pass it as `cursor` to get the next page; absent on the last one. */ }
    enum OrderStatus { Pending, Shipped, Delivered, Cancelled, Other(String) }
    Order { id: String, customer_id: String /* The customer; see `get_customer`. */, status: OrderStatus, total_cents: i64 /* The sum over all items, in cents; at least 0 */, items: Vec<OrderItem>, placed_at: String /* When the order was placed, in RFC 3339 format. */ }
    OrderItem { sku: String /* The product's stock-keeping unit. */, quantity: i64 /* at least 0 */ }
    ");
    assert_eq!(result[4][0]["function"], "list_orders");
    // It makes no calls and needs no session.
    assert_eq!((&outcome["manifest"], &outcome["calls"]), (&json!([]), &json!([])));
    assert_eq!(outcome["calls_total"], 0);
}

#[test]
fn a_search_can_be_limited_to_a_server_and_a_number() {
    let config = format!(
        "mcpServers:\n{}  demo: {{ command: toolsmith, args: [demo-server] }}\n",
        fault_entry("faulty", "sound", "")
    );
    let code = "let all = search_tools(\"\").server(\"demo\").await?;\n\
         let two = search_tools(\"\").server(Some(\"demo\")).limit(2_u8).await?;\n\
         let echoes = search_tools(\"echo\").await?.into_iter().map(|found| found.module).collect::<BTreeSet<_>>();\n\
         (all.iter().all(|found| found.server == \"demo\"), all.len(), two.len(), echoes)";
    assert_eq!(json(code).config(&config).result(), json!([true, 9, 2, ["demo", "faulty"]]));
}

#[test]
fn tools_are_described_from_a_snippet() {
    let code = "let text = describe_tools([\"demo::get_customer\", \"demo.echo\", \"list_order\"]).await?;\n\
         let one: String = describe_tools(vec![String::from(\"slow\")]).await?;\n\
         (text, one)";
    let result = json(code).argument("--demo").result();
    assert_snapshot!(normal(&result[0]), @r#"
    /// Get one customer by id. An unknown id is an error.
    demo::get_customer(id).await?
    demo::GetCustomerInput { id }.call().await?
    // Returns GetCustomerOutput.

    struct GetCustomerInput {
        /// The customer's id, such as `c-01`.
        id: String, // required
    }

    struct GetCustomerOutput {
        id: String,
        name: String,
        email: String,
        city: String,
        /// Whether this is a very important customer.
        vip: bool,
    }

    /// Answer with exactly the text that was sent.
    demo::echo(message).await?
    demo::EchoInput { message }.call().await?
    // Returns a ToolResult: `.text()`, `.json::<T>()?`, `.content`, `.structured` (Option<Value>).

    struct EchoInput {
        /// The text to send back.
        message: String, // required
    }

    // "list_order": there is no such tool; did you mean demo::list_orders?
    "#);
    assert_snapshot!(normal(&result[1]), @r"
    /// Wait for some seconds, then answer. Ends early if the request is cancelled.
    demo::slow(seconds).await?
    demo::SlowInput { seconds }.call().await?
    // Returns a ToolResult: `.text()`, `.json::<T>()?`, `.content`, `.structured` (Option<Value>).

    struct SlowInput {
        /// How long to wait, in seconds.
        seconds: f64, // required; at least 0; at most 3600
    }
    ");
}

#[test]
fn a_failed_lookup_is_an_error_that_can_be_matched() {
    let code = "match search_tools(\"orders\").server(\"dmeo\").await {\n    \
         Err(error) if error.kind == ToolErrorKind::InvalidParams => error.to_string(),\n    \
         other => bail!(\"{other:?}\"),\n}";
    assert_snapshot!(normal(&json(code).argument("--demo").result()), @r#"
    toolsmith.search_tools was not called, because its arguments do not fit: the server "dmeo": there is no such server; did you mean demo?
    "#);
    let outcome = json("search_tools(\"orders\").server(\"dmeo\").await?.len()")
        .argument("--demo")
        .expect("runtime_error", 1);
    assert_snapshot!(normal(&outcome["error"]["message"]), @r#"
    toolsmith.search_tools was not called, because its arguments do not fit: the server "dmeo": there is no such server; did you mean demo?
    "#);
}

#[test]
fn many_concurrent_lookups_work_and_can_be_dropped() {
    let code = "let found = concurrently(400, 0..400usize, |n| async move {\n    \
         if n % 2 == 0 { return search_tools(\"customer\").await.map(|found| found.len()); }\n    \
         Ok(demo::echo(n.to_string()).await?.text().parse::<usize>().unwrap_or(0))\n}).await?;\n\
         for _ in 0..20 {\n    \
         let given_up = tokio::time::timeout(Duration::ZERO, search_tools(\"customer\")).await;\n    \
         drop(given_up);\n}\n\
         let after = search_tools(\"get_customer\").await?;\n\
         (found.len(), found[1], found[0] > 0, after[0].tool.clone())";
    let outcome = json(code).argument("--demo").expect("ok", 0);
    assert_eq!(outcome["result"], json!([400, 1, true, "get_customer"]));
    assert_eq!(outcome["calls_total"], 200);
}

#[test]
fn a_search_that_is_not_awaited_causes_a_warning() {
    let outcome = json("search_tools(\"orders\");\n1").expect("ok", 0);
    assert_snapshot!(normal(&outcome["diagnostics"]), @r#"
    [
      {
        "level": "warning",
        "code": "unused_must_use",
        "message": "unused `SearchTools` that must be used",
        "line": 1,
        "column": 1,
        "rendered": "warning[unused_must_use]: unused `SearchTools` that must be used\n --> 1:1\n1 | search_tools(\"orders\");\n  | ^^^^^^^^^^^^^^^^^^^^^^\nnote: a search does nothing until it is awaited: `search_tools(…).await?`\nnote: requested on the command line with `--force-warn unused-must-use`\nhelp: use `let _ = ...` to ignore the resulting value\n  1:1: `let _ =`\n",
        "hint": null
      }
    ]
    "#);
}

#[test]
fn the_snippets_names_shadow_the_prelude() {
    for code in [
        "fn search_tools(query: &str) -> usize { query.len() }\nsearch_tools(\"abc\")",
        "fn describe_tools() -> i32 { 3 }\ndescribe_tools()",
        "let search_tools = |query: &str| query.len();\nsearch_tools(\"abc\")",
        "async fn run() -> Result<usize> { Ok(search_tools(\"abc\")) }\nfn search_tools(query: &str) -> usize { query.len() }",
        "struct SearchTools(i32);\nSearchTools(3).0",
    ] {
        assert_eq!(json(code).result(), 3, "{code}");
    }
}

#[test]
fn a_server_may_have_the_name_of_a_function() {
    let config = "mcpServers:\n  search_tools: { command: toolsmith, args: [demo-server] }\n";
    let code = "let found = search_tools(\"echo\").await?;\n\
         let text = search_tools_::echo(\"hello\").await?.text();\n\
         (found[0].server.clone(), found[0].module.clone(), text)";
    assert_eq!(json(code).config(config).result(), json!(["search_tools", "search_tools_", "hello"]));
}

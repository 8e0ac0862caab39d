//! Looking up tools from a snippet.

use end_to_end::cache::json;
use end_to_end::harness::{assert_says, fault_entry};
use serde_json::json;

#[test]
fn tools_are_found_from_a_snippet() {
    let code = "let orders = search_tools(\"orders\").await?;\n\
         let first = &orders[0];\n\
         (first.server.clone(), first.module.clone(), first.tool.clone(), first.signature.clone(), orders)";
    let outcome = json(code).argument("--demo").expect("ok", 0);
    let result = &outcome["result"];
    assert_eq!((&result[0], &result[1], &result[2]), (&json!("demo"), &json!("demo"), &json!("list_orders")));
    assert_says(&result[3], &["list_orders(cursor?: String", "-> { orders: Vec<Order>", "OrderItem {"]);
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
    assert_says(
        &result[0],
        &[
            "/// Get one customer by id.",
            "demo::get_customer(id).await?",
            "struct GetCustomerOutput {",
            "demo::echo(message)",
        ],
    );
    assert_says(&result[0], &["\"list_order\": there is no such tool; did you mean demo::list_orders?"]);
    assert_says(&result[1], &["demo::slow(seconds).await?"]);
}

#[test]
fn a_failed_lookup_is_an_error_that_can_be_matched() {
    let code = "match search_tools(\"orders\").server(\"dmeo\").await {\n    \
         Err(error) if error.kind == ToolErrorKind::InvalidParams => error.to_string(),\n    \
         other => bail!(\"{other:?}\"),\n}";
    assert_says(
        &json(code).argument("--demo").result(),
        &["toolsmith.search_tools", "\"dmeo\": there is no such server", "did you mean demo"],
    );
    let outcome = json("search_tools(\"orders\").server(\"dmeo\").await?.len()")
        .argument("--demo")
        .expect("runtime_error", 1);
    assert_says(&outcome["error"]["message"], &["no such server"]);
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
    assert_says(&outcome["diagnostics"], &["a search does nothing until it is awaited"]);
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

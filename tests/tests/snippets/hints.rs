//! Mistakes in using tools: each gets one line of advice and the correct signature.

use std::fmt::Write as _;

use end_to_end::cache::{json as run, plain};
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::json;

/// A mistake, and the phrases of the hint of its first message.
type Mistake<'a> = (&'a str, &'a [&'a str]);

/// The start of each tool's signature line.
const LIST_ORDERS: &str = "\ndemo::list_orders(";
const GET_CUSTOMER: &str = "\ndemo::get_customer(";
const CREATE_NOTE: &str = "\ndemo::create_note(";

/// Limit on a hint, in characters.
const HINT_LIMIT: usize = 1_500;

/// Compiles every snippet, which must fail with a hint that contains all phrases; reports all failures together.
#[track_caller]
fn advised(mistakes: &[Mistake<'_>]) {
    advised_with("", mistakes);
}

#[track_caller]
fn advised_with(config: &str, mistakes: &[Mistake<'_>]) {
    let mut wrong = String::new();
    for (code, phrases) in mistakes {
        let run = run(code).argument("--check");
        let run = if config.is_empty() { run.argument("--demo") } else { run.config(config) };
        let outcome = run.done().outcome();
        let hint = outcome["diagnostics"][0]["hint"].as_str().unwrap_or_default();
        let missing: Vec<&&str> = phrases.iter().filter(|phrase| !hint.contains(**phrase)).collect();
        let bounded = hint.chars().count() <= HINT_LIMIT && !hint.contains("///");
        if outcome["status"] != "compile_error"
            || outcome["fixes"] != json!([])
            || !missing.is_empty()
            || !bounded
        {
            writeln!(wrong, "{code}\n  lacks {missing:?} in {hint:?}\n  {}\n", outcome["fixes"]).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn tools_of_other_names_are_found() {
    let meant = "did you mean `list_orders`?";
    advised(&[
        ("demo::list_order().await?", &["`demo` has no `list_order`", meant, LIST_ORDERS]),
        ("demo::orders_list().await?", &[meant, LIST_ORDERS]),
        ("demo::listOrders().await?", &[meant, LIST_ORDERS]),
        ("demo::get_orders().await?", &[meant, LIST_ORDERS]),
        ("use demo::list_order;\nlist_order().await?", &[meant, LIST_ORDERS]),
        ("use crate::tools::demo;\ndemo::list_orders().await?", &["write `demo::…` without a prefix"]),
        ("use crate::tools::demo::echo;\necho(\"a\").await?", &["write `demo::…` without a prefix"]),
        ("use super::tools;\n1", &["each server has a module without a prefix: `demo`"]),
        ("use demo::{echo, list_order};\necho(\"a\").await?", &[meant, LIST_ORDERS]),
        ("list_order().await?", &["there is no function", "did you mean `demo::list_orders`?", LIST_ORDERS]),
        ("list_orders().await?", &["`list_orders` is a tool: write `demo::list_orders`", LIST_ORDERS]),
        ("call_tool(\"echo\", json!({})).await?", &["tools are functions: `demo::echo(…).await?`"]),
        ("demo::list_orders { limit: 3 }", &["is a function", "`demo::ListOrdersInput`", LIST_ORDERS]),
    ]);
}

/// If no name is similar, the hint lists the tools.
#[test]
fn dissimilar_names_are_not_suggested() {
    let mut shown = Vec::new();
    for code in ["demo::delete_everything().await?", "demo::get_weather(\"here\").await?"] {
        let outcome = run(code).expect("compile_error", 3);
        let hint = &outcome["diagnostics"][0]["hint"];
        shown.push(normal(&hint));
    }
    assert_snapshot!(shown.join("\n"), @r"
    `demo` has no `delete_everything`; its tools are `create_note`, `echo`, `fail`, `get_customer`, `image`, `json_response`, `list_orders`, `search_products` and `slow`
    `demo` has no `get_weather`; its tools are `create_note`, `echo`, `fail`, `get_customer`, `image`, `json_response`, `list_orders`, `search_products` and `slow`
    ");
}

#[test]
fn missing_modules_and_crates_are_reported() {
    let offer = &["std, anyhow, chrono", "`demo`", "only these crates are available"][..];
    advised(&[
        ("dmeo::list_orders().await?", &["no module `dmeo`", "did you mean `demo`?", LIST_ORDERS]),
        (
            "use dmeo::list_orders;\nlist_orders().await?",
            &["no module `dmeo`", "did you mean `demo`?", LIST_ORDERS],
        ),
        ("Demo::list_orders().await?", &["did you mean `demo`?", LIST_ORDERS]),
        ("crate::demo::echo(\"a\").await?", &["write `demo::…`", "demo::echo("]),
        ("let x = reqwest::get(\"a\").await?;\n1", offer),
        ("use reqwest::Client;\n1", offer),
        ("use rand::Rng;\n1", offer),
    ]);
}

#[test]
fn a_server_is_found_by_its_module_name() {
    let config = "mcpServers:\n  my-shop: { command: toolsmith, args: [demo-server] }\n  \
                  other: { command: toolsmith, args: [demo-server] }\n";
    advised_with(
        config,
        &[
            ("my-shop::list_orders().await?", &["server `my-shop` is `my_shop`", "write `my_shop::…`"]),
            ("use my-shop::list_orders;\n1", &["a `-` in the name of a server is a `_`"]),
            ("myshop::list_orders().await?", &["did you mean `my_shop`?", "`my_shop` and `other`"]),
            ("list_orders().await?", &["write `my_shop::list_orders` or `other::list_orders`"]),
            ("let a: Order;\nother::echo(\"a\").await?", &["write `other::Order` or `my_shop::Order`"]),
        ],
    );
}

/// For a large server, only the tools that a snippet names are compiled, so the compiler does not know the others.
#[test]
fn tools_of_a_large_server_are_found_in_the_catalog() {
    let config = "mcpServers:\n  shop: { command: toolsmith, args: [demo-server, --copies, \"5\"] }\n";
    let outcome = run("shop::list_order_3().await?").config(config).expect("compile_error", 3);
    let diagnostic = &outcome["diagnostics"][0];
    assert!(!diagnostic["rendered"].as_str().unwrap().contains("list_orders_3"), "{diagnostic}");
    let hint = diagnostic["hint"].as_str().unwrap();
    assert_snapshot!(normal(&diagnostic["hint"]), @r"
    `shop` has no `list_order_3`; did you mean `list_orders_3`?
    shop::list_orders_3(cursor?: String /* `next_cursor` of the previous page. Omit it for the first page. */, limit?: i64 /* How many orders the page may have; default 20; at least 1; at most 50 */, status?: OrderStatus /* Only orders with this status. */) -> ListOrdersOutput
    enum OrderStatus { Pending, Shipped, Delivered, Cancelled, Other(String) }
    ListOrdersOutput { orders: Vec<Order> /* The orders, oldest first. */, next_cursor: Option<String> /* Pass it as `cursor` to get the next page; absent on the last one. */ }
    Order { id: String, customer_id: String /* The customer; see `get_customer`. */, status: OrderStatus, total_cents: i64 /* The sum over all items, in cents; at least 0 */, items: Vec<OrderItem>, placed_at: String /* When the order was placed, in RFC 3339 format. */ }
    OrderItem { sku: String /* The product's stock-keeping unit. */, quantity: i64 /* at least 0 */ }
    ");
    assert!(hint.chars().count() <= HINT_LIMIT, "{}", hint.len());
    advised_with(
        config,
        &[
            ("shop::nothing_like_this().await?", &["its tools are", "and 38 more"]),
            ("let a: shop::OrderItm;\n1", &["did you mean `OrderItem`", "shop::list_orders("]),
        ],
    );
}

#[test]
fn types_fields_and_variants_of_other_names_are_found() {
    let page = |end: &str| format!("let page = demo::list_orders().await?;\n{end}");
    let order = page("page.order.len()");
    let total = page("page.orders.iter().map(|order| order.total).sum::<i64>()");
    let id = page("page.orders.id.len()");
    let iterated = page("for order in page { println!(\"{}\", order.id); }");
    let first = page("page[0].id.clone()");
    let pattern = "let demo::GetCustomerOutput { town, .. } = demo::get_customer(\"c-01\").await?;\ntown";
    advised(&[
        (
            "demo::ListOrderInput { cursor: None, limit: None, status: None }.call().await?",
            &["did you mean `ListOrdersInput`?", LIST_ORDERS],
        ),
        (
            "demo::ListOrders { limit: Some(3) }.call().await?",
            &["did you mean `ListOrdersInput`?", LIST_ORDERS],
        ),
        ("let status: demo::OrderState;\n1", &["did you mean `OrderStatus`?", "Pending, Shipped"]),
        ("demo::OrderStatus::Canceled", &["did you mean `Cancelled`?", "enum OrderStatus"]),
        ("demo::OrderStatus::Waiting", &["its variants are `Pending`, `Shipped`"]),
        (&order, &["`ListOrdersOutput` has no field `order`; did you mean `orders`?", LIST_ORDERS]),
        (&total, &["`Order` has no field `total`; did you mean `total_cents`?", LIST_ORDERS]),
        (&id, &["it is a list of `Order`", ".iter()", LIST_ORDERS]),
        (&iterated, &["iterate over its field `orders`", LIST_ORDERS]),
        (&first, &["its list is the field `orders`", LIST_ORDERS]),
        (
            "demo::get_customer(\"c-01\").await?.surname",
            &["no field `surname`; its fields are `id`, `name`", GET_CUSTOMER],
        ),
        (pattern, &["`GetCustomerOutput` has no field `town`", GET_CUSTOMER]),
        (
            "demo::CreateNoteInput { subject: \"a\".into(), body: \"b\".into(), tags: None }.call().await?",
            &["no field `body`; its fields are `subject`, `text` and `tags`", CREATE_NOTE],
        ),
        (
            "demo::json_response().await?.orders",
            &["a `ToolResult` does not have the tool's fields", ".json::<Value>()?"],
        ),
        ("demo::echo(\"a\").await?.json::<Value>()?.name", &["write `[\"name\"]`"]),
    ]);
}

#[test]
fn argument_mistakes_show_the_signature() {
    let setters = "`.cursor(…)`, `.limit(…)` and `.status(…)`";
    advised(&[
        (
            "demo::list_orders(10).await?",
            &["write `demo::list_orders()`; optional arguments", setters, LIST_ORDERS],
        ),
        (
            "demo::search_products(\"a\", 5).await?",
            &["`demo::search_products(query)`", "`.max_price_cents(…)`"],
        ),
        ("demo::get_customer().await?", &["write `demo::get_customer(id)`", GET_CUSTOMER]),
        (
            "demo::create_note(\"a\", \"b\").tag(\"x\").await?",
            &["no argument `tag`; did you mean `tags`?", CREATE_NOTE],
        ),
        (
            "demo::list_orders().page_size(4).await?",
            &["no argument `page_size`; optional arguments are `cursor`, `limit` and `status`", LIST_ORDERS],
        ),
        (
            "demo::create_note(\"a\", \"b\").text(\"x\").await?",
            &["passed by position: `demo::create_note(subject, text)`"],
        ),
        (
            "demo::create_note(\"a\", \"b\").tags(\"x\").await?",
            &["a list is expected: `[\"x\"]`", CREATE_NOTE],
        ),
        ("demo::get_customer(1).await?", &["a string is expected: `.to_string()`", GET_CUSTOMER]),
        (
            "demo::get_customer(json!({ \"id\": \"c-01\" })).await?",
            &["one by one, not as JSON", GET_CUSTOMER],
        ),
        ("demo::list_orders(limit: 10).await?", &["arguments have no names"]),
        ("demo::list_orders(limit = 10).await?", &["arguments have no names", "`.limit(…)`"]),
        (
            "demo::get_customer(demo::GetCustomerInput { id: \"a\".into() }).await?",
            &["`demo::GetCustomerInput { … }.call().await?`", GET_CUSTOMER],
        ),
        (
            "demo::GetCustomerInput::new(\"a\").call().await?",
            &["no method `new`", ".call().await?", GET_CUSTOMER],
        ),
        (
            "demo::CreateNoteInput { subject: \"a\".into() }.call().await?",
            &["`text` must be set", "`tags: None`"],
        ),
        (
            "let input = demo::CreateNoteInput { subject: \"a\".into(), ..Default::default() };\ninput.call().await?",
            &["required fields", CREATE_NOTE],
        ),
    ]);
}

#[test]
fn calls_and_results_are_explained_where_they_cannot_be_corrected() {
    let all = "let all = futures::future::join_all([\"c-01\"].map(|id| demo::get_customer(id))).await;\n";
    let each = format!("{all}all.iter().map(|one| one.name.clone()).collect::<Vec<_>>()");
    let opened = format!("{all}all?.len()");
    advised(&[
        ("demo::get_customer(\"c-01\").surname", &["a call must be awaited before `surname`", GET_CUSTOMER]),
        ("match 1 { 1 => demo::echo(\"a\"), _ => demo::echo(\"b\") }", &["a call must be awaited"]),
        (&each, &["each of them is a `Result`", GET_CUSTOMER]),
        (&opened, &["each of them is a `Result`", "try_join_all"]),
        (
            "let names = [\"c-01\"].map(|id| demo::get_customer(id).await?.name);\nnames.len()",
            &["does not work in this closure", "concurrently(8, items", GET_CUSTOMER],
        ),
        (
            "concurrently(2, [\"c-01\"], |id| async move { demo::get_customer(id) }).await?.len()",
            &["must end with a `Result`: `demo::get_customer(…).await`", GET_CUSTOMER],
        ),
        (
            "concurrently(2, [\"c-01\"], |id| async move { demo::get_customer(id).await? }).await?.len()",
            &["let it end with a `Result`: `Ok(value)`", GET_CUSTOMER],
        ),
        ("concurrently([1], |one| async move { Ok(one) }).await?.len()", &["concurrently(limit, items"]),
        ("let text = demo::echo(\"1\").await?.json()?;\ntext[\"a\"].clone()", &[".json::<Value>()?"]),
    ]);
}

#[test]
fn non_async_functions_are_reported() {
    advised(&[
        (
            "fn main() {\n    let a = demo::echo(\"a\").await.unwrap();\n    println!(\"{}\", a.text());\n}",
            &["write `async fn main() -> Result<()>`"],
        ),
        (
            "fn say<T: Into<String>>(it: T) -> Result<String> {\n    Ok(demo::echo(it).await?.text())\n}\nsay(\"a\")?",
            &["write `async fn say(…)`, and `.await` where it is called"],
        ),
        (
            "async fn main() {\n    let a = demo::echo(\"a\").await?;\n    println!(\"{}\", a.text());\n}",
            &["write `-> Result<()>` after its arguments, and `Ok(())` at its end"],
        ),
    ]);
}

/// Other libraries use an enum for content.
#[test]
fn content_is_not_an_enum() {
    let part = |rest: &str| format!("let r = demo::echo(\"a\").await?;\n{rest}");
    let patterns = [
        part("match &r.content[0] { Content::Text(t) => t.text.clone(), _ => String::new() }"),
        part("match &r.content[0] { Content::Text { text } => text.clone(), _ => String::new() }"),
        part(
            "if let Some(Content::Text { text, .. }) = r.content.first() { text.clone() } else { String::new() }",
        ),
        part("if let Content(v) = &r.content[0] { v.clone() } else { Value::Null }"),
        part("let Content { text, .. } = &r.content[0];\n1"),
        part("match &r.content[0] { ContentBlock::Text(t) => t.text.clone(), _ => String::new() }"),
    ];
    let enum_advice = &["not an enum: write `if let Some(text) = part.as_text()`"][..];
    let others =
        [part("match &r.content[0] { \"text\" => 1, _ => 2 }"), part("r.content[0][\"text\"].clone()")];
    let methods = &["a content block has `.as_text()`"][..];
    let mistakes = patterns.iter().map(|code| (code.as_str(), enum_advice));
    advised(&mistakes.chain(others.iter().map(|code| (code.as_str(), methods))).collect::<Vec<_>>());
}

#[test]
fn values_that_cannot_be_json_are_reported() {
    let derive = &["`A` does not implement `Serialize`: write `#[derive(Serialize)]` before `struct A`"][..];
    advised(&[
        ("struct A { x: i32 }\nA { x: 1 }", derive),
        ("#[derive(Debug)]\nstruct A { x: i32 }\nOk(vec![A { x: 1 }])", derive),
        ("struct A { x: i32 }\nasync fn run() -> Result<A> { Ok(A { x: 1 }) }", derive),
        ("struct A { x: i32 }\njson!({ \"a\": A { x: 1 } })", derive),
        (
            "struct A { x: i32 }\nlet a: A = demo::json_response().await?.json()?;\na.x",
            &["write `#[derive(Deserialize)]` before `struct A`"],
        ),
        ("let v = vec![1, 2]; v.into_iter().map(|x| x * 2)", &["`.collect::<Vec<_>>()`"]),
        ("async { 1 }", &["add `.await`"]),
        ("|x: i32| x + 1", &["a closure can't be serialized: call it"]),
        ("std::time::Instant::now()", &["`Instant` can't be serialized: write `format!(\"{value:?}\")`"]),
    ]);
}

/// A signature is shown once, however many messages refer to it.
#[test]
fn signatures_are_not_repeated() {
    let code = "let page = demo::list_orders().await?;\nlet a = page.order.len();\nlet b = page.next;\na";
    let outcome = run(code).expect("compile_error", 3);
    let hints: Vec<&str> =
        outcome["diagnostics"].as_array().unwrap().iter().map(|one| one["hint"].as_str().unwrap()).collect();
    assert_eq!(hints.len(), 2, "{outcome:#}");
    assert_snapshot!(normal(&hints[0]), @r"
    `ListOrdersOutput` has no field `order`; did you mean `orders`?
    demo::list_orders(cursor?: String /* `next_cursor` of the previous page. Omit it for the first page. */, limit?: i64 /* How many orders the page may have; default 20; at least 1; at most 50 */, status?: OrderStatus /* Only orders with this status. */) -> { orders: Vec<Order> /* The orders, oldest first. */, next_cursor: Option<String> /* Pass it as `cursor` to get the next page; absent on the last one. */ }
    enum OrderStatus { Pending, Shipped, Delivered, Cancelled, Other(String) }
    Order { id: String, customer_id: String /* The customer; see `get_customer`. */, status: OrderStatus, total_cents: i64 /* The sum over all items, in cents; at least 0 */, items: Vec<OrderItem>, placed_at: String /* When the order was placed, in RFC 3339 format. */ }
    OrderItem { sku: String /* The product's stock-keeping unit. */, quantity: i64 /* at least 0 */ }
    ");
    assert_snapshot!(normal(&hints[1]), @"`ListOrdersOutput` has no field `next`; did you mean `next_cursor`?");
}

/// Ambiguous or misleading mistakes are not corrected.
#[test]
fn ambiguous_mistakes_are_not_corrected() {
    advised(&[
        // A misspelled setter similar to an existing one.
        ("demo::list_orders().limits(3).await?", &["did you mean `limit`?"]),
        ("demo::list_orders().await?.next_cursors", &["did you mean `next_cursor`?"]),
        ("vec![1, 1].unique()", &["use itertools::Itertools;", ".iter()"]),
        ("list_orders().limit(2).await?", &["write `demo::list_orders`"]),
        // Without the module, it need not mean a server.
        (
            "let input = ListOrdersInput { limit: None, cursor: None, status: None };\n1",
            &["write `demo::ListOrdersInput`"],
        ),
    ]);
}

/// A call that is dropped and never made causes a warning in each run, even if no correction is certain.
#[test]
fn calls_that_are_never_made_cause_a_warning() {
    let own = "async fn add(text: &str) -> Result<()> {\n    demo::create_note(text, \"t\").await?;\n    Ok(())\n}\nadd(\"a\");\n1";
    let dropped = "fn make() -> Vec<i32> { vec![1] }\nmake().iter().map(|x| x + 1);\n1";
    let asleep = "sleep(Duration::from_millis(1));\n1";
    let mut shown = Vec::new();
    for (code, line) in [(own, 5), (dropped, 2), (asleep, 1)] {
        for _ in 0..2 {
            let outcome = run(code).expect("ok", 0);
            let warning = &outcome["diagnostics"][0];
            assert_eq!(
                (&warning["level"], &warning["line"]),
                (&"warning".into(), &line.into()),
                "{outcome:#}"
            );
            assert_eq!(outcome["calls_total"], 0);
        }
        let done = plain(code).done().exits(0);
        shown.push(normal(&done.stderr));
    }
    assert_snapshot!(shown.join("\n"), @r#"
    toolsmith: no MCP servers are configured: `demo` is the built-in demo server (add one of your own with `toolsmith mcp add`)
    toolsmith: warning[unused_must_use]: unused implementer of `Future` that must be used
     --> 5:1
    5 | add("a");
      | ^^^^^^^^
    note: futures do nothing unless you `.await` or poll them
    note: requested on the command line with `--force-warn unused-must-use`

    toolsmith: warning[unused_must_use]: unused `std::iter::Map` that must be used
     --> 2:1
    2 | make().iter().map(|x| x + 1);
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    note: iterators are lazy and do nothing unless consumed
    note: requested on the command line with `--force-warn unused-must-use`
    help: use `let _ = ...` to ignore the resulting value
      2:1: `let _ =`

    toolsmith: warning[unused_must_use]: unused `Sleep` that must be used
     --> 1:1
    1 | sleep(Duration::from_millis(1));
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
    note: futures do nothing unless you `.await` or poll them
    note: requested on the command line with `--force-warn unused-must-use`
    help: use `let _ = ...` to ignore the resulting value
      1:1: `let _ =`
    "#);
}

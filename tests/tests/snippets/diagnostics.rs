//! Compile errors are reported in the snippet's own lines and columns.

use end_to_end::cache::json;
use end_to_end::harness::assert_says;
use end_to_end::page::normal;
use insta::assert_snapshot;
use serde_json::Value;

#[track_caller]
fn first(outcome: &Value) -> (u64, u64) {
    let first = &outcome["diagnostics"][0];
    (first["line"].as_u64().unwrap(), first["column"].as_u64().unwrap())
}

#[test]
fn type_errors_are_placed_exactly() {
    let cases = [
        ("line 1", "let x: i32 = \"a\"; x", "E0308", (1, 14)),
        ("the very start", "nothing_like_this()", "E0425", (1, 1)),
        ("a later line", "let a = 1;\n\n  let b: bool = a;\nb", "E0308", (3, 17)),
        (
            "within a statement",
            "let sum: i32 = [1, 2]\n    .iter()\n    .mop(|x| x + 1)\n    .sum();\nsum",
            "E0599",
            (3, 6),
        ),
        ("after other letters", "let größe = \"世界\"; let x: i32 = größe; x", "E0308", (1, 32)),
        ("after other letters, later", "let a = 1;\nlet t = \"🦀🦀\"; let x: bool = a; x", "E0308", (2, 29)),
        ("after tabs", "let a = 1;\n\tif true {\n\t\tlet x: bool = a;\n\t}", "E0308", (3, 17)),
        ("in a fence", "```rust\nlet a = 1;\nlet x: bool = a;\n```", "E0308", (3, 15)),
        ("in prose", "Look:\n\n```rust\nlet x: bool = 1;\n```\n", "E0308", (4, 15)),
        ("in run", "async fn run() -> Result<i32> {\n    Ok(\"a\")\n}", "E0308", (2, 8)),
        ("in run, line 1", "async fn run() -> Result<i32> { let x: i32 = \"a\"; Ok(x) }", "E0308", (1, 46)),
        ("in a macro", "let a = 1;\nprintln!(\"{}\", missing);\na", "E0425", (2, 16)),
        ("in a format string", "let a = 1;\nprintln!(\"{missing}\");\na", "E0425", (2, 12)),
        ("a tail that is no result", "let a = 1;\n\nstd::thread::spawn(|| 1)", "E0277", (3, 1)),
        (
            "changed while borrowed",
            "let mut v = vec![1];\nlet a = &v;\nv.push(a.len());\na.len()",
            "E0502",
            (3, 1),
        ),
    ];
    let mut wrong = Vec::new();
    for (name, code, error, place) in cases {
        let outcome = json(code).expect("compile_error", 3);
        let diagnostic = &outcome["diagnostics"][0];
        let expected_line = code.split('\n').nth(place.0 as usize - 1).unwrap();
        let shown = diagnostic["rendered"].as_str().is_some_and(|text| text.contains(expected_line));
        if diagnostic["code"] != error
            || first(&outcome) != place
            || !shown
            || outcome["error"]["kind"] != "compile"
        {
            wrong.push(format!("{name}: expected {error} at {place:?}: {}", outcome["diagnostics"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Closures and futures have no names: the compiler identifies them by their places.
#[test]
fn places_in_type_names_are_the_snippets() {
    let outcome = json("|x: i32| x + 1").expect("compile_error", 3);
    let mut shown = Vec::new();
    for text in [&outcome["diagnostics"][0]["message"], &outcome["diagnostics"][0]["rendered"]] {
        shown.push(normal(&text));
    }
    assert_snapshot!(shown.join("\n"), @r"
    the snippet's result `{closure@snippet.rs:1:1: 1:9}` cannot be turned into JSON
    error[E0277]: the snippet's result `{closure@snippet.rs:1:1: 1:9}` cannot be turned into JSON
     --> 1:1
    1 | |x: i32| x + 1
      | ^^^^^^^^^^^^^^ the trait `Serialize` is not implemented for closure `{closure@snippet.rs:1:1: 1:9}`
     --> 1:1
    1 | |x: i32| x + 1
      | ^^^^^^^^ consider calling this closure
    note: end the snippet with a value that implements `serde::Serialize`, or with `;` for no result
    note: a tool call must be awaited first: `.await?`
    ");
}

#[test]
fn syntax_errors_need_no_compiler() {
    let cases = [
        ("let x = ;", (1, 9)),
        ("let a = 1;\nlet b = (a + 2;\nb", (2, 9)),
        ("for i in 0..3 {\n    println!(\"{i}\");\n", (1, 15)),
        ("let a = 1;\nlet text = \"never closed;\na", (2, 12)),
        ("let größe = 1; let = 2;", (1, 20)),
        ("1 +", (1, 4)),
        ("fn run( { }", (1, 7)),
        ("let a = 'ab';", (1, 9)),
        ("/* never closed", (1, 1)),
        ("}", (1, 1)),
    ];
    let mut wrong = Vec::new();
    for (code, place) in cases {
        let outcome = json(code).expect("compile_error", 3);
        let phases = &outcome["phases_ms"];
        if phases["compile"] != 0.0 || phases["bindings"] != 0.0 || first(&outcome) != place {
            wrong.push(format!("{code:?}: expected {place:?}: {}", outcome["diagnostics"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn messages_help_with_tools() {
    let outcome = json("let page = demo::list_orders().limit(\"ten\").await?;\npage.orders.len()")
        .expect("compile_error", 3);
    assert_snapshot!(normal(&outcome["diagnostics"][0]["hint"]), @r"
    demo::list_orders(cursor?: String /* `next_cursor` of the previous page. Omit it for the first page. */, limit?: i64 /* How many orders the page may have; default 20; at least 1; at most 50 */, status?: OrderStatus /* Only orders with this status. */) -> { orders: Vec<Order> /* The orders, oldest first. */, next_cursor: Option<String> /* Pass it as `cursor` to get the next page; absent on the last one. */ }
    enum OrderStatus { Pending, Shipped, Delivered, Cancelled, Other(String) }
    Order { id: String, customer_id: String /* The customer; see `get_customer`. */, status: OrderStatus, total_cents: i64 /* The sum over all items, in cents; at least 0 */, items: Vec<OrderItem>, placed_at: String /* When the order was placed, in RFC 3339 format. */ }
    OrderItem { sku: String /* The product's stock-keeping unit. */, quantity: i64 /* at least 0 */ }
    ");

    let taken = json("let customer = demo::get_customer(\"c-01\").await?;\ncustomer.surname")
        .expect("compile_error", 3);
    assert_eq!(first(&taken), (2, 10));
    assert_snapshot!(normal(&taken["diagnostics"][0]["hint"]), @r"
    `GetCustomerOutput` has no field `surname`; its fields are `id`, `name`, `email`, `city` and `vip`
    demo::get_customer(id: String /* The customer's id, such as `c-01`. */) -> GetCustomerOutput
    GetCustomerOutput { id: String, name: String, email: String, city: String, vip: bool /* Whether this is a very important customer. */ }
    ");

    let unknown = json("demo::list_ordes().await?").expect("compile_error", 3);
    assert_snapshot!(normal(&unknown["diagnostics"][0]["hint"]), @r"
    `demo` has no `list_ordes`; did you mean `list_orders`?
    demo::list_orders(cursor?: String /* `next_cursor` of the previous page. Omit it for the first page. */, limit?: i64 /* How many orders the page may have; default 20; at least 1; at most 50 */, status?: OrderStatus /* Only orders with this status. */) -> { orders: Vec<Order> /* The orders, oldest first. */, next_cursor: Option<String> /* Pass it as `cursor` to get the next page; absent on the last one. */ }
    enum OrderStatus { Pending, Shipped, Delivered, Cancelled, Other(String) }
    Order { id: String, customer_id: String /* The customer; see `get_customer`. */, status: OrderStatus, total_cents: i64 /* The sum over all items, in cents; at least 0 */, items: Vec<OrderItem>, placed_at: String /* When the order was placed, in RFC 3339 format. */ }
    OrderItem { sku: String /* The product's stock-keeping unit. */, quantity: i64 /* at least 0 */ }
    ");

    let not_awaited = json("(demo::echo(\"x\"), 1)").expect("compile_error", 3);
    assert_snapshot!(normal(&not_awaited["diagnostics"][0]["hint"]), @r"
    a call must be awaited: `demo::echo(…).await?`
    demo::echo(message: String /* The text to send back. */) -> ToolResult
    ");

    let no_server = json("nosuch::tool().await?").expect("compile_error", 3);
    assert_snapshot!(normal(&no_server["diagnostics"][0]["message"]), @r"
    cannot find module or crate `nosuch` in this scope
    ");
}

#[test]
fn huge_snippets_are_rejected_in_bounded_time() {
    let deep = format!("{}1{}", "(".repeat(200_000), ")".repeat(200_000));
    let outcome = json(&deep).expect("compile_error", 3);
    assert_eq!(outcome["phases_ms"]["compile"], 0.0);
    let unary = format!("{}1", "-".repeat(100_000));
    json(&unary).expect("compile_error", 3);
    let long = format!("// {}\n1", "x".repeat(2 << 20));
    let outcome = json(&long).expect("compile_error", 3);
    assert_says(&outcome["error"]["message"], &["limit"]);
    let many = (0..2_000).map(|number| format!("let x{number}: i32 = \"a\";\n")).collect::<String>();
    let outcome = json(&many).expect("compile_error", 3);
    assert!(outcome["diagnostics"].as_array().unwrap().len() <= 8);
    assert!(outcome.to_string().len() < 20_000, "{} bytes", outcome.to_string().len());
    let endless = "macro_rules! grow { ($($x:tt)*) => { grow!($($x)* $($x)*) } }\ngrow!(1 2 3);";
    json(endless).arguments(&["--timeout", "20"]).expect("compile_error", 3);
    let generic = "fn f<T>(n: u32, t: T) { if n > 0 { f(n - 1, (t, 1)); } }\nf(3, ());";
    json(generic).arguments(&["--timeout", "20"]).expect("compile_error", 3);
}

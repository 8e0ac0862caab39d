//! The texts that are executed.

/// Name of the server with many tools.
pub(super) const LARGE: &str = "large";

/// One tool call.
pub(super) fn call(server: &str) -> String {
    format!("{server}::echo(\"call\").await?.text()")
}

/// No tool call.
pub(super) const SUM: &str = "let a: u64 = 41;\na + 1";

/// Ten tool calls in parallel.
pub(super) const CALLS: &str = r#"let answers = concurrently(10, 0..10, |n| async move { demo::echo(n.to_string()).await }).await?;
answers.iter().map(|answer| answer.text()).collect::<Vec<_>>()"#;

/// A loop of three million steps.
pub(super) const LOOP: &str =
    "let mut x: u64 = 7;\nfor step in 0..3_000_000 { x = (x * 31 + step) % 1_000_003; }\nx";

/// A text that is assigned to a number.
pub(super) const TYPE_ERROR: &str = "let number: i32 = demo::echo(\"one\").await?.text();\nnumber";

/// Twelve typical snippets, from the simplest to an analysis over several pages. They stay as they are, so that figures of
/// different versions can be compared.
pub(super) const TYPICAL: [&str; 12] = [
    SUM,
    r#"demo::echo("hello").await?.text()"#,
    r#"let customer = demo::get_customer("c-01").await?;
println!("{} lives in {}", customer.name, customer.city);
customer.vip"#,
    r#"let orders = demo::list_orders().limit(1).await?.orders;
let customer = demo::get_customer(&orders[0].customer_id).await?;
(customer.name, orders[0].total_cents)"#,
    CALLS,
    r#"let (first, second) = futures::try_join!(demo::get_customer("c-01"), demo::get_customer("c-02"))?;
vec![first.city, second.city]"#,
    r#"let mut products = demo::search_products("").max_price_cents(5000).await?.products;
products.retain(|product| product.in_stock);
products.sort_by(|a, b| a.price_cents.cmp(&b.price_cents).then_with(|| a.sku.cmp(&b.sku)));
products.into_iter().take(3).map(|product| product.name).collect::<Vec<_>>()"#,
    r#"let mut revenue: BTreeMap<String, i64> = BTreeMap::new();
let mut cursor = None;
loop {
    let mut request = demo::list_orders().limit(50);
    if let Some(cursor) = cursor { request = request.cursor(cursor); }
    let page = request.await?;
    for order in page.orders {
        *revenue.entry(order.customer_id).or_default() += order.total_cents;
    }
    cursor = page.next_cursor;
    if cursor.is_none() { break; }
}
revenue"#,
    r#"let words = Regex::new(r"(?i)\b(mug|cup)s?\b")?;
let products = demo::search_products("").await?.products;
products.iter().filter(|product| words.is_match(&product.name)).count()"#,
    r#"let orders = demo::list_orders().limit(50).await?.orders;
let mut days: BTreeMap<NaiveDate, usize> = BTreeMap::new();
for order in orders {
    let placed: DateTime<Utc> = order.placed_at.parse()?;
    *days.entry(placed.date_naive()).or_default() += 1;
}
days.into_iter().max_by_key(|(_, count)| *count)"#,
    r#"for id in ["c-01", "c-999"] {
    match demo::get_customer(id).await.with_context(|| format!("customer {id}")) {
        Ok(customer) => println!("{}: {}", customer.id, customer.email),
        Err(error) => println!("{error:#}"),
    }
}"#,
    r#"let statistics: serde_json::Value = serde_json::from_str(&demo::json_response().await?.text())?;
let keys: Vec<&String> = statistics.as_object().map(|object| object.keys().collect()).unwrap_or_default();
json!({ "keys": keys, "note": demo::create_note("bench", "twelfth").await?.id })"#,
];

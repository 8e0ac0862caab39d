let mut products: Vec<Value> = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/products.json").await?.content)?;
products.sort_by_key(|p| (p["id"].as_i64().unwrap_or(0), p["id"].to_string()));
let mut csv = String::from("id,price\n");
let mut highest = 0i64;
for p in products.iter().filter(|p| p["name"].as_str().is_some_and(|n| n.starts_with("Mug"))) {
    let price = p["price"].as_f64().ok_or_else(|| anyhow!("price of {p}"))?;
    let cents = ((price * 100.0).round() as i64 * 112 + 50) / 100;
    let id = match &p["id"] { Value::String(s) => s.clone(), o => o.to_string() };
    csv.push_str(&format!("{id},{}.{:02}\n", cents / 100, cents % 100));
    highest = highest.max(cents);
}
filesystem::write_file("/tmp/toolsmith-first-try/shop/prices.csv", csv).await?;
highest as f64 / 100.0

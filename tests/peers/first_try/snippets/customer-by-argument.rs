let customer = args.get("customer").ok_or_else(|| anyhow::anyhow!("argument customer is missing"))?.to_string();
let least: f64 = args.get("least").unwrap_or("0").trim().parse()?;
let dir = "/tmp/toolsmith-first-try/shop/orders";
let names: Vec<String> = filesystem::list_directory(dir).await?.content.lines()
    .filter_map(|l| l.trim().strip_prefix("[FILE]").map(|n| n.trim().to_string())).filter(|n| n.ends_with(".json")).collect();
let texts = concurrently(8, &names, |n| async move { filesystem::read_text_file(format!("{dir}/{n}")).await }).await?;
let mut orders: Vec<String> = vec![];
for t in &texts {
    let Ok(v) = serde_json::from_str::<Value>(&t.content) else { continue };
    if v["customer"].as_str() != Some(customer.as_str()) { continue; }
    let sum: f64 = v["lines"].as_array().into_iter().flatten()
        .map(|l| l["count"].as_f64().unwrap_or(0.0) * l["price"].as_f64().unwrap_or(0.0)).sum();
    if sum >= least - 1e-9 {
        orders.push(v["id"].as_str().map(|s| s.to_string()).unwrap_or_else(|| v["id"].to_string()));
    }
}
orders.sort();
json!({"customer": customer, "orders": orders})

let customer = args.get("customer").ok_or_else(|| anyhow!("argument customer is missing"))?.to_string();
let least = args.get("least").ok_or_else(|| anyhow!("argument least is missing"))?.to_string().trim().parse::<f64>()?;

let dir = "/tmp/toolsmith-first-try/shop/orders";
let listing = filesystem::list_directory(dir).await?;
let paths: Vec<String> = listing.content.lines()
    .filter_map(|l| l.trim().strip_prefix("[FILE]").map(|n| n.trim().to_string()))
    .filter(|n| n.ends_with(".json"))
    .map(|n| format!("{}/{}", dir, n))
    .collect();
let texts = concurrently(8, &paths, |p| async move {
    let text = match filesystem::read_text_file(p.as_str()).await {
        Ok(f) => Ok(Some(f.content)),
        Err(e) => if matches!(e.kind, ToolErrorKind::Failed) { Ok(None) } else { Err(e) },
    };
    text
}).await?;

fn sum_of(order: &Value) -> Option<f64> {
    let mut sum = 0.0;
    for line in order["lines"].as_array()? {
        sum += line["count"].as_f64()? * line["price"].as_f64()?;
    }
    Some(sum)
}
let mut orders: Vec<String> = Vec::new();
for text in texts.iter().flatten() {
    let order = match text.parse::<Value>() {
        Ok(o) => o,
        Err(_) => continue,
    };
    if order["customer"].as_str() != Some(customer.as_str()) {
        continue;
    }
    let id = match order["id"].as_str() {
        Some(id) => id.to_string(),
        None => continue,
    };
    if let Some(sum) = sum_of(&order) {
        if sum + 1e-6 >= least {
            orders.push(id);
        }
    }
}
orders.sort();
json!({ "customer": customer, "orders": orders })

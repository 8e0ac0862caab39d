let customer = args.get("customer").unwrap().to_string();
let least: f64 = args.get("least").unwrap().to_string().trim().parse()?;
let dir = "/tmp/toolsmith-first-try/shop/orders";
let names: Vec<String> = filesystem::list_directory(dir).await?.content.lines().filter_map(|x| x.strip_prefix("[FILE] ")).map(|s| s.trim().to_string()).filter(|n| n.ends_with(".json")).collect();
let texts = concurrently(8, &names, |n| async move { filesystem::read_text_file(format!("{dir}/{n}")).await }).await?;
let mut ids: Vec<Value> = vec![];
for t in &texts {
    let Ok(o) = serde_json::from_str::<Value>(&t.content) else { continue };
    if o["customer"] != customer.as_str() { continue; }
    let Some(lines) = o["lines"].as_array() else { continue };
    let s: f64 = lines.iter().map(|l| l["count"].as_f64().unwrap_or(0.0) * l["price"].as_f64().unwrap_or(0.0)).sum();
    if s + 1e-6 >= least { ids.push(o["id"].clone()); }
}
ids.sort_by(|a, b| match (a.as_f64(), b.as_f64()) { (Some(x), Some(y)) => x.total_cmp(&y), _ => a.to_string().cmp(&b.to_string()) });
json!({"customer": customer, "orders": ids})

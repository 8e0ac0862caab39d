let orders = "/tmp/toolsmith-first-try/shop/orders";
let listing = filesystem::list_directory(orders).await?.content;
let names: Vec<String> = listing.lines().filter_map(|l| l.strip_prefix("[FILE] ")).map(|n| n.trim().to_string()).collect();
let texts = concurrently(8, &names, |n| async move { filesystem::read_text_file(format!("{orders}/{n}")).await.map(|f| f.content) }).await?;
let mut days: BTreeMap<String, (usize, f64)> = BTreeMap::new();
for text in texts {
    let Ok(order) = text.parse::<Value>() else { continue };
    let day = days.entry(order["day"].as_str().unwrap_or("").to_string()).or_default();
    day.0 += 1;
    for line in order["lines"].as_array().into_iter().flatten() {
        day.1 += line["count"].as_f64().unwrap_or(0.0) * line["price"].as_f64().unwrap_or(0.0);
    }
}
let mut days: Vec<_> = days.into_iter().collect();
days.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
days.into_iter().take(3).map(|(day, (n, sum))| json!({"day": day, "orders": n, "revenue": (sum * 100.0).round() / 100.0})).collect::<Vec<_>>()

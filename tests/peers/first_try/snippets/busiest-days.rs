let dir = filesystem::list_directory("/tmp/toolsmith-first-try/shop/orders").await?.content;
let names: Vec<String> = dir.lines().filter_map(|l| l.trim().strip_prefix("[FILE]").map(|s| s.trim().to_string())).collect();
let texts = concurrently(8, names, |n| async move { filesystem::read_text_file(format!("/tmp/toolsmith-first-try/shop/orders/{n}")).await }).await?;
let mut days: BTreeMap<String, (u32, f64)> = BTreeMap::new();
for t in &texts {
    let Ok(v) = serde_json::from_str::<Value>(&t.content) else { continue; };
    let rev: f64 = v["lines"].as_array().map(|a| a.iter().map(|l| l["count"].as_f64().unwrap_or(0.0) * l["price"].as_f64().unwrap_or(0.0)).sum()).unwrap_or(0.0);
    let e = days.entry(v["day"].as_str().unwrap_or("?").to_string()).or_insert((0, 0.0));
    e.0 += 1;
    e.1 += rev;
}
let mut v: Vec<(String, (u32, f64))> = days.into_iter().collect();
v.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
v.iter().take(3).map(|(d, (n, r))| json!({"day": d, "orders": n, "revenue": (r * 100.0).round() / 100.0})).collect::<Vec<_>>()

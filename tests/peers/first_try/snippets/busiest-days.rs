const DIR: &str = "/tmp/toolsmith-first-try/shop/orders";
fn num(v: &Value) -> f64 { v.as_f64().or_else(|| v.as_str().and_then(|s| s.parse().ok())).unwrap_or(0.0) }
let names: Vec<String> = filesystem::list_directory(DIR).await?.content.lines()
    .filter_map(|l| l.strip_prefix("[FILE] ").map(|s| s.trim_end().to_string())).collect();
let texts = concurrently(8, &names, |n| async move { filesystem::read_text_file(format!("{DIR}/{n}")).await }).await?;
let mut days: std::collections::BTreeMap<String, (i64, f64)> = Default::default();
for t in &texts {
    let Ok(v) = serde_json::from_str::<Value>(&t.content) else { continue };
    let r: f64 = v["lines"].as_array().map(|a| a.iter().map(|l| num(&l["count"]) * num(&l["price"])).sum()).unwrap_or(0.0);
    let e = days.entry(v["day"].as_str().unwrap_or("").to_string()).or_default();
    e.0 += 1;
    e.1 += r;
}
let mut all: Vec<(String, i64, f64)> = days.into_iter().map(|(d, (n, r))| (d, n, (r * 100.0).round() / 100.0)).collect();
all.sort_by(|a, b| b.2.total_cmp(&a.2));
all.iter().take(3).map(|(d, n, r)| json!({"day": d, "orders": n, "revenue": r})).collect::<Vec<_>>()

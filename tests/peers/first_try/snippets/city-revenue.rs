const ROOT: &str = "/tmp/toolsmith-first-try/shop";
fn num(v: &Value) -> f64 { v.as_f64().or_else(|| v.as_str().and_then(|s| s.parse().ok())).unwrap_or(0.0) }
let csv = filesystem::read_text_file(format!("{ROOT}/customers.csv")).await?.content;
let rows: Vec<Vec<String>> = csv.lines().skip(1).filter(|l| !l.trim().is_empty())
    .map(|l| l.split(',').map(|c| c.trim().trim_matches('"').to_string()).collect()).collect();
let names: Vec<String> = filesystem::list_directory(format!("{ROOT}/orders")).await?.content.lines()
    .filter_map(|l| l.strip_prefix("[FILE] ").map(|s| s.trim_end().to_string())).collect();
let texts = concurrently(8, &names, |n| async move { filesystem::read_text_file(format!("{ROOT}/orders/{n}")).await }).await?;
let mut unreadable: Vec<String> = vec![];
let mut sums: std::collections::BTreeMap<String, (i64, f64)> = Default::default();
for (n, t) in names.iter().zip(&texts) {
    let v: Value = match serde_json::from_str(&t.content) { Ok(v) => v, Err(_) => { unreadable.push(n.clone()); continue; } };
    let c = match &v["customer"] { Value::String(s) => s.clone(), o => o.to_string() };
    let city = rows.iter().find(|r| r[0] == c || r[1] == c).map(|r| r[2].clone()).unwrap_or_else(|| "?".to_string());
    let r: f64 = v["lines"].as_array().map(|a| a.iter().map(|l| num(&l["count"]) * num(&l["price"])).sum()).unwrap_or(0.0);
    let e = sums.entry(city).or_default();
    e.0 += 1;
    e.1 += r;
}
unreadable.sort();
let mut cities: Vec<(String, i64, f64)> = sums.into_iter().map(|(c, (n, r))| (c, n, (r * 100.0).round() / 100.0)).collect();
cities.sort_by(|a, b| b.2.total_cmp(&a.2));
json!({"unreadable": unreadable, "cities": cities.iter().map(|(c, n, r)| json!({"city": c, "orders": n, "revenue": r})).collect::<Vec<_>>()})

let base = "/tmp/toolsmith-first-try/shop";
let csv = filesystem::read_text_file(format!("{base}/customers.csv")).await?.content;
let mut lines = csv.lines().filter(|l| !l.trim().is_empty());
let head: Vec<String> = lines.next().unwrap_or("").split(',').map(|s| s.trim().trim_matches('"').to_string()).collect();
let col = |n: &str| head.iter().position(|h| h == n);
let (ci, cn, cc) = (col("id").unwrap_or(0), col("name").unwrap_or(1), col("city").unwrap_or(2));
let mut city: HashMap<String, String> = HashMap::new();
for l in lines {
    let f: Vec<String> = l.split(',').map(|s| s.trim().trim_matches('"').to_string()).collect();
    city.insert(f[ci].clone(), f[cc].clone());
    city.entry(f[cn].clone()).or_insert(f[cc].clone());
}
let dir = filesystem::list_directory(format!("{base}/orders")).await?.content;
let names: Vec<String> = dir.lines().filter_map(|l| l.trim().strip_prefix("[FILE]").map(|s| s.trim().to_string())).collect();
let texts = concurrently(8, names.clone(), |n| async move { filesystem::read_text_file(format!("/tmp/toolsmith-first-try/shop/orders/{n}")).await }).await?;
let mut unreadable: Vec<String> = vec![];
let mut sums: BTreeMap<String, (u32, f64)> = BTreeMap::new();
for (n, t) in names.iter().zip(&texts) {
    let Ok(v) = serde_json::from_str::<Value>(&t.content) else { unreadable.push(n.clone()); continue; };
    let key = match &v["customer"] { Value::String(s) => s.clone(), o => o.to_string() };
    let c = city.get(&key).cloned().unwrap_or_else(|| format!("?{key}"));
    let rev: f64 = v["lines"].as_array().map(|a| a.iter().map(|l| l["count"].as_f64().unwrap_or(0.0) * l["price"].as_f64().unwrap_or(0.0)).sum()).unwrap_or(0.0);
    let e = sums.entry(c).or_insert((0, 0.0));
    e.0 += 1;
    e.1 += rev;
}
unreadable.sort();
let mut v: Vec<(String, (u32, f64))> = sums.into_iter().collect();
v.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
json!({"unreadable": unreadable, "cities": v.iter().map(|(c, (n, r))| json!({"city": c, "orders": n, "revenue": (r * 100.0).round() / 100.0})).collect::<Vec<_>>()})

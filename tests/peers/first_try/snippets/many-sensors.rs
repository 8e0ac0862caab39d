let dir = "/tmp/toolsmith-first-try/shop/sensors";
let listing = filesystem::list_directory(dir).await?.content;
let names: Vec<String> = listing.lines().filter_map(|l| l.trim().strip_prefix("[FILE]").map(|n| n.trim().to_string())).collect();
let texts = concurrently(8, &names, |n| async move {
    filesystem::read_text_file(format!("{dir}/{n}")).await
}).await?;
let field = |t: &str, key: &str| -> Option<String> {
    t.lines().find_map(|l| { let (k, v) = l.split_once(':')?; (k.trim().eq_ignore_ascii_case(key)).then(|| v.trim().to_string()) })
};
let mut faults: Vec<String> = vec![];
let mut rooms: std::collections::BTreeMap<String, Vec<f64>> = Default::default();
let mut all: Vec<f64> = vec![];
for (n, t) in names.iter().zip(texts.iter()) {
    let status = field(&t.content, "status").unwrap_or_default();
    if status != "ok" { faults.push(n.clone()); continue; }
    let c = field(&t.content, "celsius").unwrap_or_default().replace(',', ".");
    let c: f64 = c.parse().map_err(|e| anyhow::anyhow!("{n}: {c:?}: {e}"))?;
    all.push(c);
    rooms.entry(field(&t.content, "room").unwrap_or_default()).or_default().push(c);
}
faults.sort();
let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
let hottest = rooms.iter().map(|(r, v)| (r.clone(), mean(v))).max_by(|a, b| a.1.total_cmp(&b.1)).map(|x| x.0);
json!({"files": names.len(), "faults": faults, "mean": mean(&all), "hottest_room": hottest})

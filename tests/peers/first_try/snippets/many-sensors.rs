let dir = "/tmp/toolsmith-first-try/shop/sensors";
let listing = filesystem::list_directory(dir).await?.content;
let names: Vec<String> = listing.lines().filter_map(|l| l.strip_prefix("[FILE] ")).map(|n| n.trim().to_string()).collect();
let files = concurrently(16, &names, |n| async move {
    filesystem::read_text_file(format!("{dir}/{n}")).await.map(|r| (n.clone(), r.content))
}).await?;
let mut faults: Vec<String> = Vec::new();
let mut rooms: BTreeMap<String, (f64, f64)> = BTreeMap::new();
let (mut sum, mut count) = (0.0f64, 0.0f64);
for (name, text) in &files {
    let fields: HashMap<&str, &str> = text.lines().filter_map(|l| l.split_once(':')).map(|(k, v)| (k.trim(), v.trim())).collect();
    if fields.get("status").copied() != Some("ok") {
        faults.push(name.clone());
        continue;
    }
    let celsius: f64 = fields.get("celsius").with_context(|| format!("{name}: no celsius"))?.parse::<f64>()?;
    let room = fields.get("room").with_context(|| format!("{name}: no room"))?.to_string();
    let entry = rooms.entry(room).or_insert((0.0, 0.0));
    entry.0 += celsius;
    entry.1 += 1.0;
    sum += celsius;
    count += 1.0;
}
faults.sort();
let hottest = rooms.iter().max_by(|a, b| (a.1.0 / a.1.1).total_cmp(&(b.1.0 / b.1.1))).map(|(r, _)| r.clone());
json!({"files": names.len(), "faults": faults, "mean": sum / count, "hottest_room": hottest})

let dir = "/tmp/toolsmith-first-try/shop/sensors";
let l = filesystem::list_directory(dir).await?.content;
let names: Vec<String> = l.lines().filter_map(|x| x.strip_prefix("[FILE] ")).map(|s| s.trim().to_string()).sorted().collect();
let texts = concurrently(8, &names, |n| async move { filesystem::read_text_file(format!("{dir}/{n}")).await }).await?;
let mut faults = vec![];
let (mut sum, mut cnt) = (0.0, 0usize);
let mut rooms: BTreeMap<String, (f64, usize)> = BTreeMap::new();
for (n, t) in names.iter().zip(&texts) {
    let f: HashMap<String, String> = t.content.lines().filter_map(|l| l.split_once(':')).map(|(k, v)| (k.trim().to_string(), v.trim().to_string())).collect();
    if f.get("status").map(|s| s.as_str()) != Some("ok") { faults.push(n.clone()); continue; }
    let c: f64 = f["celsius"].parse()?;
    sum += c; cnt += 1;
    let e = rooms.entry(f["room"].clone()).or_insert((0.0, 0));
    e.0 += c; e.1 += 1;
}
let hottest = rooms.iter().max_by(|a, b| (a.1.0 / a.1.1 as f64).total_cmp(&(b.1.0 / b.1.1 as f64))).map(|x| x.0.clone());
json!({"files": names.len(), "faults": faults, "mean": sum / cnt as f64, "hottest_room": hottest})

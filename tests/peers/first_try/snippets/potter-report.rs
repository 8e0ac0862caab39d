let log = kilns::firing_log().await?.result;
let fre = Regex::new(r"F-\d+/\d+")?;
let mut firings: Vec<String> = vec![];
for line in log.lines() {
    if let Some(m) = fre.find(line) {
        let f = m.as_str().to_string();
        if !firings.contains(&f) { firings.push(f); }
    }
}
anyhow::ensure!(!firings.is_empty(), "no firings in the log: {log}");
let mut total: std::collections::BTreeMap<String, (usize, usize)> = Default::default();
for f in &firings {
    let r = kilns::shelf_plan(f).await?;
    let text = r.text().to_string();
    let start = text.find("\n[").map(|i| i + 1).or_else(|| text.find('[')).ok_or_else(|| anyhow::anyhow!("no JSON: {text}"))?;
    let plan: Value = serde_json::from_str(text[start..].trim())?;
    let mut potter_of: HashMap<String, String> = HashMap::new();
    for shelf in plan.as_array().unwrap() {
        for p in shelf["pieces"].as_array().unwrap() {
            potter_of.insert(p["id"].as_str().unwrap().to_string(), p["potter"].as_str().unwrap().to_string());
        }
    }
    let d = kilns::defects(f).await?.result;
    let mut bad: HashSet<String> = HashSet::new();
    for line in d.lines() {
        let hit = line
            .split(|c: char| !(c.is_alphanumeric() || c == '-' || c == '/'))
            .find(|t| potter_of.contains_key(*t));
        if let Some(t) = hit { bad.insert(t.to_string()); }
    }
    for (id, potter) in &potter_of {
        let e = total.entry(potter.clone()).or_default();
        e.1 += 1;
        if bad.contains(id) { e.0 += 1; }
    }
}
let lines: Vec<String> = total.iter().filter(|(_, v)| v.0 > 0).map(|(k, v)| format!("{k}: {} of {}", v.0, v.1)).collect();
filesystem::create_directory("/tmp/toolsmith-first-try/shop/reports").await?;
filesystem::write_file("/tmp/toolsmith-first-try/shop/reports/defects.txt", format!("{}\n", lines.join("\n"))).await?;
lines

let apiaries = hives::list_apiaries().await?.result;
let code = apiaries.iter().find(|a| a.place.to_lowercase().contains("orchard")).map(|a| a.code.clone()).ok_or_else(|| anyhow::anyhow!("no orchard"))?;
let colonies = hives::list_colonies().apiary(code).await?.result;
let num = Regex::new(r"-?\d+(?:[.,]\d+)?")?;
let mut rows: Vec<(f64, String, usize)> = vec![];
for c in &colonies {
    let mut entries: Vec<(String, Option<f64>)> = vec![];
    let mut cursor: Option<String> = None;
    loop {
        let page = match &cursor { Some(k) => hives::inspections(c.hive.clone()).cursor(k.clone()).await?, None => hives::inspections(c.hive.clone()).await? };
        for e in page.entries {
            let w = num.find(&e.weight).and_then(|m| m.as_str().replace(',', ".").parse().ok());
            entries.push((e.day, w));
        }
        match page.cursor { Some(k) if !k.is_empty() => cursor = Some(k), _ => break }
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let weights: Vec<f64> = entries.iter().filter_map(|e| e.1).collect();
    let gain = match (weights.first(), weights.last()) { (Some(a), Some(b)) => b - a, _ => 0.0 };
    rows.push(((gain * 10.0).round() / 10.0, c.hive.clone(), entries.len()));
}
rows.sort_by(|a, b| b.0.total_cmp(&a.0));
rows.iter().map(|(g, h, n)| json!({"hive": h, "gain": g, "inspections": n})).collect::<Vec<_>>()

fn number(s: &str) -> Option<f64> {
    let t: String = s.chars().filter(|c| !c.is_whitespace()).collect();
    t.replace(',', ".").parse().ok()
}
struct Firing { id: String, peak: Option<f64>, state: String }
fn firings(text: &str) -> Vec<Firing> {
    let re = Regex::new(r"^(\S+)\s+(\S+)\s+(\S+\s+\d\d:\d\d)\s+(\S+)\s+(-|\d[\d\s]*(?:,\d+)?)\s+(\D.*)$").unwrap();
    text.lines().filter_map(|l| re.captures(l.trim_end())).map(|c| Firing { id: c[1].to_string(), peak: number(&c[5]), state: c[6].trim().to_string() }).collect()
}
let log = kilns::firing_log().await?.result;
let mut noted = serde_json::Map::new();
let mut already: Vec<String> = vec![];
for f in firings(&log).iter().filter(|f| f.state == "done" && f.peak.map_or(false, |p| p > 1250.0)) {
    let text = kilns::shelf_plan(f.id.clone()).await?.text();
    let start = text.find('[').ok_or_else(|| anyhow::anyhow!("no plan: {text}"))?;
    let plan: Value = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>().next().ok_or_else(|| anyhow::anyhow!("no plan"))??;
    let before: Vec<String> = kilns::defects(f.id.clone()).await?.result.lines().filter_map(|l| {
        let mut t = l.split_whitespace();
        let (p, k) = (t.next()?, t.next()?);
        (k.trim_matches(|c: char| !c.is_alphanumeric()) == "overfired").then(|| p.to_string())
    }).collect();
    let mut n = 0;
    for piece in plan.as_array().into_iter().flatten().flat_map(|s| s["pieces"].as_array().into_iter().flatten()) {
        if piece["clay"].as_str() != Some("stoneware") { continue; }
        let id = piece["id"].as_str().unwrap_or_default().to_string();
        if before.contains(&id) { already.push(format!("{} {id}", f.id)); continue; }
        match kilns::note_defect(f.id.clone(), id.clone(), kilns::NoteDefectKind::Overfired).await {
            Ok(_) => n += 1,
            Err(e) if e.message.to_lowercase().contains("already") => already.push(format!("{} {id}", f.id)),
            Err(e) => return Err(e.into()),
        }
    }
    noted.insert(f.id.clone(), json!(n));
}
json!({"noted": noted, "already": already})

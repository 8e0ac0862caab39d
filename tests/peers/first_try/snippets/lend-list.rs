async fn all_props() -> anyhow::Result<Vec<(String, String)>> {
    let line = Regex::new(r"^\[([^\]]+)\]\s*(.*?)\s*::")?;
    let more = Regex::new(r"^\(more:\s*(.+?)\)\s*$")?;
    let mut out = vec![];
    let mut token: Option<String> = None;
    loop {
        let text = match &token { Some(t) => props::search_props().token(t.clone()).await?, None => props::search_props().await? }.text();
        token = None;
        for l in text.lines() {
            if let Some(c) = line.captures(l.trim()) { out.push((c[1].to_string(), c[2].to_string())); }
            else if let Some(c) = more.captures(l.trim()) { token = Some(c[1].to_string()); }
        }
        if token.is_none() { break; }
    }
    Ok(out)
}
let list = all_props().await?;
let production = args.get("production").ok_or_else(|| anyhow::anyhow!("argument production is missing"))?.trim().to_string();
let until = chrono::NaiveDate::parse_from_str(args.get("until").unwrap_or_default().trim(), "%Y-%m-%d")?.format("%G-W%V-%u").to_string();
let names: Vec<String> = args.get("props").unwrap_or_default().split(',').map(|s| s.trim().to_string()).filter(|s| !s.is_empty()).collect();
let mut lent: Vec<String> = vec![];
let mut refused: Option<String> = None;
for n in &names {
    let mut ok = false;
    for (id, _) in list.iter().filter(|p| &p.1 == n) {
        if lent.contains(id) { continue; }
        if props::lend(id.clone(), production.clone(), until.clone()).await.is_ok() { lent.push(id.clone()); ok = true; break; }
    }
    if !ok { refused = Some(n.clone()); break; }
}
if refused.is_some() {
    for id in lent.drain(..).rev() { props::take_back(id).condition(props::TakeBackCondition::Good).await?; }
}
json!({"lent": lent, "refused": refused})

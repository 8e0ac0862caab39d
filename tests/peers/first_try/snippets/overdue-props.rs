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
fn money(s: &str) -> anyhow::Result<f64> {
    let t: String = s.chars().filter(|c| c.is_ascii_digit() || *c == '.' || *c == ',').collect();
    let t = t.trim_matches(|c| c == '.' || c == ',').to_string();
    let out: String = match t.rfind(|c| c == '.' || c == ',') {
        Some(i) if t.len() - i - 1 <= 2 => format!("{}.{}", t[..i].replace(['.', ','], ""), &t[i + 1..]),
        _ => t.replace(['.', ','], ""),
    };
    out.parse().map_err(|_| anyhow::anyhow!("worth {s:?}"))
}
let limit = chrono::NaiveDate::from_ymd_opt(2025, 5, 16).unwrap();
let cards = concurrently(4, &list, |p| async move { props::prop_card(p.0.clone()).await }).await?;
let mut out = std::collections::BTreeMap::<String, (usize, f64)>::new();
for c in &cards {
    let Some(l) = &c.loan else { continue };
    let until = chrono::NaiveDate::parse_from_str(&l.until, "%G-W%V-%u").or_else(|_| chrono::NaiveDate::parse_from_str(&l.until, "%Y-%m-%d"))?;
    if until >= limit { continue; }
    let e = out.entry(l.production.clone()).or_default();
    e.0 += 1;
    e.1 += money(&c.worth)?;
}
let m: serde_json::Map<String, Value> = out.into_iter().map(|(k, v)| (k, json!({"props": v.0, "worth": (v.1 * 100.0).round() / 100.0}))).collect();
m

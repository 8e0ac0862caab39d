let row = Regex::new(r"(?m)^\[([^\]]+)\]\s*(.+?)\s*::\s*(.+?)\s*::\s*(.+?)\s*$")?;
let more = Regex::new(r"\(more:\s*([^)\s]+)\s*\)")?;
let mut token: Option<String> = None;
let mut ids: Vec<String> = vec![];
loop {
    let r = props::SearchPropsInput { kind: None, token: token.clone(), words: None }.call().await?;
    let text = r.text().to_string();
    for c in row.captures_iter(&text) { ids.push(c[1].to_string()); }
    let next = more.captures(&text).map(|c| c[1].to_string());
    if next.is_none() || next == token { break; }
    token = next;
}
let cards = concurrently(4, &ids, |id| async move { props::prop_card(id).await }).await?;
let limit = chrono::NaiveDate::from_ymd_opt(2025, 5, 16).unwrap();
// "€ 1.250,50", "1,250.50 EUR", "1250"
let cents = |s: &str| -> i64 {
    let t: String = s.chars().filter(|c| c.is_ascii_digit() || *c == '.' || *c == ',').collect();
    let t = t.trim_matches(|c| c == '.' || c == ',');
    let digits = |x: &str| x.chars().filter(|c| c.is_ascii_digit()).collect::<String>();
    match t.rfind(|c| c == '.' || c == ',') {
        Some(i) if t.len() - i - 1 <= 2 => {
            let frac = format!("{:0<2}", &t[i + 1..]);
            digits(&t[..i]).parse::<i64>().unwrap_or(0) * 100 + frac.parse::<i64>().unwrap()
        }
        _ => digits(t).parse::<i64>().unwrap() * 100,
    }
};
let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
for c in &cards {
    if let Some(l) = &c.loan {
        let day = chrono::NaiveDate::parse_from_str(l.until.trim(), "%G-W%V-%u")?;
        if day < limit {
            let e = sums.entry(l.production.clone()).or_default();
            e.0 += 1;
            e.1 += cents(&c.worth);
        }
    }
}
let mut out = serde_json::Map::new();
for (p, (n, w)) in &sums {
    let worth = if w % 100 == 0 { json!(w / 100) } else { json!(*w as f64 / 100.0) };
    out.insert(p.clone(), json!({"props": n, "worth": worth}));
}
out

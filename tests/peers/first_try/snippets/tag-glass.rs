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
let mut out = std::collections::BTreeMap::<String, Vec<String>>::new();
for (id, _) in list.iter().filter(|p| p.1.to_lowercase().contains("glass")) {
    let card = props::prop_card(id.clone()).await?;
    if !card.tags.iter().any(|t| t == "fragile") {
        let call = props::retag(id.clone()).add(vec!["fragile".to_string()]);
        if card.tags.len() >= 3 { call.remove(vec!["old".to_string()]).await?; } else { call.await?; }
    }
    let mut tags = props::prop_card(id.clone()).await?.tags;
    tags.sort();
    out.insert(id.clone(), tags);
}
out

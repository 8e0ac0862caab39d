let line_re = Regex::new(r"^\[([^\]]+)\]\s+(.*?)\s+::\s")?;
let more_re = Regex::new(r"\(more:\s*([^)\s]+)\)\s*$")?;
let mut ids: Vec<String> = vec![];
let mut token: Option<String> = None;
loop {
    let text = props::SearchPropsInput { kind: None, token: token.clone(), words: None }.call().await?.text().to_string();
    for l in text.lines() {
        if let Some(c) = line_re.captures(l) {
            if c[2].to_lowercase().contains("glass") && !ids.contains(&c[1].to_string()) { ids.push(c[1].to_string()); }
        }
    }
    match more_re.captures(text.trim_end()) {
        Some(c) if Some(c[1].to_string()) != token => token = Some(c[1].to_string()),
        _ => break,
    }
}
let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
for id in &ids {
    let mut card = props::prop_card(id).await?;
    if !card.tags.iter().any(|t| t == "fragile") {
        if card.tags.len() >= 3 {
            props::retag(id).add(vec!["fragile".to_string()]).remove(vec!["old".to_string()]).await?;
        } else {
            props::retag(id).add(vec!["fragile".to_string()]).await?;
        }
        card = props::prop_card(id).await?;
        if !card.tags.iter().any(|t| t == "fragile") { anyhow::bail!("{id}: {:?}", card.tags); }
    }
    let mut tags = card.tags;
    tags.sort();
    out.insert(id.clone(), tags);
}
if out.is_empty() { anyhow::bail!("no glass found"); }
out

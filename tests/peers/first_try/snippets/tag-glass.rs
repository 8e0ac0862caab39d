let line = Regex::new(r"^\[([^\]]+)\] (.*?) :: (\w+) :: (.*)$")?;
let more = Regex::new(r"\(more: (\w+)\)")?;
let (mut found, mut token): (Vec<(String, String, String)>, Option<String>) = (Vec::new(), None);
loop {
    let text = props::SearchPropsInput { words: Some("glass".to_string()), kind: None, token: token.clone() }.call().await?.text();
    for c in text.lines().filter_map(|l| line.captures(l)) {
        found.push((c[1].to_string(), c[2].to_string(), c[4].to_string()));
    }
    token = more.captures(&text).map(|c| c[1].to_string());
    if token.is_none() { break; }
}
let mut result = BTreeMap::new();
for (id, _, _) in &found {
    let tags = props::prop_card(id).await?.tags;
    if !tags.iter().any(|t| t == "fragile") {
        let call = props::retag(id).add(["fragile"]);
        if tags.len() == 3 { call.remove(["old"]).await?; } else { call.await?; }
    }
    let mut tags = props::prop_card(id).await?.tags;
    tags.sort();
    result.insert(id.clone(), tags);
}
result

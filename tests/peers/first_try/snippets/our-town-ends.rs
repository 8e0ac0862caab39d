let f = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/inbox/damaged.txt").await?.content;
let names: HashSet<String> = f.lines().map(|l| l.trim().to_lowercase()).filter(|l| !l.is_empty()).collect();
let row = Regex::new(r"(?m)^\[([^\]]+)\]\s*(.+?)\s*::\s*(.+?)\s*::\s*(.+?)\s*$")?;
let more = Regex::new(r"\(more:\s*([^)\s]+)\s*\)")?;
let mut token: Option<String> = None;
let mut mine: Vec<(String, String)> = vec![];
loop {
    let r = props::SearchPropsInput { kind: None, token: token.clone(), words: None }.call().await?;
    let text = r.text().to_string();
    for c in row.captures_iter(&text) {
        if c[4].starts_with("lent to Our Town until") { mine.push((c[1].to_string(), c[2].trim().to_string())); }
    }
    let next = more.captures(&text).map(|c| c[1].to_string());
    if next.is_none() || next == token { break; }
    token = next;
}
let mut good: Vec<String> = vec![];
let mut damaged: Vec<String> = vec![];
for (id, name) in &mine {
    if names.contains(&name.to_lowercase()) {
        props::take_back(id).condition(props::TakeBackCondition::Damaged).await?;
        damaged.push(id.clone());
    } else {
        props::take_back(id).condition(props::TakeBackCondition::Good).await?;
        good.push(id.clone());
    }
}
good.sort();
damaged.sort();
json!({"good": good, "damaged": damaged})

let production = args.get("production").unwrap().to_string();
let until = args.get("until").unwrap().to_string();
let wanted = args.get("props").unwrap().to_string();
let until = chrono::NaiveDate::parse_from_str(until.trim(), "%Y-%m-%d")?.format("%G-W%V-%u").to_string();
let row = Regex::new(r"(?m)^\[([^\]]+)\]\s*(.+?)\s*::\s*(.+?)\s*::\s*(.+?)\s*$")?;
let more = Regex::new(r"\(more:\s*([^)\s]+)\s*\)")?;
let mut token: Option<String> = None;
let mut all: Vec<(String, String)> = vec![];
loop {
    let r = props::SearchPropsInput { kind: None, token: token.clone(), words: None }.call().await?;
    let text = r.text().to_string();
    for c in row.captures_iter(&text) { all.push((c[1].to_string(), c[2].trim().to_string())); }
    let next = more.captures(&text).map(|c| c[1].to_string());
    if next.is_none() || next == token { break; }
    token = next;
}
let mut lent: Vec<String> = vec![];
let mut refused: Option<String> = None;
for name in wanted.split(',').map(|s| s.trim()).filter(|s| !s.is_empty()) {
    let mut ok = false;
    for (id, n) in &all {
        if n != name { continue; }
        if props::lend(id, &production, &until).await.is_err() { continue; }
        // make sure that it was accepted
        let card = props::prop_card(id).await?;
        if card.loan.as_ref().map_or(false, |l| l.production == production) {
            lent.push(id.clone());
            ok = true;
            break;
        }
    }
    if !ok { refused = Some(name.to_string()); break; }
}
if refused.is_some() {
    for id in lent.iter().rev() {
        props::take_back(id).condition(props::TakeBackCondition::Good).await?;
    }
    lent.clear();
}
json!({"lent": lent, "refused": refused})

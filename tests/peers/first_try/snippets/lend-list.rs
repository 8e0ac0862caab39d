let line = Regex::new(r"^\[([^\]]+)\] (.*?) :: (\w+) :: (.*)$")?;
let more = Regex::new(r"\(more: (\w+)\)")?;
let (mut found, mut token): (Vec<(String, String, String)>, Option<String>) = (Vec::new(), None);
loop {
    let text = props::SearchPropsInput { words: None, kind: None, token: token.clone() }.call().await?.text();
    for c in text.lines().filter_map(|l| line.captures(l)) {
        found.push((c[1].to_string(), c[2].to_string(), c[4].to_string()));
    }
    token = more.captures(&text).map(|c| c[1].to_string());
    if token.is_none() { break; }
}
let production = args.get("production").context("production")?.to_string();
let until = chrono::NaiveDate::parse_from_str(args.get("until").context("until")?, "%Y-%m-%d")?.format("%G-W%V-%u").to_string();
let names = args.get("props").context("props")?.to_string();
let (mut lent, mut refused) = (Vec::new(), None);
for name in names.split(',') {
    let id = &found.iter().find(|p| p.1 == name).with_context(|| format!("no {name}"))?.0;
    match props::lend(id, &production, &until).await {
        Ok(_) => lent.push(id.clone()),
        Err(e) if e.kind == ToolErrorKind::Failed => {
            refused = Some(name.to_string());
            break;
        }
        Err(e) => return Err(e.into()),
    }
}
if refused.is_some() {
    for id in lent.drain(..) { props::take_back(&id).await?; }
}
json!({"lent": lent, "refused": refused})

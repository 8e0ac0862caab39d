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
let list = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/inbox/damaged.txt").await?.content;
let broken: BTreeSet<&str> = list.lines().map(str::trim).collect();
let (mut good, mut damaged) = (Vec::new(), Vec::new());
for (id, name, place) in &found {
    if !place.starts_with("lent to Our Town ") { continue; }
    if broken.contains(name.as_str()) {
        props::take_back(id).condition("damaged").await?;
        damaged.push(id.clone());
    } else {
        props::take_back(id).await?;
        good.push(id.clone());
    }
}
good.sort();
damaged.sort();
json!({"good": good, "damaged": damaged})

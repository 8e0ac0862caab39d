let line = Regex::new(r"^\[([^\]]+)\] (.*?) :: (\w+) :: (.*)$")?;
let more = Regex::new(r"\(more: (\w+)\)")?;
let (mut found, mut token): (Vec<(String, String, String)>, Option<String>) = (Vec::new(), None);
loop {
    let text = props::SearchPropsInput { words: Some("lantern".to_string()), kind: None, token: token.clone() }.call().await?.text();
    for c in text.lines().filter_map(|l| line.captures(l)) {
        found.push((c[1].to_string(), c[2].to_string(), c[4].to_string()));
    }
    token = more.captures(&text).map(|c| c[1].to_string());
    if token.is_none() { break; }
}
let (mut shown, mut without) = (Vec::new(), Vec::new());
for (id, name, _) in &found {
    let photo = props::photo(id).await?;
    match photo.content.iter().find(|c| c.kind() == "image") {
        Some(image) => {
            emit(image.clone());
            shown.push(name.clone());
        }
        None => without.push(name.clone()),
    }
}
shown.sort();
without.sort();
json!({"shown": shown, "without": without})

let line = Regex::new(r"^\[([^\]]+)\]\s*(.*?) :: ")?;
let more = Regex::new(r"more:\s*([^\s)]+)\)")?;
let mut found: Vec<(String, String)> = vec![];
let mut token: Option<String> = None;
loop {
    let call = props::search_props().words("lantern");
    let t = match &token { Some(k) => call.token(k).await?, None => call.await? }.text();
    for c in t.lines().filter_map(|l| line.captures(l)) {
        if c[2].to_lowercase().contains("lantern") { found.push((c[1].to_string(), c[2].to_string())); }
    }
    match t.lines().last().and_then(|l| more.captures(l)) {
        Some(c) => token = Some(c[1].to_string()),
        None => break,
    }
}
let (mut shown, mut without): (Vec<String>, Vec<String>) = Default::default();
for (id, name) in &found {
    match props::photo(id).await {
        Ok(r) if r.image().is_some() => { emit(r.image().unwrap()); shown.push(name.clone()); }
        _ => without.push(name.clone()),
    }
}
shown.sort();
without.sort();
json!({"shown": shown, "without": without})

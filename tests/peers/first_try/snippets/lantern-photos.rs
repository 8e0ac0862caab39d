let mut token: Option<String> = None;
let mut ids: Vec<String> = vec![];
let mut seen: HashSet<String> = HashSet::new();
let tok_re = Regex::new(r#"(?i)(?:token|next)[^\n]*?[:= ]+['"`]?([A-Za-z0-9+/=_.:-]+)['"`\]\)>.]*\s*$"#)?;
loop {
    let mut call = props::search_props().words("lantern");
    if let Some(t) = &token { call = call.token(t.clone()); }
    let text = call.await?.text().to_string();
    println!("{text}");
    let next = tok_re.captures(text.trim_end()).map(|c| c[1].to_string());
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    for l in &lines {
        let low = l.to_lowercase();
        if low.contains("token") || !low.contains("lantern") { continue; }
        // the id is the first word with a digit
        if let Some(id) = l.split(|c: char| !(c.is_alphanumeric() || "-_/.".contains(c))).find(|w| w.chars().any(|c| c.is_ascii_digit())) {
            ids.push(id.trim_end_matches('.').to_string());
        }
    }
    match next {
        Some(n) if !["none", "null", "-", "end"].contains(&n.to_lowercase().as_str()) && seen.insert(n.clone()) => token = Some(n),
        _ => break,
    }
}
let (mut shown, mut without) = (vec![], vec![]);
for id in ids {
    let name = props::prop_card(id.clone()).await?.name;
    if !name.to_lowercase().contains("lantern") { continue; }
    match props::photo(id).await {
        Ok(r) => {
            let mut any = false;
            for c in r.content { if c.kind() == "image" { emit(c); any = true; } }
            if any { shown.push(name); } else { without.push(name); }
        }
        Err(e) => { println!("{}", e.message); without.push(name); }
    }
}
shown.sort();
without.sort();
json!({"shown": shown, "without": without})

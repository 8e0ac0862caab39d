fn first_line(raw: &str) -> String {
    let raw = raw.trim();
    let quoted = raw.len() >= 2
        && ((raw.starts_with('\'') && raw.ends_with('\'')) || (raw.starts_with('"') && raw.ends_with('"')));
    if !quoted {
        return raw.lines().next().unwrap_or("").trim().to_string();
    }
    let inner: Vec<char> = raw[1..raw.len() - 1].chars().collect();
    let mut out = String::new();
    let mut i = 0;
    while i < inner.len() {
        if inner[i] == '\\' && i + 1 < inner.len() {
            match inner[i + 1] {
                'n' | 'r' => break,
                't' => out.push('\t'),
                c => out.push(c),
            }
            i += 2;
        } else {
            out.push(inner[i]);
            i += 1;
        }
    }
    out.trim().to_string()
}
fn author_name(raw: &str) -> String {
    let raw = raw.trim();
    let inner = match (raw.find('"'), raw.rfind('"')) {
        (Some(a), Some(b)) if b > a => &raw[a + 1..b],
        _ => raw,
    };
    match inner.find(" <") {
        Some(p) => inner[..p].trim().to_string(),
        None => inner.trim().to_string(),
    }
}
fn when(raw: &str) -> Option<chrono::DateTime<chrono::FixedOffset>> {
    let raw = raw.trim();
    for f in ["%Y-%m-%d %H:%M:%S%:z", "%Y-%m-%d %H:%M:%S %z", "%Y-%m-%dT%H:%M:%S%:z", "%a %b %e %H:%M:%S %Y %z"] {
        if let Ok(d) = chrono::DateTime::parse_from_str(raw, f) {
            return Some(d);
        }
    }
    None
}

let answer = git::git_log("/tmp/toolsmith-first-try/repository").max_count(100000).await?;
let text = answer.text().to_string();
let mut commits: Vec<(String, String, Option<String>)> = Vec::new();
for line in text.lines() {
    if line.starts_with("Commit: ") {
        commits.push((String::new(), String::new(), None));
    } else if let Some(last) = commits.last_mut() {
        if let Some(v) = line.strip_prefix("Author: ") {
            if last.1.is_empty() { last.1 = author_name(v); }
        } else if let Some(v) = line.strip_prefix("Date: ") {
            if last.0.is_empty() { last.0 = v.trim().to_string(); }
        } else if let Some(v) = line.strip_prefix("Message: ") {
            if last.2.is_none() { last.2 = Some(first_line(v)); }
        }
    }
}
if commits.is_empty() {
    bail!("no commits parsed: {}", text.chars().take(1500).collect::<String>());
}
let mut found: Vec<(chrono::DateTime<chrono::FixedOffset>, String, String)> = Vec::new();
for (date, author, message) in commits.iter().rev() {
    let d = match when(date) {
        Some(d) => d,
        None => bail!("date {:?} of: {}", date, text.chars().take(1500).collect::<String>()),
    };
    let day = d.format("%Y-%m-%d").to_string();
    if day.as_str() >= "2025-02-01" && day.as_str() < "2025-03-01" {
        found.push((d, author.clone(), message.clone().unwrap_or_default()));
    }
}
found.sort_by_key(|f| f.0);
found.iter().map(|(d, author, message)| json!({
    "date": d.format("%Y-%m-%d").to_string(),
    "author": author,
    "message": message,
})).collect::<Vec<_>>()

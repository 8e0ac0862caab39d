let log = git::git_log("/tmp/toolsmith-first-try/repository").max_count(1000).await?.text().to_string();
let actor = Regex::new(r#"Actor "(.*?)(?: <[^>]*>)?""#)?;
let mut commits: Vec<(i64, String, String, String)> = vec![];
let (mut author, mut date) = (String::new(), String::new());
for l in log.lines() {
    let l = l.trim();
    if let Some(a) = l.strip_prefix("Author: ") {
        author = match actor.captures(a) { Some(c) => c[1].to_string(), None => a.split(" <").next().unwrap_or(a).trim_matches('\'').to_string() };
    } else if let Some(d) = l.strip_prefix("Date: ") {
        date = d.trim().to_string();
    } else if let Some(m) = l.strip_prefix("Message: ") {
        let m = m.split("\\n").next().unwrap_or("");
        let m = m.strip_prefix(['\'', '"']).unwrap_or(m);
        let m = m.strip_suffix(['\'', '"']).unwrap_or(m);
        let t = chrono::DateTime::parse_from_str(&date, "%Y-%m-%d %H:%M:%S%:z")
            .or_else(|_| chrono::DateTime::parse_from_rfc3339(&date))
            .or_else(|_| chrono::DateTime::parse_from_str(&date, "%a %b %e %H:%M:%S %Y %z"))?;
        commits.push((t.timestamp(), t.format("%Y-%m-%d").to_string(), author.clone(), m.trim().to_string()));
    }
}
commits.reverse();
commits.sort_by_key(|c| c.0);
commits.iter().filter(|c| c.1.as_str() >= "2025-02-01" && c.1.as_str() < "2025-03-01")
    .map(|c| json!({"date": c.1, "author": c.2, "message": c.3})).collect::<Vec<_>>()

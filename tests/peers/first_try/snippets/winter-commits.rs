struct Commit { sha: String, author: String, date: String, message: String }
fn unrepr(s: &str) -> String {
    let s = s.trim();
    let q = s.chars().next().unwrap_or(' ');
    if s.len() < 2 || !(q == '\'' || q == '"') || !s.ends_with(q) { return s.to_string(); }
    let mut out = String::new();
    let mut it = s[1..s.len() - 1].chars();
    while let Some(c) = it.next() {
        if c != '\\' { out.push(c); continue; }
        match it.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(k) if k == 'x' || k == 'u' || k == 'U' => {
                let n = match k { 'x' => 2, 'u' => 4, _ => 8 };
                let h: String = it.by_ref().take(n).collect();
                if let Some(ch) = u32::from_str_radix(&h, 16).ok().and_then(char::from_u32) { out.push(ch); }
            }
            Some(o) => out.push(o),
            None => {}
        }
    }
    out
}
fn parse_log(text: &str) -> Vec<Commit> {
    let re = Regex::new(r"(?m)^Commit: '?([0-9a-f]{7,40})'?[ \t]*\n\s*Author: (.*)\n\s*Date: (.*)\n\s*Message: ?").unwrap();
    let au = Regex::new(r#""(.*?)\s*<[^<>"]*>""#).unwrap();
    let caps: Vec<_> = re.captures_iter(text).collect();
    let mut out = vec![];
    for (i, c) in caps.iter().enumerate() {
        let end = caps.get(i + 1).map_or(text.len(), |n| n.get(0).unwrap().start());
        let a = c[2].trim().to_string();
        let author = match au.captures(&a) {
            Some(m) => m[1].to_string(),
            None => a.trim_matches(|k| k == '\'' || k == '"').split(" <").next().unwrap_or("").to_string(),
        };
        out.push(Commit { sha: c[1].to_string(), author, date: c[3].trim().trim_matches('\'').to_string(), message: unrepr(&text[c.get(0).unwrap().end()..end]) });
    }
    out
}
const REPO: &str = "/tmp/toolsmith-first-try/repository";
let commits = parse_log(&git::git_log(REPO).max_count(1000).await?.text());
let mut found: Vec<(String, i64, &Commit)> = vec![];
for c in commits.iter().rev() {
    let d = chrono::DateTime::parse_from_str(&c.date, "%Y-%m-%d %H:%M:%S%z")
        .or_else(|_| chrono::DateTime::parse_from_rfc3339(&c.date))
        .or_else(|_| chrono::DateTime::parse_from_str(&c.date, "%a %b %e %H:%M:%S %Y %z"));
    let (day, at) = match d {
        Ok(d) => (d.format("%Y-%m-%d").to_string(), d.timestamp()),
        Err(_) => (c.date.chars().take(10).collect(), 0),
    };
    if day.as_str() >= "2025-02-01" && day.as_str() < "2025-03-01" { found.push((day, at, c)); }
}
found.sort_by_key(|f| f.1);
found.iter().map(|(d, _, c)| json!({"date": d, "author": c.author, "message": c.message.lines().next().unwrap_or("")})).collect::<Vec<_>>()

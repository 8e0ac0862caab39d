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
let commits = parse_log(&git::git_log(REPO).max_count(200).await?.text());
let shows = concurrently(6, &commits, |c| async move { git::git_show(REPO, &c.sha).await }).await?;
let head = Regex::new(r"(?m)^diff --git a/(.*) b/(.*)$")?;
let pair = Regex::new(r"(?m)^--- (.+)\n\+\+\+ (.+)$")?;
let mut counts: std::collections::BTreeMap<String, i64> = Default::default();
for s in &shows {
    let t = s.text();
    let re = if head.is_match(&t) { &head } else { &pair };
    let mut files = std::collections::BTreeSet::new();
    for c in re.captures_iter(&t) {
        let (mut a, mut b) = (c[1].trim(), c[2].trim());
        if a.starts_with("a/") && (b.starts_with("b/") || b == "/dev/null") { a = &a[2..]; }
        if b.starts_with("b/") && (c[1].starts_with("a/") || a == "/dev/null") { b = &b[2..]; }
        files.insert(if b == "/dev/null" || b == "None" { a.to_string() } else { b.to_string() });
    }
    for f in files { *counts.entry(f).or_default() += 1; }
}
let mut all: Vec<(String, i64)> = counts.into_iter().filter(|x| x.1 >= 3).collect();
all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
all.iter().map(|(f, n)| json!({"file": f, "commits": n})).collect::<Vec<_>>()

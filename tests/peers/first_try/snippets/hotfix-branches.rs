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
fn branches(t: &str) -> (Vec<String>, String) {
    let mut all = vec![];
    let mut current = String::new();
    for l in t.lines() {
        let n = l.trim_start_matches('*').trim().to_string();
        if n.is_empty() { continue; }
        if l.trim_start().starts_with('*') { current = n.clone(); }
        all.push(n);
    }
    all.sort();
    (all, current)
}
let (before, current) = branches(&git::git_branch(REPO, "local").await?.text());
if current != "main" { git::git_checkout(REPO, "main").await?; }
let commits = parse_log(&git::git_log(REPO).max_count(200).await?.text());
let re = Regex::new(r"\(#(\d+)\)")?;
let kind = Regex::new(r"^fix(\([^)]*\))?!?:")?;
let mut numbers = std::collections::BTreeSet::new();
for c in commits.iter().filter(|c| kind.is_match(&c.message)) {
    for m in re.captures_iter(&c.message) { numbers.insert(m[1].parse::<u64>()?); }
}
for n in &numbers {
    let name = format!("hotfix/{n}");
    if !before.contains(&name) { git::git_create_branch(REPO, &name).base_branch("release").await?; }
}
if let Some(n) = numbers.iter().last() { git::git_checkout(REPO, format!("hotfix/{n}")).await?; }
let (all, current) = branches(&git::git_branch(REPO, "local").await?.text());
json!({"branches": all, "current": current})

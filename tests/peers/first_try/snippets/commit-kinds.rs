#[derive(Debug, Clone)]
struct Commit { sha: String, author: String, date: String, message: String }
fn unrepr(s: &str) -> String {
    let s = s.trim();
    let q = s.chars().next().unwrap_or(' ');
    if s.len() >= 2 && (q == '\'' || q == '"') && s.ends_with(q) {
        let inner = &s[1..s.len() - 1];
        let mut out = String::new();
        let mut it = inner.chars();
        while let Some(c) = it.next() {
            if c == '\\' {
                match it.next() { Some('n') => out.push('\n'), Some('t') => out.push('\t'), Some('r') => out.push('\r'), Some(x) => out.push(x), None => out.push('\\') }
            } else { out.push(c); }
        }
        out
    } else { s.to_string() }
}
fn commits(text: &str) -> Vec<Commit> {
    let head = Regex::new(r#"^Commit:\s*['"]?([0-9a-f]{7,40})['"]?\s*$"#).unwrap();
    let actor = Regex::new(r#"^<git\.Actor "(.*)">$"#).unwrap();
    let mail = Regex::new(r"\s*<[^<>]*>\s*$").unwrap();
    let mut out: Vec<Commit> = vec![];
    let mut in_message = false;
    for l in text.lines() {
        if let Some(c) = head.captures(l) {
            out.push(Commit { sha: c[1].to_string(), author: String::new(), date: String::new(), message: String::new() });
            in_message = false;
            continue;
        }
        let Some(cur) = out.last_mut() else { continue };
        if in_message { cur.message.push('\n'); cur.message.push_str(l); }
        else if let Some(r) = l.strip_prefix("Author:") {
            let a = unrepr(r);
            let a = actor.captures(&a).map(|c| c[1].to_string()).unwrap_or(a);
            cur.author = mail.replace(&a, "").trim().to_string();
        } else if let Some(r) = l.strip_prefix("Date:") { cur.date = unrepr(r); }
        else if let Some(r) = l.strip_prefix("Message:") { cur.message = r.trim_start().to_string(); in_message = true; }
    }
    for c in &mut out { c.message = unrepr(&c.message).trim().to_string(); }
    out
}
let repo = "/tmp/toolsmith-first-try/repository";
let log = commits(&git::git_log(repo).max_count(1000).await?.text());
anyhow::ensure!(!log.is_empty(), "no commits parsed");
let issue = Regex::new(r"\(#(\d+)\)")?;
let mut kinds = std::collections::BTreeMap::<String, usize>::new();
let mut authors = std::collections::BTreeMap::<String, usize>::new();
let mut issues = std::collections::BTreeSet::<u64>::new();
for c in &log {
    let kind = c.message.split(':').next().unwrap_or_default().trim().to_string();
    *kinds.entry(kind).or_default() += 1;
    *authors.entry(c.author.clone()).or_default() += 1;
    for m in issue.captures_iter(&c.message) { issues.insert(m[1].parse()?); }
}
json!({"kinds": kinds, "authors": authors, "issues": issues})

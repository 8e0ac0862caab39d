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
use std::collections::BTreeSet;
let commits = parse_log(&git::git_log(REPO).max_count(200).await?.text());
let re = Regex::new(r"\(#(\d+)\)")?;
let mut pairs: BTreeSet<(String, u64)> = BTreeSet::new();
for c in &commits {
    for m in re.captures_iter(&c.message) { pairs.insert((c.author.clone(), m[1].parse::<u64>()?)); }
}
let authors: BTreeSet<String> = pairs.iter().map(|p| p.0.clone()).collect();
let issues: BTreeSet<u64> = pairs.iter().map(|p| p.1).collect();
let mut entities: Vec<memory::CreateEntitiesEntity> = authors.iter().map(|a| memory::CreateEntitiesEntity { name: a.clone(), entity_type: "author".into(), observations: vec![] }).collect();
entities.extend(issues.iter().map(|i| memory::CreateEntitiesEntity { name: format!("#{i}"), entity_type: "issue".into(), observations: vec![] }));
memory::create_entities(entities).await?;
memory::create_relations(pairs.iter().map(|(a, i)| memory::CreateRelationsRelation { from: a.clone(), to: format!("#{i}"), relation_type: "fixed".into() }).collect::<Vec<_>>()).await?;
let small: Vec<String> = issues.iter().filter(|i| **i < 8).map(|i| format!("#{i}")).collect();
if !small.is_empty() { memory::delete_entities(small).await?; }
let g = memory::read_graph().await?;
let idle: Vec<String> = g.entities.iter().filter(|e| e.entity_type == "author" && !g.relations.iter().any(|r| r.from == e.name)).map(|e| e.name.clone()).collect();
if !idle.is_empty() { memory::delete_entities(idle).await?; }
let g = memory::read_graph().await?;
let authors: Vec<String> = g.entities.iter().filter(|e| e.entity_type == "author").map(|e| e.name.clone()).sorted().collect();
let issues: Vec<String> = g.entities.iter().filter(|e| e.entity_type == "issue").map(|e| e.name.clone()).sorted_by_key(|n| n.trim_start_matches('#').parse::<u64>().unwrap_or(0)).collect();
json!({"authors": authors, "issues": issues, "relations": g.relations.len()})

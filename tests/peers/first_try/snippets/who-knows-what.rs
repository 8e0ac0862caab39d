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
let owners: std::collections::BTreeMap<String, Vec<String>> = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/owners.json").await?.content)?;
let mut counts = std::collections::BTreeMap::<String, usize>::new();
for o in owners.keys() { counts.insert(o.clone(), 0); }
for c in &log { *counts.entry(c.author.clone()).or_default() += 1; }
let mut parts = std::collections::BTreeSet::<String>::new();
let mut relations = vec![];
for (o, ps) in &owners { for p in ps.iter().unique() {
    parts.insert(p.clone());
    relations.push(memory::CreateRelationsRelation { from: o.clone(), to: p.clone(), relation_type: "maintains".to_string() });
} }
let mut entities: Vec<memory::CreateEntitiesEntity> = counts.iter().map(|(n, k)| memory::CreateEntitiesEntity {
    name: n.clone(), entity_type: "person".to_string(), observations: vec![format!("commits: {k}")] }).collect();
entities.extend(parts.iter().map(|p| memory::CreateEntitiesEntity { name: p.clone(), entity_type: "part".to_string(), observations: vec![] }));
memory::create_entities(entities).await?;
memory::create_relations(relations).await?;
let g = memory::read_graph().await?;
let mut search: Vec<String> = g.relations.iter().filter(|r| r.to == "search" && r.relation_type == "maintains").map(|r| {
    let obs = g.entities.iter().find(|e| e.name == r.from && e.entity_type == "person")
        .and_then(|e| e.observations.iter().find(|o| o.starts_with("commits:"))).cloned().unwrap_or_default();
    format!("{} ({obs})", r.from)
}).collect();
search.sort();
json!({"entities": g.entities.len(), "relations": g.relations.len(), "search": search})

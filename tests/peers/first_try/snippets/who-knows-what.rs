struct Com { sha: String, author: String, date: String, msg: String }
fn parse_log(t: &str) -> Vec<Com> {
    let mut v: Vec<Com> = vec![];
    let mut in_msg = false;
    for l in t.lines() {
        let tl = l.trim();
        if let Some(r) = tl.strip_prefix("Commit:") {
            in_msg = false;
            v.push(Com { sha: r.trim().trim_matches(|c| c == '\'' || c == '"').to_string(), author: String::new(), date: String::new(), msg: String::new() });
        } else if let Some(c) = v.last_mut() {
            if in_msg { c.msg.push('\n'); c.msg.push_str(l); continue; }
            if let Some(r) = tl.strip_prefix("Author:") {
                let mut a = r.trim();
                if let Some(i) = a.find("Actor \"") { a = &a[i + 7..]; }
                let a = a.split(" <").next().unwrap_or("").trim_matches(|c| c == '\'' || c == '"' || c == '>').trim();
                c.author = a.to_string();
            } else if let Some(r) = tl.strip_prefix("Date:") { c.date = r.trim().to_string(); }
            else if let Some(r) = tl.strip_prefix("Message:") {
                let r = r.trim();
                let q = r.chars().next().unwrap_or(' ');
                if (q == '\'' || q == '"') && r.len() > 1 && r.ends_with(q) {
                    let inner = &r[1..r.len() - 1];
                    let mut s = String::new();
                    let mut it = inner.chars();
                    while let Some(ch) = it.next() {
                        if ch == '\\' { match it.next() { Some('n') => s.push('\n'), Some('t') => s.push('\t'), Some(o) => s.push(o), None => {} } } else { s.push(ch); }
                    }
                    c.msg = s;
                } else { c.msg = r.to_string(); in_msg = true; }
            }
        }
    }
    for c in v.iter_mut() { c.msg = c.msg.trim().to_string(); }
    v
}
let repo = "/tmp/toolsmith-first-try/repository";
let text = git::git_log(repo).max_count(1000).await?.text().to_string();
println!("{}", text.chars().take(500).collect::<String>());
let commits = parse_log(&text);
let owners: BTreeMap<String, Vec<String>> = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/owners.json").await?.content)?;
let mut n: BTreeMap<String, usize> = owners.keys().map(|k| (k.clone(), 0)).collect();
for c in &commits { *n.entry(c.author.clone()).or_default() += 1; }
let mut ents: Vec<memory::CreateEntitiesEntity> = n.iter().map(|(k, v)| memory::CreateEntitiesEntity { name: k.clone(), entity_type: "person".to_string(), observations: vec![format!("commits: {v}")] }).collect();
let parts: BTreeSet<String> = owners.values().flatten().cloned().collect();
for p in &parts { ents.push(memory::CreateEntitiesEntity { name: p.clone(), entity_type: "part".to_string(), observations: vec![] }); }
memory::create_entities(ents).await?;
let rels: Vec<memory::CreateRelationsRelation> = owners.iter().flat_map(|(k, v)| v.iter().map(move |p| memory::CreateRelationsRelation { from: k.clone(), to: p.clone(), relation_type: "maintains".to_string() })).collect();
memory::create_relations(rels).await?;
let g = memory::read_graph().await?;
let search: Vec<String> = g.relations.iter().filter(|r| r.to == "search" && r.relation_type == "maintains").filter_map(|r| {
    let e = g.entities.iter().find(|e| e.name == r.from)?;
    Some(format!("{} ({})", e.name, e.observations.iter().find(|o| o.starts_with("commits:"))?))
}).sorted().collect();
json!({"entities": g.entities.len(), "relations": g.relations.len(), "search": search})

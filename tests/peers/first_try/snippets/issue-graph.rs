let text = git::git_log("/tmp/toolsmith-first-try/repository").max_count(1000).await?.text();
let author = Regex::new(r"^Author: \W*([A-Za-z ]+\w)")?;
let issue = Regex::new(r"^Message:.*\((#\d+)\)")?;
let (mut who, mut fixed) = (String::new(), BTreeSet::new());
for line in text.lines() {
    if let Some(c) = author.captures(line) { who = c[1].trim().to_string(); }
    if let Some(c) = issue.captures(line) { fixed.insert((who.clone(), c[1].to_string())); }
}
let entity = |name: &str, kind: &str| memory::CreateEntitiesEntity { name: name.to_string(), entity_type: kind.to_string(), observations: vec![] };
let authors: BTreeSet<&String> = fixed.iter().map(|f| &f.0).collect();
let issues: BTreeSet<&String> = fixed.iter().map(|f| &f.1).collect();
let mut entities: Vec<_> = authors.iter().map(|a| entity(a, "author")).collect();
entities.extend(issues.iter().map(|i| entity(i, "issue")));
memory::create_entities(entities).await?;
memory::create_relations(fixed.iter().map(|(a, i)| memory::CreateRelationsRelation {
    from: a.clone(), to: i.clone(), relation_type: "fixed".to_string(),
}).collect::<Vec<_>>()).await?;
let number = |name: &str| name.trim_start_matches('#').parse::<u32>().unwrap_or(0);
memory::delete_entities(issues.iter().filter(|i| number(i) < 8).map(|i| i.to_string()).collect::<Vec<_>>()).await?;
let graph = memory::read_graph().await?;
let idle: Vec<String> = authors.iter().filter(|a| !graph.relations.iter().any(|r| &r.from == **a)).map(|a| a.to_string()).collect();
memory::delete_entities(idle).await?;
let graph = memory::read_graph().await?;
let names = |kind: &str| graph.entities.iter().filter(|e| e.entity_type == kind).map(|e| e.name.clone()).collect::<Vec<_>>();
let (mut authors, mut issues) = (names("author"), names("issue"));
authors.sort();
issues.sort_by_key(|i| number(i));
json!({"authors": authors, "issues": issues, "relations": graph.relations.len()})

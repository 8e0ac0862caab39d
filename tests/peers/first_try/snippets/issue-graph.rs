let log = git::git_log("/tmp/toolsmith-first-try/repository").max_count(1000).await?.text().to_string();
let actor = Regex::new(r#"Actor "(.*?)(?: <[^>]*>)?""#)?;
let issue = Regex::new(r"\(#(\d+)\)")?;
let mut fixed: BTreeSet<(String, u64)> = BTreeSet::new();
for block in log.split("Author: ").skip(1) {
    let line = block.lines().next().unwrap_or("");
    let author = match actor.captures(line) { Some(c) => c[1].to_string(), None => line.split(" <").next().unwrap_or(line).trim_matches('\'').trim().to_string() };
    let Some((_, message)) = block.split_once("Message: ") else { continue; };
    for c in issue.captures_iter(message) { fixed.insert((author.clone(), c[1].parse()?)); }
}
let authors: BTreeSet<String> = fixed.iter().map(|f| f.0.clone()).collect();
let issues: BTreeSet<u64> = fixed.iter().map(|f| f.1).collect();
let entity = |name: String, kind: &str| memory::CreateEntitiesEntity { name, entity_type: kind.to_string(), observations: vec![] };
let mut ents: Vec<_> = authors.iter().map(|a| entity(a.clone(), "author")).collect();
ents.extend(issues.iter().map(|i| entity(format!("#{i}"), "issue")));
memory::create_entities(ents).await?;
memory::create_relations(fixed.iter().map(|(a, i)| memory::CreateRelationsRelation { from: a.clone(), to: format!("#{i}"), relation_type: "fixed".into() }).collect::<Vec<_>>()).await?;
let low: Vec<String> = issues.iter().filter(|i| **i < 8).map(|i| format!("#{i}")).collect();
memory::delete_entities(low).await?;
let g = memory::read_graph().await?;
let busy: HashSet<String> = g.relations.iter().filter(|r| r.relation_type == "fixed").map(|r| r.from.clone()).collect();
let idle: Vec<String> = authors.iter().filter(|a| !busy.contains(*a)).cloned().collect();
if !idle.is_empty() { memory::delete_entities(idle).await?; }
let g = memory::read_graph().await?;
let of = |kind: &str| g.entities.iter().filter(|e| e.entity_type == kind).map(|e| e.name.clone()).collect::<Vec<String>>();
let mut a = of("author");
a.sort();
let mut i = of("issue");
i.sort_by_key(|n| n.trim_start_matches('#').parse::<u64>().unwrap_or(0));
json!({"authors": a, "issues": i, "relations": g.relations.len()})

fn author_name(raw: &str) -> String {
    let raw = raw.trim();
    let inner = match (raw.find('"'), raw.rfind('"')) {
        (Some(a), Some(b)) if b > a => &raw[a + 1..b],
        _ => raw,
    };
    match inner.find(" <") {
        Some(p) => inner[..p].trim().to_string(),
        None => inner.trim().to_string(),
    }
}

let file = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/owners.json").await?;
let owners: Value = file.content.parse::<Value>()?;
let mut parts_of: BTreeMap<String, Vec<String>> = BTreeMap::new();
let owners = match owners.as_object() {
    Some(o) => o.clone(),
    None => bail!("not an object: {}", file.content),
};
for (name, list) in owners.iter() {
    let parts: Vec<String> = match list.as_array() {
        Some(a) => a.iter().filter_map(|p| p.as_str().map(|s| s.to_string())).collect(),
        None => bail!("not a list: {}", file.content),
    };
    parts_of.insert(name.clone(), parts);
}

let log = git::git_log("/tmp/toolsmith-first-try/repository").max_count(100000).await?;
let text = log.text().to_string();
let mut commits: BTreeMap<String, usize> = BTreeMap::new();
for line in text.lines() {
    if let Some(v) = line.strip_prefix("Author: ") {
        *commits.entry(author_name(v)).or_insert(0) += 1;
    }
}

let names: BTreeSet<String> = parts_of.keys().chain(commits.keys()).cloned().collect();
let parts: BTreeSet<String> = parts_of.values().flatten().cloned().collect();
let mut entities: Vec<memory::CreateEntitiesEntity> = Vec::new();
for name in &names {
    entities.push(memory::CreateEntitiesEntity {
        name: name.clone(),
        entity_type: "person".to_string(),
        observations: vec![format!("commits: {}", commits.get(name).copied().unwrap_or(0))],
    });
}
for part in &parts {
    entities.push(memory::CreateEntitiesEntity {
        name: part.clone(),
        entity_type: "part".to_string(),
        observations: Vec::new(),
    });
}
let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
let mut relations: Vec<memory::CreateRelationsRelation> = Vec::new();
for (name, list) in &parts_of {
    for part in list {
        if seen.insert((name.clone(), part.clone())) {
            relations.push(memory::CreateRelationsRelation {
                from: name.clone(),
                to: part.clone(),
                relation_type: "maintains".to_string(),
            });
        }
    }
}
memory::create_entities(entities).await?;
memory::create_relations(relations).await?;

let graph = memory::read_graph().await?;
let mut search: Vec<String> = Vec::new();
for r in &graph.relations {
    if r.to == "search" && r.relation_type == "maintains" {
        if let Some(e) = graph.entities.iter().find(|e| e.name == r.from && e.entity_type == "person") {
            search.push(format!("{} ({})", e.name, e.observations.join(", ")));
        }
    }
}
search.sort();
json!({
    "entities": graph.entities.len(),
    "relations": graph.relations.len(),
    "search": search,
})

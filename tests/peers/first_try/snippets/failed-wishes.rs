let file = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/wishes.json").await?;
let data: Value = file.content.parse::<Value>()?;
let known: Vec<String> = data["known"].as_array().ok_or_else(|| anyhow!("no known"))?
    .iter().filter_map(|n| n.as_str().map(|s| s.to_string())).collect();
let entities: Vec<memory::CreateEntitiesEntity> = known.iter().map(|n| memory::CreateEntitiesEntity {
    name: n.clone(),
    entity_type: "person".to_string(),
    observations: Vec::new(),
}).collect();
memory::create_entities(entities).await?;

let wishes = data["wishes"].as_array().ok_or_else(|| anyhow!("no wishes"))?;
let mut added = 0usize;
let mut failed: Vec<String> = Vec::new();
for w in wishes {
    let who = w["who"].as_str().ok_or_else(|| anyhow!("no who"))?.to_string();
    let wish = w["wish"].as_str().ok_or_else(|| anyhow!("no wish"))?.to_string();
    match memory::add_observations(vec![memory::AddObservationsObservation {
        entity_name: who,
        contents: vec![wish],
    }]).await {
        Ok(out) => added += out.results.iter().map(|r| r.added_observations.len()).sum::<usize>(),
        Err(e) => failed.push(e.message.to_string()),
    }
}
let found = memory::open_nodes(["Ada"]).await?;
let ada: Vec<String> = found.entities.iter()
    .find(|e| e.name == "Ada")
    .map(|e| e.observations.clone())
    .unwrap_or_default();
json!({ "added": added, "failed": failed, "ada": ada })

let w: Value = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/wishes.json").await?.content)?;
let ents: Vec<memory::CreateEntitiesEntity> = w["known"].as_array().unwrap().iter().map(|k| memory::CreateEntitiesEntity { name: k.as_str().unwrap().to_string(), entity_type: "person".to_string(), observations: vec![] }).collect();
memory::create_entities(ents).await?;
let mut added = 0;
let mut failed: Vec<String> = vec![];
for x in w["wishes"].as_array().unwrap() {
    let o = memory::AddObservationsObservation { entity_name: x["who"].as_str().unwrap().to_string(), contents: vec![x["wish"].as_str().unwrap().to_string()] };
    match memory::add_observations(vec![o]).await {
        Ok(r) => added += r.results.iter().map(|r| r.added_observations.len()).sum::<usize>(),
        Err(e) => failed.push(e.message.clone()),
    }
}
let g = memory::open_nodes(vec!["Ada".to_string()]).await?;
json!({"added": added, "failed": failed, "ada": g.entities.first().map(|e| e.observations.clone()).unwrap_or_default()})

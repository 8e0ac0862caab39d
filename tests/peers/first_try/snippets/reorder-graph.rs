let products: Vec<Value> = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/products.json").await?.content)?;
let name = |p: &Value| p["name"].as_str().unwrap_or_default().to_string();
memory::create_entities(products.iter().map(|p| memory::CreateEntitiesEntity {
    name: name(p), entity_type: "product".to_string(), observations: vec![format!("stock: {}", p["stock"])] }).collect::<Vec<_>>()).await?;
for p in products.iter().filter(|p| p["stock"].as_f64().map_or(false, |s| s < 5.0)) {
    memory::delete_observations(vec![memory::DeleteObservationsDeletion { entity_name: name(p), observations: vec![format!("stock: {}", p["stock"])] }]).await?;
    memory::add_observations(vec![memory::AddObservationsObservation { entity_name: name(p), contents: vec!["reorder".to_string()] }]).await?;
}
let mut found: Vec<String> = memory::search_nodes("reorder").await?.entities.iter().map(|e| e.name.clone()).collect();
found.sort();
json!({"reorder": found, "entities": memory::read_graph().await?.entities.len()})

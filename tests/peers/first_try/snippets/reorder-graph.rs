let products: Value = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/products.json").await?.content.parse()?;
let products: Vec<(String, i64)> = products.as_array().context("no array")?.iter()
    .filter_map(|p| Some((p["name"].as_str()?.to_string(), p["stock"].as_i64()?))).collect();
memory::create_entities(products.iter().map(|(name, stock)| memory::CreateEntitiesEntity {
    name: name.clone(),
    entity_type: "product".to_string(),
    observations: vec![format!("stock: {stock}")],
}).collect::<Vec<_>>()).await?;
let low: Vec<_> = products.iter().filter(|p| p.1 < 5).collect();
memory::delete_observations(low.iter().map(|(name, stock)| memory::DeleteObservationsDeletion {
    entity_name: name.clone(),
    observations: vec![format!("stock: {stock}")],
}).collect::<Vec<_>>()).await?;
memory::add_observations(low.iter().map(|(name, _)| memory::AddObservationsObservation {
    entity_name: name.clone(),
    contents: vec!["reorder".to_string()],
}).collect::<Vec<_>>()).await?;
let mut reorder: Vec<String> = memory::search_nodes("reorder").await?.entities.iter().map(|e| e.name.clone()).collect();
reorder.sort();
json!({"reorder": reorder, "entities": memory::read_graph().await?.entities.len()})

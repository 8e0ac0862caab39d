let ps: Vec<Value> = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/products.json").await?.content)?;
let l: Vec<(String, i64)> = ps.iter().map(|p| (p["name"].as_str().unwrap().to_string(), p["stock"].as_i64().unwrap())).collect();
memory::create_entities(l.iter().map(|(n, s)| memory::CreateEntitiesEntity { name: n.clone(), entity_type: "product".to_string(), observations: vec![format!("stock: {s}")] }).collect::<Vec<_>>()).await?;
let low: Vec<&(String, i64)> = l.iter().filter(|x| x.1 < 5).collect();
memory::delete_observations(low.iter().map(|x| memory::DeleteObservationsDeletion { entity_name: x.0.clone(), observations: vec![format!("stock: {}", x.1)] }).collect::<Vec<_>>()).await?;
memory::add_observations(low.iter().map(|x| memory::AddObservationsObservation { entity_name: x.0.clone(), contents: vec!["reorder".to_string()] }).collect::<Vec<_>>()).await?;
let f = memory::search_nodes("reorder").await?;
let names: Vec<String> = f.entities.iter().map(|e| e.name.clone()).sorted().collect();
json!({"reorder": names, "entities": memory::read_graph().await?.entities.len()})

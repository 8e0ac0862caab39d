#[derive(serde::Deserialize)]
struct Wish { who: String, wish: String }
#[derive(serde::Deserialize)]
struct File { known: Vec<String>, wishes: Vec<Wish> }
let f: File = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/wishes.json").await?.content)?;
let entities: Vec<memory::CreateEntitiesEntity> = f.known.iter().map(|n| memory::CreateEntitiesEntity {
    name: n.clone(), entity_type: "person".to_string(), observations: vec![] }).collect();
memory::create_entities(entities).await?;
let mut added = 0;
let mut failed: Vec<String> = vec![];
for w in &f.wishes {
    let o = memory::AddObservationsObservation { entity_name: w.who.clone(), contents: vec![w.wish.clone()] };
    match memory::add_observations(vec![o]).await {
        Ok(r) => added += r.results.iter().map(|x| x.added_observations.len()).sum::<usize>(),
        Err(e) => failed.push(e.message.clone()),
    }
}
let ada = memory::open_nodes(vec!["Ada".to_string()]).await?;
let ada: Vec<String> = ada.entities.iter().filter(|e| e.name == "Ada").flat_map(|e| e.observations.clone()).collect();
json!({"added": added, "failed": failed, "ada": ada})

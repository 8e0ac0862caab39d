let csv = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/customers.csv").await?.content;
let rows: Vec<Vec<String>> = csv.lines().skip(1).filter(|l| !l.trim().is_empty())
    .map(|l| l.split(',').map(|c| c.trim().trim_matches('"').to_string()).collect()).collect();
let cities: std::collections::BTreeSet<String> = rows.iter().map(|r| r[2].clone()).collect();
let mut entities: Vec<memory::CreateEntitiesEntity> = rows.iter().map(|r| memory::CreateEntitiesEntity { name: r[1].clone(), entity_type: "customer".into(), observations: vec![r[0].clone()] }).collect();
entities.extend(cities.iter().map(|c| memory::CreateEntitiesEntity { name: c.clone(), entity_type: "city".into(), observations: vec![] }));
memory::create_entities(entities).await?;
memory::create_relations(rows.iter().map(|r| memory::CreateRelationsRelation { from: r[1].clone(), to: r[2].clone(), relation_type: "lives in".into() }).collect::<Vec<_>>()).await?;
memory::delete_entities(vec!["Bruno".to_string(), "Ines".to_string()]).await?;
let found = memory::open_nodes(vec!["Oslo".to_string(), "Turin".to_string()]).await?;
let mut rel: Vec<(String, String)> = found.relations.iter().filter(|r| r.relation_type == "lives in").map(|r| (r.from.clone(), r.to.clone())).collect();
if rel.is_empty() {
    rel = memory::read_graph().await?.relations.iter().filter(|r| r.relation_type == "lives in").map(|r| (r.from.clone(), r.to.clone())).collect();
}
let of = |city: &str| rel.iter().filter(|r| r.1 == city).map(|r| r.0.clone()).sorted().collect::<Vec<String>>();
json!({"Oslo": of("Oslo"), "Turin": of("Turin")})

let csv = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/customers.csv").await?.content;
let rows: Vec<Vec<String>> = csv.lines().skip(1).filter(|l| !l.trim().is_empty())
    .map(|l| l.split(',').map(|s| s.trim().trim_matches('"').to_string()).collect()).collect();
let mut people: BTreeMap<String, Vec<String>> = BTreeMap::new();
let mut cities: BTreeSet<String> = BTreeSet::new();
let mut rel: BTreeSet<(String, String)> = BTreeSet::new();
for r in &rows {
    people.entry(r[1].clone()).or_default().push(r[0].clone());
    cities.insert(r[2].clone());
    rel.insert((r[1].clone(), r[2].clone()));
}
let mut ents: Vec<memory::CreateEntitiesEntity> = people.iter().map(|(n, ids)| memory::CreateEntitiesEntity { name: n.clone(), entity_type: "customer".into(), observations: ids.clone() }).collect();
ents.extend(cities.iter().map(|c| memory::CreateEntitiesEntity { name: c.clone(), entity_type: "city".into(), observations: vec![] }));
memory::create_entities(ents).await?;
memory::create_relations(rel.iter().map(|(a, b)| memory::CreateRelationsRelation { from: a.clone(), to: b.clone(), relation_type: "lives in".into() }).collect::<Vec<_>>()).await?;
memory::delete_entities(vec!["Bruno".to_string(), "Ines".to_string()]).await?;
let found = memory::open_nodes(vec!["Oslo".to_string(), "Turin".to_string()]).await?;
let mut pairs: Vec<(String, String)> = found.relations.iter().filter(|r| r.relation_type == "lives in").map(|r| (r.from.clone(), r.to.clone())).collect();
if pairs.is_empty() {
    println!("open_nodes tells no relations to other nodes: reading the graph");
    pairs = memory::read_graph().await?.relations.iter().filter(|r| r.relation_type == "lives in").map(|r| (r.from.clone(), r.to.clone())).collect();
}
let of = |c: &str| { let mut v: Vec<String> = pairs.iter().filter(|p| p.1 == c).map(|p| p.0.clone()).collect(); v.sort(); v };
json!({"Oslo": of("Oslo"), "Turin": of("Turin")})

let ap = hives::list_apiaries().await?.result;
let find = |n: &str| ap.iter().find(|a| a.place.to_lowercase().contains(n)).map(|a| (a.code.clone(), a.stands));
let (m, r, o) = (find("meadow").unwrap(), find("ridge").unwrap(), find("orchard").unwrap());
let all = hives::list_colonies().await?.result;
let mut free: Vec<(String, i64)> = vec![];
for a in [&r, &o] { for s in 1..=a.1 { if !all.iter().any(|c| c.apiary == a.0 && c.stand == s) { free.push((a.0.clone(), s)); } } }
let mut mine: Vec<_> = all.iter().filter(|c| c.apiary == m.0).collect();
mine.sort_by_key(|c| c.stand);
let mut moved = serde_json::Map::new();
let mut stayed: Vec<String> = vec![];
for c in mine {
    let mut ok = false;
    let mut i = 0;
    while i < free.len() {
        let (a, s) = free[i].clone();
        match hives::relocate(c.hive.clone(), a.clone(), s).await {
            Ok(_) => { moved.insert(c.hive.clone(), json!(format!("{a}/{s}"))); free.remove(i); ok = true; break; }
            Err(e) => { println!("{} {:?}: {}", c.hive, c.treatment, e.message); if c.treatment.is_some() || e.message.to_lowercase().contains("treat") { break; } i += 1; }
        }
    }
    if !ok { stayed.push(c.hive.clone()); }
}
json!({"moved": moved, "stayed": stayed})

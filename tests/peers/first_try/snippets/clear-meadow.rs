let apiaries = hives::list_apiaries().await?.result;
let find = |w: &str| apiaries.iter().find(|a| a.place.to_lowercase().contains(w)).map(|a| (a.code.clone(), a.stands)).ok_or_else(|| anyhow::anyhow!("no {w}"));
let (meadow, _) = find("meadow")?;
let colonies = hives::list_colonies().await?.result;
let mut free: std::collections::VecDeque<(String, i64)> = Default::default();
for w in ["ridge", "orchard"] {
    let (code, stands) = find(w)?;
    for s in 1..=stands {
        if !colonies.iter().any(|c| c.apiary == code && c.stand == s) { free.push_back((code.clone(), s)); }
    }
}
let mut moved = serde_json::Map::new();
let mut stayed: Vec<String> = vec![];
let mut mine: Vec<_> = colonies.iter().filter(|c| c.apiary == meadow).collect();
mine.sort_by_key(|c| c.stand);
for c in mine {
    let Some((code, s)) = free.front().cloned() else { stayed.push(c.hive.clone()); continue };
    match hives::relocate(c.hive.clone(), code.clone(), s).await {
        Ok(_) => { free.pop_front(); moved.insert(c.hive.clone(), json!(format!("{code}/{s}"))); }
        Err(e) => {
            if c.treatment.is_none() && !e.message.to_lowercase().contains("treat") { return Err(e.into()); }
            stayed.push(c.hive.clone());
        }
    }
}
json!({"moved": moved, "stayed": stayed})

let colonies = hives::list_colonies().await?.result;
let apiaries = hives::list_apiaries().await?.result;
let mut free = Vec::new();
for place in ["Ridge", "Orchard"] {
    let a = apiaries.iter().find(|a| a.place == place).context("no apiary")?;
    for stand in 1..=a.stands {
        if !colonies.iter().any(|c| c.apiary == a.code && c.stand == stand) { free.push((a.code.clone(), stand)); }
    }
}
let brook = apiaries.iter().find(|a| a.place.contains("Brook")).context("no brook")?;
let mut there: Vec<_> = colonies.iter().filter(|c| c.apiary == brook.code).collect();
there.sort_by_key(|c| c.stand);
let (mut moved, mut stayed) = (BTreeMap::new(), Vec::new());
let mut free = free.into_iter().peekable();
for c in there {
    let (code, stand) = free.peek().context("no stand left")?.clone();
    match hives::relocate(&c.hive, &code, stand).await {
        Ok(_) => {
            moved.insert(c.hive.clone(), format!("{code}/{stand}"));
            free.next();
        }
        Err(e) if e.message.contains("treated") => stayed.push(c.hive.clone()),
        Err(e) => return Err(e.into()),
    }
}
json!({"moved": moved, "stayed": stayed})

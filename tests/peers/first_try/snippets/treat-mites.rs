let (mut oxalic, mut formic, mut already) = (Vec::new(), Vec::new(), Vec::new());
for colony in hives::list_colonies().await?.result {
    let hive = colony.hive.clone();
    let (mut mites, mut cursor) = (None, None);
    loop {
        let page = hives::InspectionsInput { hive: hive.clone(), cursor }.call().await?;
        mites = page.entries.iter().find_map(|e| json!(e.mites).as_f64());
        cursor = page.cursor.clone();
        if mites.is_some() || cursor.is_none() { break; }
    }
    if mites.unwrap_or(0.0) <= 3.0 { continue; }
    if colony.treatment.is_some() {
        already.push(hive);
        continue;
    }
    match hives::begin_treatment(&hive, "oxalic").await {
        Ok(_) => oxalic.push(hive),
        Err(e) if e.message.contains("supers") => {
            hives::begin_treatment(&hive, "formic").await?;
            formic.push(hive);
        }
        Err(e) => return Err(e.into()),
    }
}
oxalic.sort();
formic.sort();
already.sort();
json!({"oxalic": oxalic, "formic": formic, "already": already})

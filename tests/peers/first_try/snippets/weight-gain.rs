let apiaries = hives::list_apiaries().await?.result;
let code = &apiaries.iter().find(|a| a.place == "Orchard").context("no orchard")?.code;
let mut gains = Vec::new();
for colony in hives::list_colonies().apiary(code.clone()).await?.result {
    let (mut weights, mut cursor) = (Vec::new(), None);
    loop {
        let page = hives::InspectionsInput { hive: colony.hive.clone(), cursor }.call().await?;
        for e in &page.entries {
            weights.push(e.weight.trim_end_matches(" kg").replace(',', ".").parse::<f64>()?);
        }
        cursor = page.cursor.clone();
        if cursor.is_none() { break; }
    }
    let gain = weights.first().context("none")? - weights.last().context("none")?;
    gains.push((colony.hive.clone(), (gain * 10.0).round() / 10.0, weights.len()));
}
gains.sort_by(|a, b| b.1.total_cmp(&a.1));
gains.into_iter().map(|(hive, gain, n)| json!({"hive": hive, "gain": gain, "inspections": n})).collect::<Vec<_>>()

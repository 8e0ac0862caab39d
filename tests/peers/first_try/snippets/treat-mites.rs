fn number(s: &Scalar) -> Option<f64> {
    match serde_json::to_value(s).ok()? {
        Value::Number(n) => n.as_f64(),
        Value::String(s) => s.trim().parse().ok(),
        _ => None,
    }
}
let colonies = hives::list_colonies().await?.result;
let (mut oxalic, mut formic, mut already) = (vec![], vec![], vec![]);
for c in &colonies {
    let mut cursor: Option<String> = None;
    let mut mites: Option<f64> = None;
    'pages: loop {
        let page = match &cursor { None => hives::inspections(c.hive.clone()).await?, Some(k) => hives::inspections(c.hive.clone()).cursor(k.clone()).await? };
        for i in &page.entries {
            if let Some(n) = number(&i.mites) { mites = Some(n); break 'pages; }
        }
        cursor = page.cursor.filter(|k| !k.is_empty());
        if cursor.is_none() { break; }
    }
    if !mites.is_some_and(|m| m > 3.0) { continue; }
    if c.treatment.as_deref().is_some_and(|t| !t.is_empty() && t != "none") { already.push(c.hive.clone()); continue; }
    match hives::begin_treatment(c.hive.clone(), hives::BeginTreatmentAgent::Oxalic).await {
        Ok(_) => oxalic.push(c.hive.clone()),
        Err(e) if e.message.to_lowercase().contains("super") => {
            hives::begin_treatment(c.hive.clone(), hives::BeginTreatmentAgent::Formic).await?;
            formic.push(c.hive.clone());
        }
        Err(e) => return Err(e.into()),
    }
}
oxalic.sort();
formic.sort();
already.sort();
json!({"oxalic": oxalic, "formic": formic, "already": already})

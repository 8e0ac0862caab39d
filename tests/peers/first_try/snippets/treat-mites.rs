use hives::BeginTreatmentAgent as A;
let (mut oxalic, mut formic, mut already): (Vec<String>, Vec<String>, Vec<String>) = Default::default();
for c in hives::list_colonies().await?.result {
    let mut cursor: Option<String> = None;
    let mut mites: Option<f64> = None;
    let mut supers: Option<i64> = None;
    'pages: loop {
        let page = match &cursor {
            Some(k) => hives::inspections(&c.hive).cursor(k).await?,
            None => hives::inspections(&c.hive).await?,
        };
        for e in &page.entries {
            if supers.is_none() { supers = Some(e.supers); }
            mites = e.mites.as_f64().or_else(|| e.mites.as_str().and_then(|s| s.trim().parse().ok()));
            if mites.is_some() { break 'pages; }
        }
        match page.cursor {
            Some(k) if !k.is_empty() => cursor = Some(k),
            _ => break,
        }
    }
    if mites.unwrap_or(0.0) <= 3.0 { continue; }
    if c.treatment.is_some() { already.push(c.hive.clone()); continue; }
    match hives::begin_treatment(&c.hive, A::Oxalic).await {
        Ok(_) => oxalic.push(c.hive.clone()),
        Err(e) if e.message.to_lowercase().contains("super") || supers.unwrap_or(0) > 0 => {
            hives::begin_treatment(&c.hive, A::Formic).await?;
            formic.push(c.hive.clone());
        }
        Err(e) => { Err::<(), _>(e)?; }
    }
}
oxalic.sort();
formic.sort();
already.sort();
json!({"oxalic": oxalic, "formic": formic, "already": already})

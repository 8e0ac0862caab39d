use hives::RecordInspectionQueen as Q;
let csv = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/inbox/inspections.csv").await?.content;
let mut recorded = 0;
let mut refused: Vec<String> = vec![];
let mut hs = std::collections::BTreeSet::new();
for l in csv.lines() {
    let f: Vec<&str> = l.split(';').map(|c| c.trim().trim_matches('"').trim()).collect();
    if f.len() < 5 { continue; }
    let Ok(day) = chrono::NaiveDate::parse_from_str(f[1], "%d.%m.%Y") else { continue };
    let queen = match f[4].to_lowercase().as_str() {
        "seen" => Q::Seen,
        q if q.contains("eggs") => Q::EggsOnly,
        _ => Q::NoSign,
    };
    let weight: f64 = f[2].replace(',', ".").parse()?;
    let call = hives::record_inspection(f[0], day.format("%G-W%V-%u").to_string(), weight, queen);
    let r = if f[3].is_empty() { call.await } else { call.mites(f[3].parse::<i64>()?).await };
    match r {
        Ok(_) => { recorded += 1; hs.insert(f[0].to_string()); }
        Err(_) => refused.push(format!("{} {}", f[0], day.format("%Y-%m-%d"))),
    }
}
let mut counts = std::collections::BTreeMap::new();
for h in &hs {
    let mut n = 0;
    let mut cursor: Option<String> = None;
    loop {
        let page = match &cursor {
            Some(k) => hives::inspections(h).cursor(k).await?,
            None => hives::inspections(h).await?,
        };
        n += page.entries.len();
        match page.cursor {
            Some(k) if !k.is_empty() => cursor = Some(k),
            _ => break,
        }
    }
    counts.insert(h.clone(), n);
}
json!({"recorded": recorded, "refused": refused, "counts": counts})

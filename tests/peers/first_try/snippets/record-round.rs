let csv = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/inbox/inspections.csv").await?.content;
let mut recorded = 0;
let mut refused: Vec<String> = vec![];
let mut done: BTreeSet<String> = BTreeSet::new();
for l in csv.lines().filter(|l| !l.trim().is_empty()) {
    let f: Vec<&str> = l.split(';').map(|s| s.trim().trim_matches('"')).collect();
    let Ok(d) = chrono::NaiveDate::parse_from_str(f[1], "%d.%m.%Y") else { println!("left out: {l}"); continue; };
    let weight: f64 = f[2].replace(',', ".").parse()?;
    let queen = match f[4].to_lowercase().as_str() {
        "seen" => hives::RecordInspectionQueen::Seen,
        "eggs only" | "eggs" => hives::RecordInspectionQueen::EggsOnly,
        "no sign" => hives::RecordInspectionQueen::NoSign,
        o => return Err(anyhow!("queen {o}").into()),
    };
    let mut call = hives::record_inspection(f[0], d.format("%G-W%V-%u").to_string(), weight, queen);
    if !f[3].is_empty() { call = call.mites(f[3].parse::<i64>()?); }
    match call.await {
        Ok(_) => { recorded += 1; done.insert(f[0].to_string()); }
        Err(e) => { println!("{}", e.message); refused.push(format!("{} {}", f[0], d.format("%Y-%m-%d"))); }
    }
}
let mut counts: BTreeMap<String, usize> = BTreeMap::new();
for h in &done {
    let mut n = 0;
    let mut cursor: Option<String> = None;
    loop {
        let page = match &cursor { None => hives::inspections(h.clone()).await?, Some(k) => hives::inspections(h.clone()).cursor(k.clone()).await? };
        n += page.entries.len();
        cursor = page.cursor.filter(|k| !k.is_empty());
        if cursor.is_none() { break; }
    }
    counts.insert(h.clone(), n);
}
json!({"recorded": recorded, "refused": refused, "counts": counts})

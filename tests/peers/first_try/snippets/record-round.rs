let csv = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/inbox/inspections.csv").await?.content;
let (mut recorded, mut refused, mut hives_done) = (0, Vec::new(), BTreeSet::new());
for line in csv.lines().skip(1) {
    let cells: Vec<&str> = line.split(';').collect();
    let [hive, day, weight, mites, queen] = cells[..] else { bail!("line {line}") };
    let date = chrono::NaiveDate::parse_from_str(day, "%d.%m.%Y")?;
    let call = hives::record_inspection(hive, date.format("%G-W%V-%u").to_string(), weight.replace(',', ".").parse::<f64>()?, queen);
    let done = if mites.is_empty() { call.await } else { call.mites(mites.parse::<i64>()?).await };
    match done {
        Ok(_) => {
            recorded += 1;
            hives_done.insert(hive.to_string());
        }
        Err(e) if e.kind == ToolErrorKind::Failed => refused.push(format!("{hive} {date}")),
        Err(e) => return Err(e.into()),
    }
}
let mut counts = BTreeMap::new();
for hive in hives_done {
    let (mut count, mut cursor) = (0, None);
    loop {
        let page = hives::InspectionsInput { hive: hive.clone(), cursor }.call().await?;
        count += page.entries.len();
        cursor = page.cursor.clone();
        if cursor.is_none() { break; }
    }
    counts.insert(hive, count);
}
json!({"recorded": recorded, "refused": refused, "counts": counts})

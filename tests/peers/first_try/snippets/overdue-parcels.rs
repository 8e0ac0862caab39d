let mut codes: Vec<String> = Vec::new();
let mut marker: Option<String> = None;
loop {
    let text = lockers::StationDirectoryInput { marker: marker.clone() }.call().await?.text();
    marker = None;
    for line in text.lines().skip(1) {
        match line.strip_prefix(">> marker=") {
            Some(next) => marker = Some(next.trim().to_string()),
            None => codes.extend(line.split('|').next().map(str::to_string)),
        }
    }
    if marker.is_none() { break; }
}
let today = chrono::NaiveDate::from_ymd_opt(2025, 3, 12).context("date")?;
let mut found = Vec::new();
for code in &codes {
    let text = lockers::compartments(code).await?.text();
    for line in text.lines().filter_map(|l| l.strip_prefix("parcel: ")).filter(|p| *p != "-") {
        let parcel = lockers::track(line).await?;
        let due = chrono::NaiveDate::parse_from_str(&parcel.due, "%G-W%V-%u")?;
        if due < today {
            found.push((due.to_string(), parcel.parcel.clone(), parcel.compartment.clone().unwrap_or_default()));
        }
    }
}
found.sort();
found.into_iter().map(|(due, parcel, compartment)| json!({"parcel": parcel, "compartment": compartment, "due": due})).collect::<Vec<_>>()

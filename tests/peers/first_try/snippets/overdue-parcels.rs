fn day(s: &str) -> Option<chrono::NaiveDate> {
    use chrono::{DateTime, NaiveDate};
    let find = |re: &str| Regex::new(re).unwrap().find(s).map(|m| m.as_str().to_string());
    if let Some(x) = find(r"\d{4}-W\d{2}-\d") { return NaiveDate::parse_from_str(&x, "%G-W%V-%u").ok(); }
    if let Some(x) = find(r"\d{4}W\d{3}") { return NaiveDate::parse_from_str(&x, "%GW%V%u").ok(); }
    if let Some(x) = find(r"\d{4}-\d{2}-\d{2}") { return NaiveDate::parse_from_str(&x, "%Y-%m-%d").ok(); }
    if let Some(x) = find(r"\d{1,2}\.\d{1,2}\.\d{4}") { return NaiveDate::parse_from_str(&x, "%d.%m.%Y").ok(); }
    if let Some(x) = find(r"\d{1,2}/\d{1,2}/\d{4}") { return NaiveDate::parse_from_str(&x, "%d/%m/%Y").ok(); }
    if let Some(x) = find(r"\d{1,2} [A-Z][a-z]+ \d{4}") { return NaiveDate::parse_from_str(&x, "%d %B %Y").ok(); }
    if let Some(x) = find(r"^\d{10}$") { return DateTime::from_timestamp(x.parse().ok()?, 0).map(|d| d.date_naive()); }
    if let Some(x) = find(r"^\d{8}$") { return NaiveDate::parse_from_str(&x, "%Y%m%d").ok(); }
    None
}
let mut stations: Vec<String> = vec![];
let mut marker: Option<String> = None;
let mut seen: HashSet<String> = HashSet::new();
let token = Regex::new(r"[A-Za-z0-9_+/=:.-]*[A-Za-z0-9_+/=-]")?;
loop {
    let r = match &marker { None => lockers::station_directory().await?, Some(m) => lockers::station_directory().marker(m.clone()).await? };
    let text = r.text().to_string();
    println!("{text}");
    let mut lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let last = lines.last().copied().unwrap_or("").to_string();
    let low = last.to_lowercase();
    let mut next = None;
    if low.contains("marker") || low.contains("more") || low.contains("next") || low.contains("end") && !last.contains(',') {
        lines.pop();
        if low.contains("marker") || low.contains("more") || low.contains("next") {
            next = token.find_iter(&last).last().map(|m| m.as_str().rsplit(['=', ':']).find(|s| !s.is_empty()).unwrap_or("").to_string());
        }
    }
    for l in lines { if let Some(t) = token.find(l) { stations.push(t.as_str().trim_end_matches(':').to_string()); } }
    match next {
        Some(n) if !["none", "end", "marker", "more", "stations"].contains(&n.to_lowercase().as_str()) && seen.insert(n.clone()) => marker = Some(n),
        _ => break,
    }
}
let re = Regex::new(r"PX-\d+")?;
let mut parcels: BTreeSet<String> = BTreeSet::new();
for (i, s) in stations.iter().enumerate() {
    match lockers::compartments(s.clone()).await {
        Ok(r) => {
            let t = r.text().to_string();
            if i == 0 { println!("{t}"); }
            parcels.extend(re.find_iter(&t).map(|m| m.as_str().to_string()));
        }
        Err(e) => println!("{s}: {}", e.message),
    }
}
let list: Vec<String> = parcels.into_iter().collect();
let tracks = concurrently(8, list, |p| async move { lockers::track(p).await }).await?;
if let Some(t) = tracks.first() { println!("due is like {}", t.due); }
let limit = chrono::NaiveDate::from_ymd_opt(2025, 3, 12).unwrap();
let mut out = vec![];
for t in &tracks {
    let (lockers::TrackStatus::Stowed, Some(c)) = (&t.status, &t.compartment) else { continue; };
    let d = day(&t.due).ok_or_else(|| anyhow!("due {:?}", t.due))?;
    if d < limit { out.push((d, t.parcel.clone(), c.clone())); }
}
out.sort();
out.iter().map(|(d, p, c)| json!({"parcel": p, "compartment": c, "due": d.format("%Y-%m-%d").to_string()})).collect::<Vec<_>>()

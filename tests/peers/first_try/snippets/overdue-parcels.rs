use chrono::NaiveDate;
let mut stations: Vec<String> = vec![];
let mut marker: Option<String> = None;
let re = Regex::new(r"marker\s*=\s*(\S+)")?;
loop {
    let t = match &marker {
        Some(m) => lockers::station_directory().marker(m).await?.text(),
        None => lockers::station_directory().await?.text(),
    };
    let before = stations.len();
    for l in t.lines().filter(|l| l.contains('|') && !l.starts_with("CODE")) {
        let code = l.split('|').next().unwrap_or("").trim().to_string();
        if !stations.contains(&code) { stations.push(code); }
    }
    match t.lines().last().and_then(|l| re.captures(l)).map(|c| c[1].to_string()) {
        Some(m) if stations.len() > before && !["-", "none", "None", "end"].contains(&m.as_str()) => marker = Some(m),
        _ => break,
    }
}
let mut out: Vec<(NaiveDate, String, String)> = vec![];
for s in &stations {
    let t = lockers::compartments(s).await?.text();
    let mut no = String::new();
    for l in t.lines() {
        if let Some(v) = l.trim().strip_prefix("no:") { no = v.trim().to_string(); }
        if let Some(p) = l.trim().strip_prefix("parcel:") {
            let p = p.trim();
            if p.is_empty() || p == "-" { continue; }
            let info = lockers::track(p).await?;
            let due = NaiveDate::parse_from_str(&info.due, "%G-W%V-%u")
                .or_else(|_| NaiveDate::parse_from_str(info.due.get(..10).unwrap_or(&info.due), "%Y-%m-%d"))?;
            if due < NaiveDate::from_ymd_opt(2025, 3, 12).unwrap() { out.push((due, p.to_string(), no.clone())); }
        }
    }
}
out.sort();
out.iter().map(|(d, p, c)| json!({"parcel": p, "compartment": c, "due": d.format("%Y-%m-%d").to_string()})).collect::<Vec<_>>()

let driver = args.get("driver").ok_or_else(|| anyhow::anyhow!("argument driver is missing"))?.trim().to_string();
let week = args.get("week").ok_or_else(|| anyhow::anyhow!("argument week is missing"))?.trim().to_string();
let (mut page, mut pages) = (1i64, 1i64);
let mut name: Option<String> = None;
let foot = Regex::new(r"page\s+(\d+)\s+of\s+(\d+)")?;
while page <= pages && name.is_none() {
    let text = trams::drivers().page(page).await?.text();
    let mut cur = String::new();
    for l in text.lines() {
        let l = l.trim();
        if let Some(n) = l.strip_prefix("Driver ") { cur = n.trim().to_string(); }
        else if let Some((k, v)) = l.split_once('=') { if k.trim() == "name" && cur == driver { name = Some(v.trim().to_string()); } }
        if let Some(c) = foot.captures(l) { pages = c[2].parse()?; }
    }
    page += 1;
}
let len = Regex::new(r"^(\d+)h(\d+)$")?;
let (mut runs, mut minutes) = (0, 0i64);
for d in 1..=5 {
    let text = trams::roster(format!("{week}-{d}")).await?.text();
    let mut cols: Vec<String> = vec![];
    for l in text.lines() {
        let f: Vec<String> = l.split('|').map(|x| x.trim().to_string()).collect();
        if f.len() < 3 { continue; }
        if cols.is_empty() { cols = f; continue; }
        let get = |k: &str| cols.iter().position(|c| c == k).and_then(|i| f.get(i)).cloned().unwrap_or_default();
        if get("DRIVER") != driver { continue; }
        runs += 1;
        let t = get("LEN");
        let c = len.captures(&t).ok_or_else(|| anyhow::anyhow!("length {t}"))?;
        minutes += c[1].parse::<i64>()? * 60 + c[2].parse::<i64>()?;
    }
}
json!({"name": name, "runs": runs, "minutes": minutes})

let day = "2025-W14-3";
let head = Regex::new(r"Driver\s+(\d+)")?;
let name_re = Regex::new(r"name\s*=\s*(.+)")?;
let pages_re = Regex::new(r"page\s+(\d+)\s+of\s+(\d+)")?;
let mut drivers: BTreeMap<i64, String> = BTreeMap::new();
let mut page = 1i64;
loop {
    let r = trams::DriversInput { page: Some(page) }.call().await?;
    let text = r.text().to_string();
    let mut cur = 0i64;
    for line in text.lines() {
        if let Some(c) = head.captures(line) { cur = c[1].parse()?; }
        else if let Some(c) = name_re.captures(line) { drivers.insert(cur, c[1].trim().to_string()); }
    }
    let last: i64 = match pages_re.captures(&text) { Some(c) => c[2].parse()?, None => page };
    if page >= last { break; }
    page += 1;
}
let r = trams::roster(day).await?;
let text = r.text().to_string();
let mut rows = text.lines();
let cols: Vec<String> = rows.next().unwrap_or("").split('|').map(|s| s.trim().to_string()).collect();
let ir = cols.iter().position(|c| c == "RUN").unwrap();
let id = cols.iter().position(|c| c == "DRIVER").unwrap();
let mut open_runs: Vec<String> = vec![];
for row in rows {
    let v: Vec<&str> = row.split('|').map(|s| s.trim()).collect();
    if v.len() == cols.len() && v[id] == "-" { open_runs.push(v[ir].to_string()); }
}
let mut filled = serde_json::Map::new();
let mut open: Vec<String> = vec![];
for run in &open_runs {
    let mut done = false;
    for (n, name) in &drivers {
        if trams::assign(day, run).driver(*n).await.is_err() { continue; }
        // make sure that it was accepted
        let r = trams::roster(day).await?;
        let now = r.text().to_string();
        let ok = now.lines().any(|row| {
            let v: Vec<&str> = row.split('|').map(|s| s.trim()).collect();
            v.len() == cols.len() && v[ir] == run.as_str() && v[id] == n.to_string()
        });
        if ok {
            filled.insert(run.clone(), json!(name));
            done = true;
            break;
        }
    }
    if !done { open.push(run.clone()); }
}
json!({"filled": filled, "open": open})

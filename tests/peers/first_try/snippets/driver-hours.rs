let driver: i64 = args.get("driver").unwrap().to_string().trim().parse()?;
let week = args.get("week").unwrap().to_string();
let head = Regex::new(r"Driver\s+(\d+)")?;
let name_re = Regex::new(r"name\s*=\s*(.+)")?;
let pages_re = Regex::new(r"page\s+(\d+)\s+of\s+(\d+)")?;
let len_re = Regex::new(r"(\d+)h(\d+)")?;
let mut name: Option<String> = None;
let mut page = 1i64;
loop {
    let r = trams::DriversInput { page: Some(page) }.call().await?;
    let text = r.text().to_string();
    let mut cur = 0i64;
    for line in text.lines() {
        if let Some(c) = head.captures(line) { cur = c[1].parse()?; }
        else if let Some(c) = name_re.captures(line) { if cur == driver { name = Some(c[1].trim().to_string()); } }
    }
    let last: i64 = match pages_re.captures(&text) { Some(c) => c[2].parse()?, None => page };
    if name.is_some() || page >= last { break; }
    page += 1;
}
let mut runs = 0;
let mut minutes = 0i64;
for d in 1..=5 {
    let r = trams::roster(format!("{}-{}", week.trim(), d)).await?;
    let text = r.text().to_string();
    let mut rows = text.lines();
    let cols: Vec<String> = rows.next().unwrap_or("").split('|').map(|s| s.trim().to_string()).collect();
    let id = cols.iter().position(|c| c == "DRIVER").unwrap();
    let il = cols.iter().position(|c| c == "LEN").unwrap();
    for row in rows {
        let v: Vec<&str> = row.split('|').map(|s| s.trim()).collect();
        if v.len() != cols.len() || v[id].parse::<i64>().ok() != Some(driver) { continue; }
        let c = len_re.captures(v[il]).unwrap();
        runs += 1;
        minutes += c[1].parse::<i64>()? * 60 + c[2].parse::<i64>()?;
    }
}
json!({"name": name, "runs": runs, "minutes": minutes})

let day = "2025-W14-3";
let (mut drivers, mut page) = (Vec::new(), 1i64);
loop {
    let text = trams::drivers().page(page).await?.text();
    for block in text.split("--\n") {
        let number = block.lines().find_map(|l| l.strip_prefix("Driver ")).context("no number")?.trim().parse::<i64>()?;
        let name = block.lines().find_map(|l| l.trim().strip_prefix("name = ")).context("no name")?.to_string();
        drivers.push((number, name));
    }
    let last = text.lines().last().unwrap_or("").to_string();
    if last.ends_with(&format!("page {page} of {page}")) { break; }
    page += 1;
}
drivers.sort();
let (mut filled, mut open) = (BTreeMap::new(), Vec::new());
for line in trams::roster(day).await?.text().lines().skip(1) {
    let cells: Vec<&str> = line.split('|').collect();
    if cells[3] != "-" { continue; }
    let mut found = None;
    for (number, name) in &drivers {
        match trams::assign(day, cells[0]).driver(*number).await {
            Ok(_) => { found = Some(name.clone()); break; }
            Err(e) if e.kind == ToolErrorKind::Failed => {}
            Err(e) => return Err(e.into()),
        }
    }
    match found {
        Some(name) => { filled.insert(cells[0].to_string(), name); }
        None => open.push(cells[0].to_string()),
    }
}
json!({"filled": filled, "open": open})

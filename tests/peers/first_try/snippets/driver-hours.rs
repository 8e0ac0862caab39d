let driver = args.get("driver").context("driver")?.to_string();
let week = args.get("week").context("week")?.to_string();
let (mut runs, mut minutes, mut name, mut page) = (0, 0i64, None, 1i64);
for day in 1..=5 {
    let text = trams::roster(format!("{week}-{day}")).await?.text();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('|').collect();
        if cells[3] == driver {
            let (h, m) = cells[6].split_once('h').context("no length")?;
            runs += 1;
            minutes += h.parse::<i64>()? * 60 + m.parse::<i64>()?;
        }
    }
}
while name.is_none() {
    let text = trams::drivers().page(page).await?.text();
    let block = text.split("--\n").find(|b| b.starts_with(&format!("Driver {driver}\n")));
    name = block.and_then(|b| b.lines().find_map(|l| l.trim().strip_prefix("name = "))).map(str::to_string);
    page += 1;
}
json!({"name": name, "runs": runs, "minutes": minutes})

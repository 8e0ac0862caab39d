let arg = |k: &str| args.get(k).map(|s| s.to_string()).ok_or_else(|| anyhow!("no argument {k}"));
let (day, first, second) = (arg("day")?, arg("first")?, arg("second")?);
let day = chrono::NaiveDate::parse_from_str(&day, "%Y-%m-%d")?.format("%G-W%V-%u").to_string();
let text = trams::roster(day.clone()).await?.text().to_string();
println!("{text}");
fn cells(l: &str) -> Vec<String> {
    for d in ['|', '\t', ';'] { if l.contains(d) { return l.trim().trim_matches(d).split(d).map(|s| s.trim().to_string()).collect(); } }
    l.split_whitespace().map(String::from).collect()
}
let idx = text.lines().find_map(|l| cells(l).iter().position(|c| c.to_lowercase().starts_with("driver"))).unwrap_or(3);
let key_re = Regex::new(r"(?i)driver\W{0,3}[:= ]\W{0,2}?(\d+|-|–)")?;
let driver = |run: &str| -> anyhow::Result<i64> {
    let l = text.lines().find(|l| l.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|w| w == run)).ok_or_else(|| anyhow!("no run {run}"))?;
    let d = match key_re.captures(l) { Some(c) => c[1].to_string(), None => cells(l).get(idx).cloned().unwrap_or_default() };
    Ok(d.trim_start_matches('#').parse()?)
};
let (d1, d2) = (driver(&first)?, driver(&second)?);
trams::assign(day.clone(), first.clone()).await?;
trams::assign(day.clone(), second.clone()).await?;
let mut refusal: Option<String> = None;
let mut given = false;
match trams::assign(day.clone(), first.clone()).driver(d2).await {
    Err(e) => refusal = Some(e.message.to_string()),
    Ok(_) => {
        given = true;
        if let Err(e) = trams::assign(day.clone(), second.clone()).driver(d1).await { refusal = Some(e.message.to_string()); }
    }
}
match refusal {
    None => json!({"swapped": true, "refusal": null}),
    Some(message) => {
        println!("{message}");
        if given { trams::assign(day.clone(), first.clone()).await?; }
        trams::assign(day.clone(), first.clone()).driver(d1).await?;
        trams::assign(day.clone(), second.clone()).driver(d2).await?;
        let code = Regex::new(r"(?:^|[\s:\[(])([A-Z]\d)(?:[\s:\]),.]|$)")?.captures(&message).map(|c| c[1].to_string());
        json!({"swapped": false, "refusal": code})
    }
}

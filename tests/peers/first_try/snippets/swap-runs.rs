let day = chrono::NaiveDate::parse_from_str(args.get("day").context("day")?, "%Y-%m-%d")?.format("%G-W%V-%u").to_string();
let first = args.get("first").context("first")?.to_string();
let second = args.get("second").context("second")?.to_string();
let text = trams::roster(&day).await?.text();
let driver = |run: &str| -> Result<i64> {
    let line = text.lines().find(|l| l.starts_with(&format!("{run}|"))).context("no run")?;
    Ok(line.split('|').nth(3).context("no driver")?.parse()?)
};
let (a, b) = (driver(&first)?, driver(&second)?);
trams::assign(&day, &first).await?;
trams::assign(&day, &second).await?;
let mut refusal = None;
for (run, number) in [(&first, b), (&second, a)] {
    if let Err(e) = trams::assign(&day, run).driver(number).await {
        let code = Regex::new(r"\bR\d\b")?.find(&e.message).map(|m| m.as_str().to_string());
        refusal = Some(code.with_context(|| e.message.to_string())?);
        break;
    }
}
if refusal.is_some() {
    trams::assign(&day, &first).await?;
    trams::assign(&day, &second).await?;
    trams::assign(&day, &first).driver(a).await?;
    trams::assign(&day, &second).driver(b).await?;
}
json!({"swapped": refusal.is_none(), "refusal": refusal})

let date = chrono::NaiveDate::parse_from_str(args.require("day")?, "%Y-%m-%d")?;
let day = date.format("%G-W%V-%u").to_string();
let first = args.require("first")?.to_string();
let second = args.require("second")?.to_string();
let roster = trams::roster(&day).await?.text();
let driver = |run: &str| -> Option<i64> {
    roster.lines().map(|l| l.split('|').map(|c| c.trim()).collect::<Vec<_>>())
        .find(|f| f.len() > 3 && f[0] == run).and_then(|f| f[3].parse().ok())
};
let a = driver(&first).ok_or_else(|| anyhow::anyhow!("{first} has no driver"))?;
let b = driver(&second).ok_or_else(|| anyhow::anyhow!("{second} has no driver"))?;
let mut steps: Vec<(String, Option<i64>)> = vec![
    (first.clone(), None), (second.clone(), None), (first.clone(), Some(b)), (second.clone(), Some(a)),
];
let mut refusal: Option<String> = None;
let mut did = 0;
for (run, d) in &steps {
    let r = match d {
        Some(n) => trams::assign(&day, run).driver(*n).await,
        None => trams::assign(&day, run).await,
    };
    match r {
        Ok(_) => did += 1,
        Err(e) => { refusal = Some(e.message.clone()); break; }
    }
}
if refusal.is_some() {
    steps.truncate(did);
    // take away what was newly given, then give both their own runs again
    for (run, d) in &steps {
        if d.is_some() { trams::assign(&day, run).await?; }
    }
    for (run, own) in [(&first, a), (&second, b)] {
        if steps.iter().any(|s| &s.0 == run) { trams::assign(&day, run).driver(own).await?; }
    }
}
let code = refusal.map(|m| {
    let m = Regex::new(r"[A-Z]\d+-\d+").unwrap().replace_all(&m, "").to_string();
    Regex::new(r"\b[A-Z]\d\b").unwrap().find(&m).map(|x| x.as_str().to_string()).unwrap_or(m.clone())
});
json!({"swapped": code.is_none(), "refusal": code})

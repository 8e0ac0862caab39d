const DIR: &str = "/tmp/toolsmith-first-try/shop/logs";
let mut names: Vec<String> = filesystem::list_directory(DIR).await?.content.lines()
    .filter_map(|l| l.strip_prefix("[FILE] ").map(|s| s.trim_end().to_string())).collect();
names.sort();
let re = Regex::new(r"request=(\d+) took=(\d+(?:\.\d+)?)ms")?;
let mut out = vec![];
for n in &names {
    let text = filesystem::read_text_file(format!("{DIR}/{n}")).tail(45.0).await?.content;
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(40)..];
    let errors = last.iter().filter(|l| l.contains(" ERROR ")).count();
    let (mut slow, mut top, mut sum, mut count) = (0i64, -1.0f64, 0.0f64, 0.0f64);
    for l in last {
        if let Some(c) = re.captures(l) {
            let ms: f64 = c[2].parse()?;
            if ms > top { top = ms; slow = c[1].parse()?; }
            sum += ms;
            count += 1.0;
        }
    }
    out.push(json!({"file": n, "errors": errors, "slowest": slow, "mean_ms": (sum / count * 10.0).round() / 10.0}));
}
out

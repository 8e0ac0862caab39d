let dir = "/tmp/toolsmith-first-try/shop/logs";
let listing = filesystem::list_directory(dir).await?.content;
let mut names: Vec<String> = listing.lines().filter_map(|l| l.strip_prefix("[FILE] ")).map(|n| n.trim().to_string()).collect();
names.sort();
let entry = regex::Regex::new(r"request=(\d+)\s+took=(\d+)ms")?;
let mut out: Vec<Value> = Vec::new();
for name in &names {
    // More than 40, in case that the end of the file counts as an empty line.
    let text = filesystem::read_text_file(format!("{dir}/{name}")).tail(50).await?.content;
    let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(40)..];
    let mut errors = 0;
    let (mut sum, mut count) = (0u64, 0u64);
    let mut slowest: Option<(u64, u64)> = None;
    for line in last {
        if line.split_whitespace().nth(1) == Some("ERROR") {
            errors += 1;
        }
        if let Some(c) = entry.captures(line) {
            let request: u64 = c[1].parse()?;
            let took: u64 = c[2].parse()?;
            sum += took;
            count += 1;
            if slowest.map_or(true, |(_, most)| took > most) {
                slowest = Some((request, took));
            }
        }
    }
    let mean = sum as f64 / count as f64;
    out.push(json!({"file": name, "errors": errors, "slowest": slowest.map(|s| s.0), "mean_ms": (mean * 10.0).round() / 10.0}));
}
out

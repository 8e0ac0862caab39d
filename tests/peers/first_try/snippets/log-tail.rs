let dir = filesystem::list_directory("/tmp/toolsmith-first-try/shop/logs").await?.content;
let mut names: Vec<String> = dir.lines().filter_map(|l| l.trim().strip_prefix("[FILE]").map(|s| s.trim().to_string())).collect();
names.sort();
let re = Regex::new(r"^\S+ (\w+) request=(\d+) took=(\d+)ms")?;
let mut out = vec![];
for n in &names {
    // a few more, as the empty end of the file may count as a line
    let t = filesystem::read_text_file(format!("/tmp/toolsmith-first-try/shop/logs/{n}")).tail(45.0).await?.content;
    let lines: Vec<&str> = t.lines().filter(|l| !l.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(40)..];
    let (mut errors, mut slow, mut most, mut sum, mut cnt) = (0, 0i64, -1i64, 0i64, 0i64);
    for l in last {
        let Some(c) = re.captures(l) else { println!("odd line: {l}"); continue; };
        if &c[1] == "ERROR" { errors += 1; }
        let ms: i64 = c[3].parse()?;
        if ms > most { most = ms; slow = c[2].parse()?; }
        sum += ms;
        cnt += 1;
    }
    out.push(json!({"file": n, "errors": errors, "slowest": slow, "mean_ms": (sum as f64 / cnt as f64 * 10.0).round() / 10.0}));
}
out

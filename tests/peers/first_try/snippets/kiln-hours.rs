let log = kilns::firing_log().await?.result;
let row = Regex::new(r"^\s*(F-\S+)\s+(\S+)\s+(\d{4})-W(\d{2})-\d\s+\d{1,2}:\d{2}\s+(\S+)\s+(.*?)\s+(\S+)\s*$")?;
let took_re = Regex::new(r"^(\d+)h(\d*)$")?;
let mut out: BTreeMap<String, (i64, i64)> = BTreeMap::new();
for line in log.lines().skip(1).filter(|l| !l.trim().is_empty()) {
    let Some(c) = row.captures(line) else {
        if line.trim_start().starts_with("F-") && line.contains("done") {
            anyhow::bail!("row not understood: {line}\n{log}");
        }
        continue;
    };
    let week: u32 = c[4].parse()?;
    if &c[3] != "2025" || !(6..=9).contains(&week) || &c[7] != "done" { continue; }
    let Some(t) = took_re.captures(&c[5]) else { anyhow::bail!("duration not understood: {line}\n{log}") };
    let hours: i64 = t[1].parse()?;
    let mins: i64 = if t[2].is_empty() { 0 } else { t[2].parse()? };
    let e = out.entry(c[2].to_string()).or_default();
    e.0 += 1;
    e.1 += hours * 60 + mins;
}
out.iter().map(|(k, (n, m))| (k.clone(), json!({"firings": n, "minutes": m}))).collect::<BTreeMap<String, Value>>()

let row = Regex::new(r"^(F-\S+)\s+(\S+)\s+(\S+ \d\d:\d\d)\s+(\S+)\s+(.*?)\s+(\w+)\s*$")?;
let text = kilns::firing_log().kiln(kilns::FiringLogKiln::East).await?.result;
let mut ids: Vec<String> = vec![];
for line in text.lines().filter(|l| l.starts_with("F-")) {
    let Some(c) = row.captures(line) else { anyhow::bail!("row? {line}") };
    if &c[2] == "east" && &c[6] == "done" { ids.push(c[1].to_string()); }
}
concurrently(3, &ids, |id| async move {
    let parts_re = Regex::new(r"part\s+(\d+)\s*/\s*(\d+)")?;
    let time_re = Regex::new(r"^(\d+)h(\d\d)$")?;
    let mut readings: Vec<(i64, f64)> = vec![];
    let mut part = 1i64;
    let mut parts = 1i64;
    while part <= parts {
        let text = kilns::curve(id).part(part).await?.text().to_string();
        let head = text.lines().next().unwrap_or("");
        let Some(c) = parts_re.captures(head) else { anyhow::bail!("head? {head}") };
        parts = c[2].parse()?;
        for line in text.lines().skip(1).filter(|l| !l.trim().is_empty() && !l.starts_with('#')) {
            let Some((t, v)) = line.split_once(';') else { anyhow::bail!("line? {line}") };
            let Some(t) = time_re.captures(t.trim()) else { anyhow::bail!("time? {line}") };
            let at = t[1].parse::<i64>()? * 60 + t[2].parse::<i64>()?;
            let v: String = v.chars().filter(|c| !c.is_whitespace()).collect::<String>().replace(',', ".");
            if let Ok(v) = v.parse::<f64>() {
                if v.is_finite() { readings.push((at, v)); }
            } else if v.chars().any(|c| c.is_ascii_digit()) { anyhow::bail!("value? {line}"); }
        }
        part += 1;
    }
    readings.sort_by_key(|r| r.0);
    let mut best: Option<(i64, f64)> = None;
    for r in &readings { if best.map_or(true, |b| r.1 > b.1) { best = Some(*r); } }
    let Some(best) = best else { anyhow::bail!("{id}: no readings") };
    Ok::<Value, anyhow::Error>(json!({"firing": id, "hottest": best.1, "at": best.0, "hot": readings.iter().filter(|r| r.1 >= 1000.0).count()}))
}).await?

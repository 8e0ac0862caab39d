fn number(s: &str) -> Option<f64> {
    let t: String = s.chars().filter(|c| !c.is_whitespace()).collect();
    t.replace(',', ".").parse().ok()
}
struct Firing { id: String, peak: Option<f64>, state: String }
fn firings(text: &str) -> Vec<Firing> {
    let re = Regex::new(r"^(\S+)\s+(\S+)\s+(\S+\s+\d\d:\d\d)\s+(\S+)\s+(-|\d[\d\s]*(?:,\d+)?)\s+(\D.*)$").unwrap();
    text.lines().filter_map(|l| re.captures(l.trim_end())).map(|c| Firing { id: c[1].to_string(), peak: number(&c[5]), state: c[6].trim().to_string() }).collect()
}
async fn readings(firing: &str) -> anyhow::Result<Vec<(i64, f64)>> {
    let head = Regex::new(r"part\s+(\d+)/(\d+)")?;
    let line = Regex::new(r"^\s*(\d+)h(\d+)\s*;(.*)$")?;
    let (mut part, mut parts) = (1i64, 1i64);
    let mut out = vec![];
    while part <= parts {
        let text = kilns::curve(firing).part(part).await?.text();
        if let Some(c) = text.lines().next().and_then(|l| head.captures(l)) { parts = c[2].parse()?; }
        for c in text.lines().filter_map(|l| line.captures(l)) {
            let m = c[1].parse::<i64>()? * 60 + c[2].parse::<i64>()?;
            if let Some(t) = number(&c[3]) { out.push((m, t)); }
        }
        part += 1;
    }
    Ok(out)
}
let log = kilns::firing_log().kiln(kilns::FiringLogKiln::East).await?.result;
let done: Vec<String> = firings(&log).into_iter().filter(|f| f.state == "done").map(|f| f.id).collect();
let all = concurrently(3, &done, |f| async move { readings(f).await }).await?;
let mut out = vec![];
for (f, r) in done.iter().zip(all.iter()) {
    let mut best: Option<(i64, f64)> = None;
    for x in r { if best.map_or(true, |b| x.1 > b.1 || (x.1 == b.1 && x.0 < b.0)) { best = Some(*x); } }
    out.push(json!({"firing": f, "hottest": best.map(|b| b.1), "at": best.map(|b| b.0), "hot": r.iter().filter(|x| x.1 >= 1000.0).count()}));
}
out

let re = Regex::new(r"\{'id': '([^']+)', 'size': '([^']+)', 'wants': '([^']+)'")?;
let more = Regex::new(r"'more':\s*(\d+)\s*\}\s*$")?;
let mut parcels: Vec<(u64, String, String, String)> = vec![];
let mut after = 0i64;
loop {
    let text = lockers::intake().after(after).await?.text().to_string();
    let n = parcels.len();
    for c in re.captures_iter(&text) {
        let num: u64 = c[1].chars().filter(|c| c.is_ascii_digit()).collect::<String>().parse()?;
        parcels.push((num, c[1].to_string(), c[2].to_string(), c[3].to_string()));
    }
    if text.matches("'id':").count() != parcels.len() - n { anyhow::bail!("intake not understood: {text}"); }
    match more.captures(&text) {
        Some(c) => {
            let next: i64 = c[1].parse()?;
            if next == after { break; }
            after = next;
        }
        None => break,
    }
}
parcels.sort();
parcels.dedup();
fn rank(s: &str) -> Option<usize> { ["S", "M", "L"].iter().position(|x| *x == s) }
let mut stowed: BTreeMap<String, String> = BTreeMap::new();
let mut left: Vec<String> = vec![];
for (_, id, size, station) in &parcels {
    let text = lockers::compartments(station).await?.text().to_string();
    let need = rank(size).ok_or_else(|| anyhow::anyhow!("size {size}"))?;
    let mut free: Vec<(usize, u64, String)> = vec![];
    let mut m: BTreeMap<String, String> = BTreeMap::new();
    for line in text.lines().chain(["--"]) {
        if line.trim() == "--" {
            if let (Some(no), Some(size), Some(state)) = (m.get("no"), m.get("size"), m.get("state")) {
                if let Some(r) = rank(size) {
                    if state == "free" && r >= need {
                        free.push((r, no.rsplit('/').next().unwrap_or("").parse()?, no.clone()));
                    }
                }
            }
            m.clear();
        } else if let Some((k, v)) = line.split_once(':') {
            m.insert(k.trim().to_string(), v.trim().to_string());
        }
    }
    free.sort();
    let mut done = false;
    for (_, _, c) in free {
        let answer = lockers::stow(id, &c).await;
        let t = lockers::track(id).await?;
        if matches!(t.status, lockers::TrackStatus::Stowed) {
            stowed.insert(id.clone(), t.compartment.unwrap_or(c));
            done = true;
            break;
        }
        let said = match &answer { Ok(a) => a.text().to_string(), Err(e) => format!("{e:?}") };
        if !said.to_lowercase().contains("door") { anyhow::bail!("{id} {c}: {said}"); }
    }
    if !done { left.push(id.clone()); }
}
json!({"stowed": stowed, "left": left})

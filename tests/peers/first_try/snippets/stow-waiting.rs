#[derive(Debug, Clone)]
struct Comp { no: String, n: u64, size: usize, state: String, parcel: Option<String> }
fn rank(s: &str) -> usize { match s { "S" => 0, "M" => 1, "L" => 2, _ => 9 } }
async fn comps(station: &str) -> anyhow::Result<Vec<Comp>> {
    let text = lockers::compartments(station).await?.text();
    let mut out: Vec<Comp> = vec![];
    for l in text.lines() {
        let Some((k, v)) = l.split_once(':') else { continue };
        let v = v.trim();
        if k.trim() == "no" {
            let n = v.rsplit('/').next().unwrap_or_default().parse()?;
            out.push(Comp { no: v.to_string(), n, size: 9, state: String::new(), parcel: None });
            continue;
        }
        let Some(c) = out.last_mut() else { continue };
        match k.trim() {
            "size" => c.size = rank(v),
            "state" => c.state = v.to_string(),
            "parcel" => c.parcel = if v == "-" || v.is_empty() { None } else { Some(v.to_string()) },
            _ => {}
        }
    }
    Ok(out)
}
async fn waiting() -> anyhow::Result<Vec<Value>> {
    let mut out = vec![];
    let mut after: Option<i64> = None;
    loop {
        let page = match after { Some(a) => lockers::intake().after(a).await?, None => lockers::intake().await? };
        let v: Value = page.json()?;
        out.extend(v["parcels"].as_array().cloned().unwrap_or_default());
        match v["more"].as_i64() { Some(a) if Some(a) != after => after = Some(a), _ => break }
    }
    Ok(out)
}
async fn stow_best(parcel: &str, size: usize, station: &str) -> anyhow::Result<Option<String>> {
    let mut free: Vec<Comp> = comps(station).await?.into_iter().filter(|c| c.state == "free" && c.size >= size && c.size < 9).collect();
    free.sort_by_key(|c| (c.size, c.n));
    for c in free {
        if lockers::stow(parcel, c.no.clone()).await.is_ok() && lockers::track(parcel).await?.compartment.is_some() {
            return Ok(Some(c.no));
        }
    }
    Ok(None)
}
let mut parcels = waiting().await?;
let id = |p: &Value| p["id"].as_str().unwrap_or_default().to_string();
parcels.sort_by_key(|p| id(p).rsplit('-').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0));
let mut stowed = serde_json::Map::new();
let mut left = vec![];
for p in &parcels {
    let size = rank(p["size"].as_str().unwrap_or_default());
    match stow_best(&id(p), size, p["wants"].as_str().unwrap_or_default()).await? {
        Some(c) => { stowed.insert(id(p), json!(c)); }
        None => left.push(id(p)),
    }
}
json!({"stowed": stowed, "left": left})

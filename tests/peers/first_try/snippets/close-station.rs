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
let from = args.get("from").ok_or_else(|| anyhow::anyhow!("argument from is missing"))?.to_string();
let to = args.get("to").ok_or_else(|| anyhow::anyhow!("argument to is missing"))?.to_string();
let mut held: Vec<Comp> = comps(&from).await?.into_iter().filter(|c| c.parcel.is_some()).collect();
held.sort_by_key(|c| c.n);
let mut moved: Vec<(String, String, String)> = vec![]; // parcel, old, new
let mut done = true;
for c in &held {
    let p = c.parcel.clone().unwrap_or_default();
    lockers::release(p.clone(), lockers::ReleaseReason::Moved).await?;
    let size = waiting().await?.iter().find(|w| w["id"].as_str() == Some(p.as_str()))
        .map(|w| rank(w["size"].as_str().unwrap_or_default())).ok_or_else(|| anyhow::anyhow!("{p} does not wait"))?;
    match stow_best(&p, size, &to).await? {
        Some(n) => moved.push((p, c.no.clone(), n)),
        None => {
            lockers::stow(p, c.no.clone()).await?;
            for (p, old, _) in moved.drain(..).rev() {
                lockers::release(p.clone(), lockers::ReleaseReason::Moved).await?;
                lockers::stow(p, old).await?;
            }
            done = false;
            break;
        }
    }
}
let m: std::collections::BTreeMap<String, String> = moved.into_iter().map(|(p, _, n)| (p, n)).collect();
json!({"done": done, "moved": m})

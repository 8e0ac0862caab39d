#[derive(Debug, Clone)]
struct Box_ { no: String, idx: i64, size: usize, state: String, parcel: Option<String> }
fn parse_boxes(text: &str) -> Vec<Box_> {
    let mut out: Vec<Box_> = vec![];
    for line in text.lines() {
        let Some((k, v)) = line.split_once(':') else { continue };
        let v = v.trim();
        if k.trim() == "no" {
            let idx = v.rsplit('/').next().and_then(|x| x.parse().ok()).unwrap_or(0);
            out.push(Box_ { no: v.to_string(), idx, size: 9, state: String::new(), parcel: None });
        } else if let Some(b) = out.last_mut() {
            match k.trim() {
                "size" => b.size = "SML".find(v).unwrap_or(9),
                "state" => b.state = v.to_string(),
                "parcel" => b.parcel = if v == "-" || v.is_empty() { None } else { Some(v.to_string()) },
                _ => {}
            }
        }
    }
    out.sort_by_key(|b| b.idx);
    out
}
let from = args.get("from").unwrap().to_string();
let to = args.get("to").unwrap().to_string();
let r = lockers::compartments(&from).await?;
let sources: Vec<Box_> = parse_boxes(&r.text().to_string()).into_iter().filter(|b| b.parcel.is_some()).collect();
let mut moved: Vec<(String, String, String)> = vec![]; // parcel, old, new
let mut failed: Option<(String, String, bool)> = None; // parcel, old, was released
for b in &sources {
    let parcel = b.parcel.clone().unwrap();
    if lockers::release(&parcel, lockers::ReleaseReason::Moved).await.is_err() {
        failed = Some((parcel, b.no.clone(), false));
        break;
    }
    let r = lockers::compartments(&to).await?;
    let mut free: Vec<Box_> = parse_boxes(&r.text().to_string()).into_iter().filter(|x| x.state == "free").collect();
    free.sort_by_key(|x| (x.size, x.idx));
    let mut target: Option<String> = None;
    for x in &free {
        // a door that is too small or does not open: the next one
        if lockers::stow(&parcel, &x.no).await.is_err() { continue; }
        let t = lockers::track(&parcel).await?;
        if matches!(t.status, lockers::TrackStatus::Stowed) && t.compartment.as_deref() == Some(x.no.as_str()) {
            target = Some(x.no.clone());
            break;
        }
    }
    match target {
        Some(n) => moved.push((parcel, b.no.clone(), n)),
        None => { failed = Some((parcel, b.no.clone(), true)); break; }
    }
}
let done = failed.is_none();
if let Some((parcel, old, released)) = failed {
    if released { lockers::stow(&parcel, &old).await?; }
    for (parcel, old, _) in moved.iter().rev() {
        lockers::release(parcel, lockers::ReleaseReason::Moved).await?;
        lockers::stow(parcel, old).await?;
    }
    moved.clear();
}
let mut m = serde_json::Map::new();
for (p, _, n) in &moved { m.insert(p.clone(), json!(n)); }
json!({"done": done, "moved": m})

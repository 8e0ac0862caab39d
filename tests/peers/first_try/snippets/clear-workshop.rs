fn open(d: &Value) -> bool {
    let Some(o) = d.as_object() else { return true };
    for (k, v) in o {
        match k.as_str() {
            "open" => return v.as_bool().unwrap_or(true),
            "state" | "status" => return v.as_str().map_or(true, |s| s == "open"),
            "closed" | "outcome" | "resolved" | "closed_on" | "closed_as" | "done" => return v.is_null() || v == &json!(false) || v == &json!("open"),
            _ => {}
        }
    }
    true
}
let re = Regex::new(r"D-\d+/\d+")?;
let open_ids = |t: &Value| -> Vec<String> {
    let ds: Vec<Value> = match &t["defects"] {
        Value::Array(a) => a.clone(),
        Value::Object(o) => o.iter().map(|(k, v)| { let mut v = v.clone(); if v.is_object() { v["id"] = json!(k); } v }).collect(),
        _ => vec![],
    };
    ds.iter().filter(|d| open(d)).filter_map(|d| re.find(&d.to_string()).map(|m| m.as_str().to_string())).collect()
};
let mut deferred = 0;
let mut released: Vec<i64> = vec![];
let mut blocked = serde_json::Map::new();
for n in 2101..=2112i64 {
    let t: Value = trams::tram(n).await?.json()?;
    if !t["state"].as_str().unwrap_or_default().contains("workshop") { continue; }
    for id in open_ids(&t) {
        match trams::close_defect(id.clone(), trams::CloseDefectOutcome::Deferred).await {
            Ok(_) => deferred += 1,
            Err(e) if e.message.to_lowercase().contains("safety") || e.message.to_lowercase().contains("closed") => {}
            Err(e) => return Err(anyhow::anyhow!("{id}: {} in {t}", e.message)),
        }
    }
    let t: Value = trams::tram(n).await?.json()?;
    let rest = open_ids(&t);
    if rest.is_empty() { trams::release_tram(n).await?; released.push(n); }
    else { blocked.insert(n.to_string(), json!(rest)); }
}
json!({"deferred": deferred, "released": released, "blocked": blocked})

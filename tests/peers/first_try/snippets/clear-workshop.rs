let mut deferred = 0;
let mut released: Vec<i64> = vec![];
let mut blocked = serde_json::Map::new();
fn open_defects(v: &Value) -> Vec<(String, bool)> {
    let mut out = vec![];
    let items: Vec<Value> = match &v["defects"] {
        Value::Array(a) => a.clone(),
        Value::Object(o) => o.iter().map(|(k, d)| { let mut d = if d.is_object() { d.clone() } else { json!({"about": d}) }; d["id"] = json!(k); d }).collect(),
        _ => vec![],
    };
    for d in items {
        let Some(o) = d.as_object() else { continue };
        let Some(id) = o.values().filter_map(|x| x.as_str()).find(|s| s.starts_with("D-")).map(|s| s.to_string()) else { continue };
        let mut open = true;
        for (k, x) in o {
            match (k.as_str(), x) {
                ("open", Value::Bool(b)) => open = *b,
                ("closed", Value::Bool(b)) => open = !*b,
                ("state" | "status", Value::String(s)) => open = s == "open",
                ("outcome" | "closed" | "result", Value::String(_)) => open = false,
                _ => {}
            }
        }
        let safety = o.iter().any(|(k, x)| (k.contains("safety") && x == &json!(true)) || x.as_str() == Some("safety"));
        if open { out.push((id, safety)); }
    }
    out
}
for n in 2101..=2112i64 {
    let r = match trams::tram(n).await { Ok(r) => r, Err(e) => { println!("{n}: {}", e.message); continue } };
    let v = r.json::<Value>()?;
    println!("{v}");
    let ws = v.as_object().map(|o| o.values().any(|x| x.as_str().map(|s| s.to_lowercase().contains("workshop")).unwrap_or(false) || false) || o.get("workshop") == Some(&json!(true))).unwrap_or(false);
    if !ws { continue; }
    for (id, safety) in open_defects(&v) {
        if safety { continue; }
        match trams::close_defect(id.clone(), trams::CloseDefectOutcome::Deferred).await { Ok(_) => deferred += 1, Err(e) => println!("{id}: {}", e.message) }
    }
    let left = open_defects(&trams::tram(n).await?.json::<Value>()?);
    if left.is_empty() {
        match trams::release_tram(n).await { Ok(_) => released.push(n), Err(e) => { println!("{n}: {}", e.message); blocked.insert(n.to_string(), json!([])); } }
    } else { blocked.insert(n.to_string(), json!(left.iter().map(|x| x.0.clone()).collect::<Vec<_>>())); }
}
json!({"deferred": deferred, "released": released, "blocked": blocked})

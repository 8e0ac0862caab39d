use everything::GetStructuredContentLocation as L;
let r = everything::get_tiny_image().await?;
let mut mime = Value::Null;
for c in &r.content {
    if c.kind() == "image" {
        mime = serde_json::to_value(c)?["mimeType"].clone();
        emit(c.clone());
    }
}
let mut conditions = BTreeMap::new();
let mut best = (f64::MIN, "");
let mut hum = 0.0;
for (n, l) in [("New York", L::NewYork), ("Chicago", L::Chicago), ("Los Angeles", L::LosAngeles)] {
    let w = everything::get_structured_content(l).await?;
    if w.temperature > best.0 { best = (w.temperature, n); }
    hum += w.humidity;
    conditions.insert(n, w.conditions.clone());
}
json!({"image": mime, "warmest": best.1, "humidity": hum / 3.0, "conditions": conditions})

let picture = everything::get_tiny_image().await?;
let mut image: Option<String> = None;
for block in picture.content {
    let v = json!(&block);
    if v["type"] == "image" {
        image = v["mimeType"].as_str().or(v["mime_type"].as_str()).map(|s| s.to_string());
        emit(block);
    }
}
let image = image.ok_or_else(|| anyhow!("no image"))?;
let mut warmest: Option<(f64, String)> = None;
let mut humidity = 0.0f64;
let mut conditions: BTreeMap<String, String> = BTreeMap::new();
for city in ["New York", "Chicago", "Los Angeles"] {
    let w = everything::get_structured_content(city).await?;
    humidity += w.humidity;
    if warmest.as_ref().map_or(true, |b| w.temperature > b.0) {
        warmest = Some((w.temperature, city.to_string()));
    }
    conditions.insert(city.to_string(), w.conditions.clone());
}
json!({
    "image": image,
    "warmest": warmest.map(|w| w.1),
    "humidity": humidity / 3.0,
    "conditions": conditions,
})

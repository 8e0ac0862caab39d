use everything::GetStructuredContentLocation as L;
let img = everything::get_tiny_image().await?;
let mime = img.image().and_then(|c| c.mime_type()).map(|s| s.to_string());
emit(img);
let mut cities = vec![];
for (n, l) in [("New York", L::NewYork), ("Chicago", L::Chicago), ("Los Angeles", L::LosAngeles)] {
    cities.push((n, everything::get_structured_content(l).await?));
}
let warmest = cities.iter().max_by(|a, b| a.1.temperature.total_cmp(&b.1.temperature)).map(|c| c.0);
let humidity = cities.iter().map(|c| c.1.humidity).sum::<f64>() / cities.len() as f64;
let conditions: std::collections::BTreeMap<&str, String> = cities.iter().map(|c| (c.0, c.1.conditions.clone())).collect();
json!({"image": mime, "warmest": warmest, "humidity": humidity, "conditions": conditions})

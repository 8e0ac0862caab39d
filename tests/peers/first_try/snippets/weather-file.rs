let mut rows = Vec::new();
for city in ["New York", "Chicago", "Los Angeles"] {
    let w = everything::get_structured_content(city).await?;
    rows.push((w.temperature, format!("{city},{},{},{}", w.temperature, w.conditions, w.humidity)));
}
rows.sort_by(|a, b| a.0.total_cmp(&b.0));
let path = "/tmp/toolsmith-first-try/shop/weather.csv";
let text = format!("city,temperature,conditions,humidity\n{}\n", rows.iter().map(|r| r.1.as_str()).collect::<Vec<_>>().join("\n"));
filesystem::write_file(path, text).await?;
let lines = filesystem::read_text_file(path).await?.content.lines().count();
json!({"lines": lines, "coldest": rows[0].1.split(',').next()})

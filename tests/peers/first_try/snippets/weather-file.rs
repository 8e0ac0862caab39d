use everything::GetStructuredContentLocation as L;
let mut rows = vec![];
for (n, l) in [("New York", L::NewYork), ("Chicago", L::Chicago), ("Los Angeles", L::LosAngeles)] {
    rows.push((n, everything::get_structured_content(l).await?));
}
rows.sort_by(|a, b| a.1.temperature.total_cmp(&b.1.temperature));
let mut text = "city,temperature,conditions,humidity\n".to_string();
for (n, w) in &rows {
    text += &format!("{n},{},{},{}\n", w.temperature, w.conditions, w.humidity);
}
let path = "/tmp/toolsmith-first-try/shop/weather.csv";
filesystem::write_file(path, &text).await?;
let after = filesystem::read_text_file(path).await?.content;
json!({"lines": after.lines().count(), "coldest": rows[0].0})

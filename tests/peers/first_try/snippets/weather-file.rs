use everything::GetStructuredContentLocation as L;
let mut rows = vec![];
for (name, l) in [("New York", L::NewYork), ("Chicago", L::Chicago), ("Los Angeles", L::LosAngeles)] {
    rows.push((name, everything::get_structured_content(l).await?));
}
rows.sort_by(|a, b| a.1.temperature.total_cmp(&b.1.temperature));
let mut csv = String::from("city,temperature,conditions,humidity\n");
for (n, w) in &rows { csv.push_str(&format!("{n},{},{},{}\n", w.temperature, w.conditions, w.humidity)); }
let path = "/tmp/toolsmith-first-try/shop/weather.csv";
filesystem::write_file(path, csv).await?;
let t = filesystem::read_text_file(path).await?.content;
json!({"lines": t.lines().count(), "coldest": t.lines().nth(1).and_then(|l| l.split(',').next()).unwrap_or("")})

let meetings: Vec<Value> = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/meetings.json").await?.content)?;
let mut times: Vec<(String, String)> = vec![];
let mut unknown: Vec<String> = vec![];
for m in &meetings {
    let title = m["title"].as_str().unwrap_or("").to_string();
    match time::convert_time(m["zone"].as_str().unwrap_or(""), m["time"].as_str().unwrap_or(""), "Etc/UTC").await {
        Ok(o) => {
            let t = o.target.datetime.split(|c| c == 'T' || c == ' ').nth(1).unwrap_or("").chars().take(5).collect::<String>();
            times.push((t, title));
        }
        Err(_) => unknown.push(title),
    }
}
times.sort_by(|a, b| a.0.cmp(&b.0));
unknown.sort();
json!({"times": times.iter().map(|(t, n)| json!({"title": n, "utc": t})).collect::<Vec<_>>(), "unknown": unknown})

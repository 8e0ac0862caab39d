let list: Vec<Value> = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/meetings.json").await?.content)?;
let mut times: Vec<(String, String)> = vec![];
let mut unknown: Vec<String> = vec![];
for m in &list {
    let s = |k: &str| m[k].as_str().unwrap_or("").to_string();
    match time::convert_time(s("zone"), s("time"), "Etc/UTC").await {
        Ok(r) => {
            let dt = r.target.datetime;
            let at = dt.find(['T', ' ']).unwrap_or(10) + 1;
            times.push((dt[at..at + 5].to_string(), s("title")));
        }
        Err(e) if e.message.to_lowercase().contains("zone") => unknown.push(s("title")),
        Err(e) => return Err(e.into()),
    }
}
times.sort();
unknown.sort();
json!({"times": times.iter().map(|(u, t)| json!({"title": t, "utc": u})).collect::<Vec<_>>(), "unknown": unknown})

let meetings: Vec<Value> = serde_json::from_str(&filesystem::read_text_file("/tmp/toolsmith-first-try/shop/meetings.json").await?.content)?;
let mut rows: Vec<(String, String)> = vec![];
let mut unknown = std::collections::BTreeMap::<String, String>::new();
for m in &meetings {
    let s = |k: &str| m[k].as_str().unwrap_or_default().to_string();
    match time::convert_time(s("zone"), s("time"), "Asia/Dubai").await {
        Ok(r) => {
            let t = r.target.datetime.split('T').nth(1).map(|t| t.chars().take(5).collect::<String>())
                .ok_or_else(|| anyhow::anyhow!("time {}", r.target.datetime))?;
            rows.push((t, s("title")));
        }
        Err(_) => { unknown.insert(s("zone"), s("title")); }
    }
}
rows.sort_by(|a, b| a.0.cmp(&b.0));
let csv: String = rows.iter().map(|(t, n)| format!("{n};{t}\n")).collect();
filesystem::write_file("/tmp/toolsmith-first-try/shop/dubai.csv", csv).await?;
unknown

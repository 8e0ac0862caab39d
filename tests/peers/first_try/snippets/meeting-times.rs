let file = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/meetings.json").await?;
let data: Value = file.content.parse::<Value>()?;
let meetings = data.as_array().ok_or_else(|| anyhow!("not a list"))?;
let mut times: Vec<(String, String)> = Vec::new();
let mut unknown: Vec<String> = Vec::new();
for m in meetings {
    let title = m["title"].as_str().ok_or_else(|| anyhow!("no title"))?.to_string();
    let time = m["time"].as_str().ok_or_else(|| anyhow!("no time"))?.to_string();
    let zone = m["zone"].as_str().ok_or_else(|| anyhow!("no zone"))?.to_string();
    match time::convert_time(zone.as_str(), time.as_str(), "Etc/UTC").await {
        Ok(out) => {
            let at = match out.target.datetime.split('T').nth(1) {
                Some(t) if t.len() >= 5 => t[..5].to_string(),
                _ => bail!("datetime: {}", out.target.datetime),
            };
            times.push((at, title));
        }
        Err(e) => {
            if matches!(e.kind, ToolErrorKind::Failed | ToolErrorKind::InvalidParams) {
                unknown.push(title);
            } else {
                bail!("{}: {}", title, e.message);
            }
        }
    }
}
times.sort_by(|a, b| a.0.cmp(&b.0));
unknown.sort();
json!({
    "times": times.iter().map(|(utc, title)| json!({"title": title, "utc": utc})).collect::<Vec<_>>(),
    "unknown": unknown,
})

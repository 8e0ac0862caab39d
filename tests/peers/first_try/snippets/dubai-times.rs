#[derive(Deserialize, Clone)]
struct Meeting { title: String, time: String, zone: String }
let dir = "/tmp/toolsmith-first-try/shop";
let text = filesystem::read_text_file(format!("{dir}/meetings.json")).await?.content;
let meetings: Vec<Meeting> = serde_json::from_str(&text)?;
let got = concurrently(4, &meetings, |m| async move {
    Ok::<_, ToolError>(time::convert_time(&m.zone, &m.time, "Asia/Dubai").await)
}).await?;
let mut lines: Vec<(String, String)> = vec![];
let mut unknown: BTreeMap<String, String> = BTreeMap::new();
for (m, g) in meetings.iter().zip(got) {
    match g {
        Ok(c) => lines.push((c.target.datetime[11..16].to_string(), m.title.clone())),
        Err(e) => {
            let s = format!("{e:?}");
            if !s.to_lowercase().contains("zone") { anyhow::bail!("{} {} {}: {s}", m.title, m.time, m.zone); }
            unknown.insert(m.zone.clone(), m.title.clone());
        }
    }
}
lines.sort_by(|a, b| a.0.cmp(&b.0));
let csv: String = lines.iter().map(|(t, n)| format!("{n};{t}\n")).collect();
filesystem::write_file(format!("{dir}/dubai.csv"), csv).await?;
unknown

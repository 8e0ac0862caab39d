let shop = "/tmp/toolsmith-first-try/shop";
let meetings: Value = filesystem::read_text_file(format!("{shop}/meetings.json")).await?.content.parse()?;
let (mut lines, mut unknown) = (Vec::new(), BTreeMap::new());
for m in meetings.as_array().context("no array")? {
    let get = |key: &str| m[key].as_str().unwrap_or("").to_string();
    match time::convert_time(get("zone"), get("time"), "Asia/Dubai").await {
        Ok(t) => {
            let at = chrono::DateTime::parse_from_rfc3339(&t.target.datetime)?.format("%H:%M").to_string();
            lines.push((at.clone(), format!("{};{at}\n", get("title"))));
        }
        Err(e) if e.kind == ToolErrorKind::Failed => { unknown.insert(get("zone"), get("title")); }
        Err(e) => return Err(e.into()),
    }
}
lines.sort();
filesystem::write_file(format!("{shop}/dubai.csv"), lines.into_iter().map(|l| l.1).collect::<String>()).await?;
unknown

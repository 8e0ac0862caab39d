fn walk(v: &Value, at: &str, out: &mut Vec<String>) {
    for e in v.as_array().into_iter().flatten() {
        let p = format!("{at}{}", e["name"].as_str().unwrap_or(""));
        if e["type"] == "directory" { walk(&e["children"], &format!("{p}/"), out); }
        else if p.ends_with(".md") { out.push(p); }
    }
}
let base = "/tmp/toolsmith-first-try/shop/notes";
let tree: Value = serde_json::from_str(&filesystem::directory_tree(base).await?.content)?;
let mut files = vec![];
walk(&tree, "", &mut files);
let mut changed = vec![];
for f in files {
    let path = format!("{base}/{f}");
    let t = filesystem::read_text_file(path.clone()).await?.content;
    let new: String = t.split_inclusive('\n').map(|l| match l.strip_prefix("- [ ]") {
        Some(rest) if rest.contains("Clara") || rest.contains("Oslo") => format!("- [x]{rest}"),
        _ => l.to_string(),
    }).collect();
    if new != t {
        filesystem::write_file(path, new).await?;
        changed.push(f);
    }
}
changed.sort();
changed

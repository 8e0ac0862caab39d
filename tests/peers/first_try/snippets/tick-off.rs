const DIR: &str = "/tmp/toolsmith-first-try/shop/notes";
fn walk(v: &Value, prefix: &str, out: &mut Vec<String>) {
    for e in v.as_array().into_iter().flatten() {
        let p = format!("{prefix}{}", e["name"].as_str().unwrap_or(""));
        if e["type"] == "directory" { walk(&e["children"], &format!("{p}/"), out); }
        else if p.ends_with(".md") { out.push(p); }
    }
}
let tree: Value = serde_json::from_str(&filesystem::directory_tree(DIR).await?.content)?;
let mut files = vec![];
walk(&tree, "", &mut files);
let mut changed: Vec<String> = vec![];
for f in &files {
    let path = format!("{DIR}/{f}");
    let text = filesystem::read_text_file(&path).await?.content;
    let new = text.split('\n').map(|l| if l.starts_with("- [ ]") && (l.contains("Clara") || l.contains("Oslo")) {
        format!("- [x]{}", &l[5..])
    } else { l.to_string() }).collect::<Vec<_>>().join("\n");
    if new != text {
        filesystem::write_file(&path, &new).await?;
        changed.push(f.clone());
    }
}
changed.sort();
changed

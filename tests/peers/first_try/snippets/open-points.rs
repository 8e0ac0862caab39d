let root = "/tmp/toolsmith-first-try/shop/notes";
let tree: Value = filesystem::directory_tree(root).await?.content.parse::<Value>()?;
let mut todo: Vec<(String, Value)> = vec![(String::new(), tree)];
let mut paths: Vec<String> = Vec::new();
while let Some((prefix, entries)) = todo.pop() {
    for entry in entries.as_array().into_iter().flatten() {
        let name = entry["name"].as_str().unwrap_or("");
        if entry["type"] == "directory" {
            if name != "drafts" {
                todo.push((format!("{prefix}{name}/"), entry["children"].clone()));
            }
        } else if name.ends_with(".md") {
            paths.push(format!("{prefix}{name}"));
        }
    }
}
let files = concurrently(8, &paths, |p| async move {
    filesystem::read_text_file(format!("{root}/{p}")).await.map(|r| (p.clone(), r.content))
}).await?;
let mut open: BTreeMap<String, Vec<String>> = BTreeMap::new();
let mut done = 0;
for (path, text) in &files {
    for line in text.lines() {
        if let Some(point) = line.strip_prefix("- [ ]") {
            open.entry(path.clone()).or_default().push(point.trim().to_string());
        } else if line.starts_with("- [x]") {
            done += 1;
        }
    }
}
json!({"open": open, "done": done})

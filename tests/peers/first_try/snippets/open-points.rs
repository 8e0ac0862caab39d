fn walk(v: &Value, prefix: &str, out: &mut Vec<String>) {
    for e in v.as_array().into_iter().flatten() {
        let name = e["name"].as_str().unwrap_or_default();
        let path = if prefix.is_empty() { name.to_string() } else { format!("{prefix}/{name}") };
        if e["type"] == "directory" {
            if name != "drafts" { walk(&e["children"], &path, out); }
        } else if name.ends_with(".md") { out.push(path); }
    }
}
let root = "/tmp/toolsmith-first-try/shop/notes";
let tree: Value = serde_json::from_str(&filesystem::directory_tree(root).await?.content)?;
let mut files = vec![];
walk(&tree, "", &mut files);
let texts = concurrently(4, &files, |f| async move { filesystem::read_text_file(format!("{root}/{f}")).await }).await?;
let mut open = std::collections::BTreeMap::<String, Vec<String>>::new();
let mut done = 0;
for (f, t) in files.iter().zip(texts.iter()) {
    for l in t.content.lines() {
        if let Some(r) = l.strip_prefix("- [ ]") { open.entry(f.clone()).or_default().push(r.trim().to_string()); }
        else if l.starts_with("- [x]") { done += 1; }
    }
}
json!({"open": open, "done": done})

let root = "/tmp/toolsmith-first-try/shop/notes";
let found = filesystem::search_files(root, "**/*.md").await?.content;
let paths: Vec<String> = found.lines().map(|l| l.trim().to_string()).filter(|l| l.starts_with(root) && l.ends_with(".md"))
    .filter(|l| !l[root.len()..].split('/').any(|c| c == "drafts")).unique().collect();
let texts = concurrently(8, &paths, |p| async move { filesystem::read_text_file(p.clone()).await }).await?;
let mut open: BTreeMap<String, Vec<String>> = BTreeMap::new();
let mut done = 0;
for (p, t) in paths.iter().zip(&texts) {
    let rel = p[root.len()..].trim_start_matches('/').to_string();
    for l in t.content.lines() {
        if let Some(r) = l.strip_prefix("- [ ]") { open.entry(rel.clone()).or_default().push(r.trim().to_string()); }
        else if l.starts_with("- [x]") { done += 1; }
    }
}
json!({"open": open, "done": done})

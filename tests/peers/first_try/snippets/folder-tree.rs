fn walk(v: &Value, depth: i64, files: &mut std::collections::BTreeMap<String, i64>, folders: &mut i64, deepest: &mut i64) {
    for e in v.as_array().into_iter().flatten() {
        if e["type"] == "directory" {
            *folders += 1;
            walk(&e["children"], depth + 1, files, folders, deepest);
        } else {
            *deepest = (*deepest).max(depth);
            if let Some((_, ext)) = e["name"].as_str().unwrap_or("").rsplit_once('.') {
                *files.entry(ext.to_string()).or_default() += 1;
            }
        }
    }
}
let text = filesystem::directory_tree("/tmp/toolsmith-first-try/shop/notes").await?.content;
let tree: Value = serde_json::from_str(&text)?;
let mut files = std::collections::BTreeMap::new();
let (mut folders, mut deepest) = (0, 0);
walk(&tree, 0, &mut files, &mut folders, &mut deepest);
json!({"files": files, "folders": folders, "deepest": deepest})

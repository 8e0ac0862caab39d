fn walk(v: &Value, depth: usize, files: &mut BTreeMap<String, usize>, folders: &mut usize, deepest: &mut usize) {
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
let t = filesystem::directory_tree("/tmp/toolsmith-first-try/shop/notes").await?.content;
let v: Value = serde_json::from_str(&t)?;
let (mut files, mut folders, mut deepest) = (BTreeMap::new(), 0, 0);
walk(&v, 0, &mut files, &mut folders, &mut deepest);
json!({"files": files, "folders": folders, "deepest": deepest})

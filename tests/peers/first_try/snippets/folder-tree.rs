let root = "/tmp/toolsmith-first-try/shop/notes";
let tree: Value = filesystem::directory_tree(root).await?.content.parse::<Value>()?;
let mut todo: Vec<(usize, Value)> = vec![(0, tree)];
let mut files: BTreeMap<String, usize> = BTreeMap::new();
let (mut folders, mut deepest) = (0usize, 0usize);
while let Some((depth, entries)) = todo.pop() {
    for entry in entries.as_array().into_iter().flatten() {
        if entry["type"] == "directory" {
            folders += 1;
            todo.push((depth + 1, entry["children"].clone()));
        } else {
            deepest = deepest.max(depth);
            let name = entry["name"].as_str().unwrap_or("");
            if let Some((_, ending)) = name.rsplit_once('.') {
                *files.entry(ending.to_string()).or_insert(0) += 1;
            }
        }
    }
}
json!({"files": files, "folders": folders, "deepest": deepest})

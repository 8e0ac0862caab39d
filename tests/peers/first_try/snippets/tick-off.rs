let notes = "/tmp/toolsmith-first-try/shop/notes";
let found = filesystem::search_files(notes, "**/*.md").await?.content;
let mut changed = Vec::new();
for path in found.lines().filter(|l| l.ends_with(".md")) {
    let text = filesystem::read_text_file(path).await?.content;
    let mut edits = Vec::new();
    for line in text.lines().filter(|l| l.starts_with("- [ ]") && (l.contains("Clara") || l.contains("Oslo"))) {
        edits.push(json!({"oldText": line, "newText": line.replacen("- [ ]", "- [x]", 1)}));
    }
    if edits.is_empty() { continue; }
    let edits: Vec<filesystem::EditFileEdit> = edits.into_iter().map(|e| filesystem::EditFileEdit {
        old_text: e["oldText"].as_str().unwrap_or("").to_string(),
        new_text: e["newText"].as_str().unwrap_or("").to_string(),
    }).collect();
    filesystem::edit_file(path, edits).await?;
    changed.push(path.trim_start_matches(notes).trim_start_matches('/').to_string());
}
changed.sort();
changed

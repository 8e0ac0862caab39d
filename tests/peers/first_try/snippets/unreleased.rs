let repo = "/tmp/toolsmith-first-try/repository";
let text = match git::git_diff(repo, "release..main").context_lines(0).await {
    Ok(r) => r.text(),
    Err(_) => git::git_diff(repo, "release").context_lines(0).await?.text(),
};
let head = Regex::new(r"^diff --git a/(.*) b/(.*)$")?;
let hunk = Regex::new(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")?;
let (mut files, mut added, mut removed) = (std::collections::BTreeSet::<String>::new(), 0u64, 0u64);
for l in text.lines() {
    if let Some(c) = head.captures(l) { files.insert(c[2].to_string()); }
    else if let Some(c) = hunk.captures(l) {
        removed += c.get(1).map_or(1, |m| m.as_str().parse().unwrap());
        added += c.get(2).map_or(1, |m| m.as_str().parse().unwrap());
    }
}
json!({"files": files, "added": added, "removed": removed})

let d = git::git_diff("/tmp/toolsmith-first-try/repository", "release").await?.text().to_string();
let mut files: Vec<String> = vec![];
let (mut added, mut removed, mut hunk) = (0, 0, false);
for l in d.lines() {
    if let Some(r) = l.strip_prefix("diff --git ") {
        hunk = false;
        let name = r.rsplit_once(" b/").map(|x| x.1).unwrap_or(r);
        files.push(name.to_string());
    } else if l.starts_with("@@") { hunk = true; }
    else if hunk {
        if l.starts_with('+') { added += 1; } else if l.starts_with('-') { removed += 1; }
    }
}
files.sort();
json!({"files": files, "added": added, "removed": removed})

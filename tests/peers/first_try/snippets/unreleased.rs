let answer = git::git_diff("/tmp/toolsmith-first-try/repository", "release").await?;
let text = answer.text().to_string();
let hunk = regex::Regex::new(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")?;
let mut files: BTreeSet<String> = BTreeSet::new();
let (mut added, mut removed) = (0i64, 0i64);
let (mut old, mut new) = (0i64, 0i64);
for line in text.lines() {
    if old > 0 || new > 0 {
        match line.chars().next() {
            Some('-') => {
                old -= 1;
                removed += 1;
            }
            Some('+') => {
                new -= 1;
                added += 1;
            }
            Some('\\') => {}
            _ => {
                old -= 1;
                new -= 1;
            }
        }
        continue;
    }
    if let Some(c) = hunk.captures(line) {
        old = c.get(1).map_or(Ok(1), |m| m.as_str().parse::<i64>())?;
        new = c.get(2).map_or(Ok(1), |m| m.as_str().parse::<i64>())?;
    } else if line.contains("diff --git ") {
        if let Some(at) = line.rfind(" b/") {
            files.insert(line[at + 3..].to_string());
        }
    }
}
if files.is_empty() {
    bail!("unexpected diff: {}", text.chars().take(600).collect::<String>());
}
json!({"files": files, "added": added, "removed": removed})

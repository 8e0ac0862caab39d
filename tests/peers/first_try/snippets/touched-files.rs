let repo = "/tmp/toolsmith-first-try/repository";
let answer = git::git_log(repo).max_count(1000).await?;
let log = answer.text().to_string();
let commit = regex::Regex::new(r#"(?m)^\s*[Cc]ommit:?\s*['"]?([0-9a-f]{7,64})\b"#)?;
let hashes: Vec<String> = commit.captures_iter(&log).map(|c| c[1].to_string()).collect();
let shown = concurrently(4, &hashes, |h| async move {
    git::git_show(repo, h.as_str()).await.map(|r| r.text().to_string())
}).await?;
let hunk = regex::Regex::new(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")?;
let mut touched: BTreeMap<String, usize> = BTreeMap::new();
for text in &shown {
    let mut files: BTreeSet<String> = BTreeSet::new();
    let (mut old, mut new) = (0i64, 0i64);
    let mut before: Option<String> = None;
    for line in text.lines() {
        if old > 0 || new > 0 {
            match line.chars().next() {
                Some('-') => old -= 1,
                Some('+') => new -= 1,
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
        } else if let Some(path) = line.strip_prefix("--- ") {
            before = Some(path.trim().to_string());
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let gone = |p: &str| p == "None" || p == "/dev/null" || p.is_empty();
            let after = path.trim().to_string();
            let earlier = before.take().unwrap_or_default();
            if !gone(&after) {
                files.insert(after.strip_prefix("b/").unwrap_or(&after).to_string());
            } else if !gone(&earlier) {
                files.insert(earlier.strip_prefix("a/").unwrap_or(&earlier).to_string());
            }
        }
    }
    for file in files {
        *touched.entry(file).or_insert(0) += 1;
    }
}
let mut list: Vec<(String, usize)> = touched.into_iter().filter(|(_, n)| *n >= 3).collect();
list.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
list.iter().map(|(f, n)| json!({"file": f, "commits": n})).collect::<Vec<_>>()

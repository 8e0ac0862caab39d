let repo = "/tmp/toolsmith-first-try/repository";
git::git_checkout(repo, "main").await?;
let log = git::git_log(repo).max_count(1000).await?.text().to_string();
let issue = Regex::new(r"\(#(\d+)\)")?;
let mut numbers: BTreeSet<u64> = BTreeSet::new();
for m in log.split("Message: ").skip(1) {
    let m = m.split("\nCommit: ").next().unwrap_or("");
    let m = m.strip_prefix(['\'', '"']).unwrap_or(m);
    if m.starts_with("fix:") || m.starts_with("fix(") {
        for c in issue.captures_iter(m) { numbers.insert(c[1].parse()?); }
    }
}
for n in &numbers {
    git::git_create_branch(repo, format!("hotfix/{n}")).base_branch("release").await?;
}
let last = numbers.last().ok_or_else(|| anyhow!("no fixes"))?;
git::git_checkout(repo, format!("hotfix/{last}")).await?;
let text = git::git_branch(repo, "local").await?.text().to_string();
let mut branches: Vec<String> = vec![];
let mut current = String::new();
for l in text.lines().filter(|l| !l.trim().is_empty()) {
    let name = l.trim_start_matches(['*', '+', ' ']).trim().to_string();
    if l.trim_start().starts_with('*') { current = name.clone(); }
    branches.push(name);
}
branches.sort();
json!({"branches": branches, "current": current})

let repo = "/tmp/toolsmith-first-try/repository";
let text = git::git_log(repo).max_count(1000).await?.text();
let fix = Regex::new(r"(?m)^Message:\s*'?fix: .*\(#(\d+)\)")?;
let mut numbers: Vec<u32> = fix.captures_iter(&text).filter_map(|c| c[1].parse().ok()).collect();
numbers.sort();
for n in &numbers {
    git::GitCreateBranchInput { repo_path: repo.to_string(), branch_name: format!("hotfix/{n}"), base_branch: Some("release".to_string()) }.call().await?;
}
git::git_checkout(repo, format!("hotfix/{}", numbers.last().context("none")?)).await?;
let text = git::git_branch(repo, "local").await?.text();
let mut branches: Vec<String> = text.lines().map(|l| l.trim_start_matches('*').trim().to_string()).filter(|l| !l.is_empty()).collect();
branches.sort();
let current = text.lines().find_map(|l| l.trim().strip_prefix('*')).map(|l| l.trim().to_string());
json!({"branches": branches, "current": current})

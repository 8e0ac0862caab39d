let repo = "/tmp/toolsmith-first-try/repository";
async fn log(repo: &str) -> Result<Vec<(String, String)>> {
    let text = git::git_log(repo).max_count(1000).await?.text();
    let hash = Regex::new(r"(?m)^Commit: \W*(\w+)")?;
    let message = Regex::new(r"(?m)^Message:\s*(.*)$")?;
    let hashes = hash.captures_iter(&text).map(|c| c[1].to_string());
    let messages = message.captures_iter(&text).map(|c| c[1].trim_matches(['\'', '"']).to_string());
    Ok(hashes.zip(messages).collect())
}
let all = log(repo).await?;
git::git_checkout(repo, "release").await?;
let released: BTreeSet<String> = log(repo).await?.into_iter().map(|c| c.0).collect();
git::git_checkout(repo, "main").await?;
let mut new: Vec<String> = all.into_iter().filter(|c| !released.contains(&c.0)).map(|c| c.1).collect();
new.reverse();
let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
let mut parts: BTreeMap<&str, String> = BTreeMap::new();
for message in &new {
    let (kind, rest) = message.split_once(": ").with_context(|| message.clone())?;
    *kinds.entry(kind.to_string()).or_default() += 1;
    *parts.entry(kind).or_default() += &format!("- {rest}\n");
}
let part = |kind: &str| parts.get(kind).cloned().unwrap_or_default();
let text = format!("# Next release\n\n## New\n\n{}\n## Fixed\n\n{}", part("feat"), part("fix"));
filesystem::write_file("/tmp/toolsmith-first-try/shop/release.md", text).await?;
kinds

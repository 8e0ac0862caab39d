let answer = git::git_log("/tmp/toolsmith-first-try/repository").max_count(1000).await?;
let log = answer.text().to_string();
let message = regex::Regex::new(r#"(?m)^\s*Message:\s*['"]?([A-Za-z]+)(?:\([^)]*\))?!?:"#)?;
let author = regex::Regex::new(r"(?m)^\s*Author:[ \t]*(.+)$")?;
let issue = regex::Regex::new(r"\(#(\d+)\)")?;
let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
for c in message.captures_iter(&log) {
    *kinds.entry(c[1].to_string()).or_insert(0) += 1;
}
let mut authors: BTreeMap<String, usize> = BTreeMap::new();
for c in author.captures_iter(&log) {
    // <git.Actor "Name <mail>">, or the plain name, with the mail or without
    let whole = c[1].trim();
    let inner = whole.strip_prefix("<git.Actor ").unwrap_or(whole);
    let name = inner.split(" <").next().unwrap_or(inner);
    let name = name.trim_matches(|q: char| q == '"' || q == '\'' || q == '>').trim();
    *authors.entry(name.to_string()).or_insert(0) += 1;
}
let mut issues: BTreeSet<u64> = BTreeSet::new();
for c in issue.captures_iter(&log) {
    issues.insert(c[1].parse::<u64>()?);
}
if kinds.is_empty() || authors.is_empty() {
    bail!("unexpected log: {}", log.chars().take(600).collect::<String>());
}
json!({"kinds": kinds, "authors": authors, "issues": issues})

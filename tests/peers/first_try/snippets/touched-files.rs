let repo = "/tmp/toolsmith-first-try/repository";
let log = git::git_log(repo).max_count(500).await?.text().to_string();
let re = Regex::new(r"(?m)^\s*Commit: '?\W*([0-9a-f]{40})")?;
let shas: Vec<String> = re.captures_iter(&log).map(|c| c[1].to_string()).collect();
let shows = concurrently(8, shas.clone(), |s| async move { git::git_show("/tmp/toolsmith-first-try/repository", s).await }).await?;
let mut count: HashMap<String, usize> = HashMap::new();
for s in &shows {
    let text = s.text().to_string();
    let lines: Vec<&str> = text.lines().collect();
    let mut files: BTreeSet<String> = BTreeSet::new();
    for w in lines.windows(2) {
        if let (Some(a), Some(b)) = (w[0].strip_prefix("--- "), w[1].strip_prefix("+++ ")) {
            let none = |p: &str| p == "/dev/null" || p == "None";
            let (a2, b2) = if (a.starts_with("a/") || none(a)) && (b.starts_with("b/") || none(b)) {
                (a.strip_prefix("a/").unwrap_or(a), b.strip_prefix("b/").unwrap_or(b))
            } else { (a, b) };
            files.insert(if none(b2) { a2 } else { b2 }.trim().to_string());
        }
    }
    for f in files { *count.entry(f).or_default() += 1; }
}
println!("{} commits", shas.len());
let mut v: Vec<(String, usize)> = count.into_iter().filter(|(_, n)| *n >= 3).collect();
v.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
v.iter().map(|(f, n)| json!({"file": f, "commits": n})).collect::<Vec<_>>()

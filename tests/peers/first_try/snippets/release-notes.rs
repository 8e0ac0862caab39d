struct Com { sha: String, author: String, date: String, msg: String }
fn parse_log(t: &str) -> Vec<Com> {
    let mut v: Vec<Com> = vec![];
    let mut in_msg = false;
    for l in t.lines() {
        let tl = l.trim();
        if let Some(r) = tl.strip_prefix("Commit:") {
            in_msg = false;
            v.push(Com { sha: r.trim().trim_matches(|c| c == '\'' || c == '"').to_string(), author: String::new(), date: String::new(), msg: String::new() });
        } else if let Some(c) = v.last_mut() {
            if in_msg { c.msg.push('\n'); c.msg.push_str(l); continue; }
            if let Some(r) = tl.strip_prefix("Author:") {
                let mut a = r.trim();
                if let Some(i) = a.find("Actor \"") { a = &a[i + 7..]; }
                let a = a.split(" <").next().unwrap_or("").trim_matches(|c| c == '\'' || c == '"' || c == '>').trim();
                c.author = a.to_string();
            } else if let Some(r) = tl.strip_prefix("Date:") { c.date = r.trim().to_string(); }
            else if let Some(r) = tl.strip_prefix("Message:") {
                let r = r.trim();
                let q = r.chars().next().unwrap_or(' ');
                if (q == '\'' || q == '"') && r.len() > 1 && r.ends_with(q) {
                    let inner = &r[1..r.len() - 1];
                    let mut s = String::new();
                    let mut it = inner.chars();
                    while let Some(ch) = it.next() {
                        if ch == '\\' { match it.next() { Some('n') => s.push('\n'), Some('t') => s.push('\t'), Some(o) => s.push(o), None => {} } } else { s.push(ch); }
                    }
                    c.msg = s;
                } else { c.msg = r.to_string(); in_msg = true; }
            }
        }
    }
    for c in v.iter_mut() { c.msg = c.msg.trim().to_string(); }
    v
}
let repo = "/tmp/toolsmith-first-try/repository";
let text = git::git_log(repo).max_count(1000).await?.text().to_string();
println!("{}", text.chars().take(500).collect::<String>());
let commits = parse_log(&text);
let shas: Vec<String> = commits.iter().map(|c| c.sha.clone()).collect();
let br = concurrently(6, &shas, |s| async move { git::GitBranchInput { repo_path: repo.to_string(), branch_type: "local".to_string(), contains: Some(s.to_string()), not_contains: None }.call().await }).await?;
println!("{}", br[0].text());
let (mut new, mut fixed) = (vec![], vec![]);
let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
for (c, b) in commits.iter().zip(&br).rev() {
    let has = |n: &str| b.text().lines().any(|l| l.trim_start_matches(|c: char| c == '*' || c.is_whitespace()).trim() == n);
    if has("release") || !has("main") { continue; }
    let first = c.msg.lines().next().unwrap_or("").trim();
    let Some((k, m)) = first.split_once(": ") else { continue };
    *kinds.entry(k.to_string()).or_default() += 1;
    if k == "feat" { new.push(format!("- {m}\n")); } else if k == "fix" { fixed.push(format!("- {m}\n")); }
}
filesystem::write_file("/tmp/toolsmith-first-try/shop/release.md", format!("# Next release\n\n## New\n\n{}\n## Fixed\n\n{}", new.concat(), fixed.concat())).await?;
kinds

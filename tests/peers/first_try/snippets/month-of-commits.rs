let month = args.get("month").context("month")?.to_string();
let text = git::git_log("/tmp/toolsmith-first-try/repository").max_count(1000).await?.text();
let author = Regex::new(r"^Author: \W*([A-Za-z ]+\w)")?;
let date = Regex::new(r"^Date: .*?(\d{4}-\d\d-\d\d)")?;
let (mut who, mut first, mut authors) = (String::new(), None::<String>, BTreeMap::new());
for line in text.lines() {
    if let Some(c) = author.captures(line) { who = c[1].trim().to_string(); }
    if let Some(c) = date.captures(line) {
        let day = c[1].to_string();
        if !day.starts_with(&month) { continue; }
        *authors.entry(who.clone()).or_insert(0) += 1;
        if first.as_ref().is_none_or(|f| day < *f) { first = Some(day); }
    }
}
json!({"month": month, "first": first, "authors": authors})

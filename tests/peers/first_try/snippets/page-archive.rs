let ns: Vec<i64> = (1..=12).collect();
let pages = concurrently(3, &ns, |n| async move { Ok::<_, ToolError>(fetch::fetch(format!("http://127.71.7.1:8737/items/{n}")).await) }).await?;
let (pr, st) = (Regex::new(r"(?m)^price:\s*(.*?)\s*$")?, Regex::new(r"(?m)^stock:\s*(.*?)\s*$")?);
let (mut missing, mut csv, mut written) = (vec![], String::new(), 0);
for (n, p) in ns.iter().zip(pages) {
    let t = p.map(|r| r.text().to_string()).unwrap_or_default();
    match (pr.captures(&t), st.captures(&t)) {
        (Some(a), Some(b)) => { written += 1; csv += &format!("{n};{};{}\n", &a[1], &b[1]); }
        _ => { missing.push(*n); csv += &format!("{n};missing\n"); }
    }
}
filesystem::write_file("/tmp/toolsmith-first-try/shop/items.csv", csv).await?;
json!({"written": written, "missing": missing})

fn fields(line: &str) -> Vec<String> {
    let (mut out, mut cur, mut quoted) = (vec![], String::new(), false);
    let mut it = line.chars().peekable();
    while let Some(c) = it.next() {
        match c {
            '"' if quoted && it.peek() == Some(&'"') => { cur.push('"'); it.next(); }
            '"' => quoted = !quoted,
            ',' if !quoted => out.push(std::mem::take(&mut cur)),
            c => cur.push(c),
        }
    }
    out.push(cur);
    out.into_iter().map(|s| s.trim().to_string()).collect()
}
let text = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/customers.csv").await?.content;
let mut lines = text.trim_start_matches('\u{feff}').lines().filter(|l| !l.trim().is_empty());
let head = fields(lines.next().unwrap_or_default());
let col = |n: &str| head.iter().position(|h| h == n).ok_or_else(|| anyhow::anyhow!("no column {n}"));
let (name, city) = (col("name")?, col("city")?);
let mut cities = std::collections::BTreeMap::<String, Vec<String>>::new();
for l in lines {
    let f = fields(l);
    cities.entry(f[city].clone()).or_default().push(f[name].clone());
}
let dir = "/tmp/toolsmith-first-try/shop/cities";
filesystem::create_directory(dir).await?;
for (c, names) in &mut cities {
    names.sort();
    filesystem::write_file(format!("{dir}/{c}.txt"), format!("{}\n{}\n", names.len(), names.join("\n"))).await?;
}
let mut out: Vec<String> = filesystem::list_directory(dir).await?.content.lines()
    .filter_map(|l| l.trim().strip_prefix("[FILE]").map(|n| n.trim().to_string())).collect();
out.sort();
out

let t = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/customers.csv").await?.content;
fn row(l: &str) -> Vec<String> {
    let (mut v, mut cur, mut q) = (vec![], String::new(), false);
    for c in l.chars() { match c { '"' => q = !q, ',' if !q => v.push(std::mem::take(&mut cur)), c => cur.push(c) } }
    v.push(cur);
    v.into_iter().map(|s| s.trim().to_string()).collect()
}
let mut lines = t.lines().filter(|l| !l.trim().is_empty());
let head = row(lines.next().unwrap_or(""));
let (ni, ci) = (head.iter().position(|h| h == "name").unwrap(), head.iter().position(|h| h == "city").unwrap());
let mut cities: BTreeMap<String, Vec<String>> = BTreeMap::new();
for l in lines { let r = row(l); cities.entry(r[ci].clone()).or_default().push(r[ni].clone()); }
let dir = "/tmp/toolsmith-first-try/shop/cities";
filesystem::create_directory(dir).await?;
for (c, v) in cities.iter_mut() {
    v.sort();
    filesystem::write_file(format!("{dir}/{c}.txt"), format!("{}\n{}\n", v.len(), v.join("\n"))).await?;
}
filesystem::list_directory(dir).await?.content.lines().filter_map(|x| x.strip_prefix("[FILE] ")).map(|s| s.trim().to_string()).sorted().collect::<Vec<_>>()

const ROOT: &str = "/tmp/toolsmith-first-try/shop";
let list = filesystem::read_text_file(format!("{ROOT}/wanted.txt")).await?.content;
let names: Vec<&str> = list.lines().map(|l| l.trim()).filter(|l| !l.is_empty()).collect();
let results = concurrently(8, names.clone(), |n| async move { Ok(filesystem::read_text_file(format!("{ROOT}/{n}")).await) }).await?;
let (mut read, mut bytes, mut missing) = (0, 0, vec![]);
for (n, r) in names.iter().zip(results) {
    match r {
        Ok(o) => { read += 1; bytes += o.content.len(); }
        Err(_) => missing.push(n.to_string()),
    }
}
json!({"read": read, "bytes": bytes, "missing": missing})

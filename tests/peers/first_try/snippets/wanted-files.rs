let list = filesystem::read_text_file("/tmp/toolsmith-first-try/shop/wanted.txt").await?.content;
let names: Vec<String> = list.lines().map(|l| l.trim().to_string()).filter(|l| !l.is_empty()).collect();
let res = concurrently(8, names.clone(), |n| async move { Ok::<_, ToolError>(filesystem::read_text_file(format!("/tmp/toolsmith-first-try/shop/{n}")).await) }).await?;
let mut read = 0;
let mut bytes = 0;
let mut missing: Vec<String> = vec![];
for (n, r) in names.iter().zip(&res) {
    match r {
        Ok(t) => { read += 1; bytes += t.content.len(); }
        Err(_) => missing.push(n.clone()),
    }
}
json!({"read": read, "bytes": bytes, "missing": missing})

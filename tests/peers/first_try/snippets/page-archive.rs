let numbers: Vec<u32> = (1..=12).collect();
let pages = concurrently(3, &numbers, |n| async move {
    Ok::<_, anyhow::Error>((*n, fetch::fetch(format!("http://127.71.7.1:8737/items/{n}")).await))
}).await?;
let (mut csv, mut written, mut missing) = (String::new(), 0, Vec::new());
let price = Regex::new(r"price: (\S+)")?;
let stock = Regex::new(r"stock: (\S+)")?;
for (n, page) in pages {
    match page {
        Ok(page) => {
            let text = page.text();
            let p = price.captures(&text).context("no price")?[1].to_string();
            let s = stock.captures(&text).context("no stock")?[1].to_string();
            csv += &format!("{n};{p};{s}\n");
            written += 1;
        }
        Err(e) if e.kind == ToolErrorKind::Failed => {
            csv += &format!("{n};missing\n");
            missing.push(n);
        }
        Err(e) => return Err(e.into()),
    }
}
filesystem::write_file("/tmp/toolsmith-first-try/shop/items.csv", csv).await?;
json!({"written": written, "missing": missing})

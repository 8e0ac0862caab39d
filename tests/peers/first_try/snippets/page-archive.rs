let num = |t: &str, key: &str| -> Option<String> {
    Regex::new(&format!(r"\b{key}:\s*(-?\d+(?:\.\d+)?)")).unwrap().captures(t).map(|c| c[1].to_string())
};
let numbers: Vec<u32> = (1..=12).collect();
let pages = concurrently(3, &numbers, |n| async move {
    Ok::<_, ToolError>(fetch::fetch(format!("http://127.71.7.1:8737/items/{n}")).await.map(|r| r.text()))
}).await?;
let (mut missing, mut written, mut csv) = (vec![], 0, String::new());
for (n, p) in numbers.iter().zip(pages.iter()) {
    match p {
        Ok(t) => {
            let price = num(t, "price").ok_or_else(|| anyhow::anyhow!("no price: {t}"))?;
            let stock = num(t, "stock").ok_or_else(|| anyhow::anyhow!("no stock: {t}"))?;
            csv.push_str(&format!("{n};{price};{stock}\n"));
            written += 1;
        }
        Err(_) => { missing.push(*n); csv.push_str(&format!("{n};missing\n")); }
    }
}
filesystem::write_file("/tmp/toolsmith-first-try/shop/items.csv", csv).await?;
json!({"written": written, "missing": missing})

let num = |t: &str, key: &str| -> Option<String> {
    Regex::new(&format!(r"\b{key}:\s*(-?\d+(?:\.\d+)?)")).unwrap().captures(t).map(|c| c[1].to_string())
};
let numbers: Vec<u32> = (1..=12).collect();
let pages = concurrently(4, &numbers, |n| async move {
    Ok::<_, ToolError>(fetch::fetch(format!("http://127.71.7.1:8737/items/{n}")).await.map(|r| r.text()))
}).await?;
let (mut missing, mut sold_out, mut value) = (vec![], vec![], 0.0f64);
for (n, p) in numbers.iter().zip(pages.iter()) {
    match p {
        Ok(t) => {
            let price: f64 = num(t, "price").ok_or_else(|| anyhow::anyhow!("no price: {t}"))?.parse()?;
            let stock: f64 = num(t, "stock").ok_or_else(|| anyhow::anyhow!("no stock: {t}"))?.parse()?;
            value += price * stock;
            if stock == 0.0 { sold_out.push(*n); }
        }
        Err(_) => missing.push(*n),
    }
}
json!({"missing": missing, "value": (value * 100.0).round() / 100.0, "sold_out": sold_out})

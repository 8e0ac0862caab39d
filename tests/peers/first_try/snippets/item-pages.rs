let numbers: Vec<i64> = (1..=12).collect();
let pages = concurrently(4, &numbers, |n| async move {
    let url = format!("http://127.71.7.1:8737/items/{}", n);
    let page = match fetch::fetch(url).raw(true).await {
        Ok(r) => Ok(Some(r.text().to_string())),
        Err(e) => {
            if matches!(e.kind, ToolErrorKind::Denied | ToolErrorKind::Unavailable) {
                Err(e)
            } else {
                Ok(None)
            }
        }
    };
    page
}).await?;
let price = regex::Regex::new(r"(?i)price:[^\d\n]*(\d+(?:\.\d+)?)")?;
let stock = regex::Regex::new(r"(?i)stock:[^\d\n]*(\d+)")?;
let mut missing: Vec<i64> = Vec::new();
let mut sold_out: Vec<i64> = Vec::new();
let mut value = 0.0f64;
for (n, page) in numbers.iter().zip(pages.iter()) {
    match page {
        None => missing.push(*n),
        Some(text) => {
            let (p, s) = match (price.captures(text), stock.captures(text)) {
                (Some(p), Some(s)) => (p[1].parse::<f64>()?, s[1].parse::<i64>()?),
                _ => bail!("item {}: {}", n, text),
            };
            value += p * s as f64;
            if s == 0 {
                sold_out.push(*n);
            }
        }
    }
}
json!({
    "missing": missing,
    "value": (value * 100.0).round() / 100.0,
    "sold_out": sold_out,
})

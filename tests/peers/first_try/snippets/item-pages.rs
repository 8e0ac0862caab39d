let ns: Vec<i64> = (1..=12).collect();
let pages = concurrently(4, &ns, |n| async move { Ok::<_, ToolError>(fetch::fetch(format!("http://127.71.7.1:8737/items/{n}")).await) }).await?;
let (pr, st) = (Regex::new(r"price:\s*(-?[\d.]*\d)")?, Regex::new(r"stock:\s*(-?\d+)")?);
let (mut missing, mut sold, mut value) = (vec![], vec![], 0.0);
for (n, p) in ns.iter().zip(pages) {
    match p {
        Err(e) => { println!("{n}: {}", e.message); missing.push(*n); }
        Ok(r) => {
            let t = r.text().to_string();
            if *n == 1 { println!("{t}"); }
            match (pr.captures(&t), st.captures(&t)) {
                (Some(a), Some(b)) => {
                    let s: i64 = b[1].parse()?;
                    value += a[1].parse::<f64>()? * s as f64;
                    if s == 0 { sold.push(*n); }
                }
                _ => { println!("{t}"); missing.push(*n); }
            }
        }
    }
}
json!({"missing": missing, "value": (value * 100.0).round() / 100.0, "sold_out": sold})

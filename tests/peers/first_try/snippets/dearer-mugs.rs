let shop = "/tmp/toolsmith-first-try/shop";
let products: Value = filesystem::read_text_file(format!("{shop}/products.json")).await?.content.parse()?;
let mut mugs: Vec<(String, f64)> = products.as_array().context("no array")?.iter()
    .filter(|p| p["name"].as_str().is_some_and(|n| n.starts_with("Mug")))
    .filter_map(|p| Some((p["id"].as_str()?.to_string(), (p["price"].as_f64()? * 112.0).round() / 100.0))).collect();
mugs.sort_by(|a, b| a.0.cmp(&b.0));
let mut text = "id,price\n".to_string();
for (id, price) in &mugs { text += &format!("{id},{price:.2}\n"); }
filesystem::write_file(format!("{shop}/prices.csv"), text).await?;
mugs.iter().map(|m| m.1).fold(0.0, f64::max)

let base = "/tmp/toolsmith-first-try/shop";
let mut products: Vec<Value> = serde_json::from_str(&filesystem::read_text_file(format!("{base}/products.json")).await?.content)?;
products.sort_by_key(|p| (p["id"].as_i64().unwrap_or(0), p["id"].to_string()));
let low: Vec<String> = products.iter().filter(|p| p["stock"].as_f64().is_some_and(|s| s < 5.0))
    .map(|p| format!("- {}: {}\n", p["name"].as_str().unwrap_or(""), p["stock"])).collect();
filesystem::create_directory(format!("{base}/reports")).await?;
let path = format!("{base}/reports/stock.md");
filesystem::write_file(path.clone(), format!("# Low stock\n\n{}", low.concat())).await?;
filesystem::edit_file(path.clone(), vec![filesystem::EditFileEdit { old_text: "# Low stock\n".into(), new_text: format!("# Low stock ({})\n", low.len()) }]).await?;
let t = filesystem::read_text_file(path).await?.content;
t.lines().map(String::from).collect::<Vec<_>>()

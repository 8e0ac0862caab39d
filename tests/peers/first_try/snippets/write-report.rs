const ROOT: &str = "/tmp/toolsmith-first-try/shop";
let products: Vec<Value> = serde_json::from_str(&filesystem::read_text_file(format!("{ROOT}/products.json")).await?.content)?;
let mut low: Vec<&Value> = products.iter().filter(|p| p["stock"].as_f64().map_or(false, |s| s < 5.0)).collect();
low.sort_by(|a, b| match (a["id"].as_f64(), b["id"].as_f64()) {
    (Some(x), Some(y)) => x.total_cmp(&y),
    _ => a["id"].as_str().cmp(&b["id"].as_str()),
});
let path = format!("{ROOT}/reports/stock.md");
filesystem::create_directory(format!("{ROOT}/reports")).await?;
let mut text = "# Low stock\n\n".to_string();
for p in &low {
    text += &format!("- {}: {}\n", p["name"].as_str().unwrap_or(""), p["stock"]);
}
filesystem::write_file(&path, &text).await?;
filesystem::edit_file(&path, vec![filesystem::EditFileEdit { old_text: "# Low stock".into(), new_text: format!("# Low stock ({})", low.len()) }]).await?;
let after = filesystem::read_text_file(&path).await?.content;
after.lines().map(|l| l.to_string()).collect::<Vec<_>>()

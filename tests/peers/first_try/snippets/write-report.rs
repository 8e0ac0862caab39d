let root = "/tmp/toolsmith-first-try/shop";
let data: Value = filesystem::read_text_file(format!("{root}/products.json")).await?.content.parse::<Value>()?;
let products: Vec<Value> = if let Some(list) = data.as_array() {
    list.clone()
} else if let Some(list) = data["products"].as_array() {
    list.clone()
} else {
    bail!("products.json is no list, but begins {}", data.to_string().chars().take(300).collect::<String>());
};
let mut low: Vec<Value> = Vec::new();
for product in products {
    let stock = product["stock"].as_f64().with_context(|| format!("no stock: {product}"))?;
    if stock < 5.0 {
        low.push(product);
    }
}
low.sort_by(|a, b| match (a["id"].as_f64(), b["id"].as_f64()) {
    (Some(x), Some(y)) => x.total_cmp(&y),
    _ => a["id"].as_str().cmp(&b["id"].as_str()),
});
let mut text = String::from("# Low stock\n\n");
for product in &low {
    let name = product["name"].as_str().with_context(|| format!("no name: {product}"))?;
    text.push_str(&format!("- {}: {}\n", name, product["stock"]));
}
let path = format!("{root}/reports/stock.md");
filesystem::create_directory(format!("{root}/reports")).await?;
filesystem::write_file(path.as_str(), text.as_str()).await?;
let edits = vec![filesystem::EditFileEdit {
    old_text: "# Low stock".to_string(),
    new_text: format!("# Low stock ({})", low.len()),
}];
filesystem::edit_file(path.as_str(), edits).await?;
let now = filesystem::read_text_file(path.as_str()).await?.content;
now.lines().map(|l| l.to_string()).collect::<Vec<String>>()

let orders = "/tmp/toolsmith-first-try/shop/orders";
let listing = filesystem::list_directory(orders).await?.content;
let names: Vec<String> = listing.lines().filter_map(|l| l.strip_prefix("[FILE] ")).map(|n| n.trim().to_string()).collect();
let mut broken = Vec::new();
for name in &names {
    let text = filesystem::read_text_file(format!("{orders}/{name}")).await?.content;
    if text.parse::<Value>().is_err() { broken.push(name.clone()); }
}
broken.sort();
filesystem::create_directory(format!("{orders}/broken")).await?;
for name in &broken {
    filesystem::move_file(format!("{orders}/{name}"), format!("{orders}/broken/{name}")).await?;
}
filesystem::write_file(format!("{orders}/broken/list.txt"), broken.join("\n") + "\n").await?;
let left = filesystem::list_directory(orders).await?.content.lines().filter(|l| l.starts_with("[FILE] ")).count();
json!({"moved": broken, "left": left})

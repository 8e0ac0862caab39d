// Searches with arguments from the command line, and writes a note for each product that is out of stock.
//
//   toolsmith run --arg query=lamp --arg max=50 examples/restock.rs

let query = args.get("query").unwrap_or("");
let max: Option<f64> = args.get("max").map(str::parse).transpose().context("`max` is a price, such as 50")?;

// An optional argument takes a value or an `Option` of one.
let found = demo::search_products(query).max_price_cents(max.map(|price| (price * 100.0) as i64)).await?;

let sold_out: Vec<_> = found.products.iter().filter(|product| !product.in_stock).collect();
for (done, product) in sold_out.iter().enumerate() {
    progress(done, sold_out.len(), &product.name);
    let note = demo::create_note("restock", &product.sku).tags(["stock", "shop"]).await?;
    println!("note {}: {} ({})", note.id, product.name, product.sku);
}
json!({ "found": found.products.len(), "sold_out": sold_out.len() })

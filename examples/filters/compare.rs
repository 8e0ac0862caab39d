// Calls the same tool of two servers at the same time, and compares the answers.

let (north, south) = tokio::try_join!(
    async { north::search_products("lamp").await },
    async { south::search_products("lamp").await },
)?;
json!({ "north": north.products.len(), "south": south.products.len() })
